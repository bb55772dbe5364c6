import { stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import type { Locator, Page } from 'playwright-core';
import { phone } from '../support/browser.js';
import { absent, eventually, eventuallyMatches, gone } from '../support/expect.js';
import {
	nameIn,
	namesOf,
	overlaysClosed,
	rowOf,
	setUpFixture,
	treeOf,
	withKeptPages,
	writeFiles,
} from '../support/fileManager.js';

const fixture = withKeptPages(setUpFixture(test));

const kilobyte = 1024;
const day = 24 * 3_600_000;

/** Files of several kinds and sizes, one changed each day from January 1st, 2026, at noon. */
const files = {
	'Report.txt': 'x'.repeat(10),
	'archive/report.zip': 'x'.repeat(3 * kilobyte),
	'photos/report cover.jpg': 'x'.repeat(2 * kilobyte),
	'photos/summer.png': 'x'.repeat(kilobyte),
	'work/final report.pdf': 'x'.repeat(5 * kilobyte),
	'work/plan.txt': '',
};

const noonOf = (index: number) => new Date(2026, 0, 1 + index, 12).getTime();

async function writeSamples(folder: string): Promise<void> {
	await writeFiles(folder, files);
	for (const [index, name] of Object.keys(files).entries()) {
		const seconds = noonOf(index) / 1000;
		await utimes(path.join(folder, name), seconds, seconds);
	}
}

/** The names of the files of the disk, without folders, whose stat passes. */
async function namesOnDisk(folder: string, passes: (file: { name: string; size: number; mtime: number }) => boolean) {
	const found: string[] = [];
	for (const file of await treeOf(folder)) {
		if (file.endsWith('/')) continue;
		const { size, mtimeMs: mtime } = await stat(path.join(folder, file));
		if (passes({ name: path.basename(file), size, mtime })) found.push(path.basename(file));
	}
	return found.sort();
}

const searchBox = (page: Page) => page.getByRole('searchbox', { name: 'Search' });
const hits = (page: Page) => page.getByRole('listbox', { name: 'Hits' }).getByRole('option');
/** The lines of each hit: its name and its folder. */
const hitTexts = (page: Page, shown = hits(page)) =>
	shown.evaluateAll((options) =>
		options.map((option) => [...(option.lastElementChild?.children ?? [])].map((line) => line.textContent).join('\n')),
	);
const filtersButton = (page: Page) => page.getByRole('button', { name: 'Filters', exact: true });
const tags = (page: Page) => page.getByRole('list', { name: 'Limited to' }).getByRole('listitem');
const removeButton = (page: Page, filter: string) =>
	page.getByRole('button', { name: `Remove filter ${filter}`, exact: true });
const focused = (locator: Locator, page: Page) => locator.and(page.locator(':focus'));

async function openFilters(page: Page): Promise<Locator> {
	await filtersButton(page).click();
	const dialog = page.getByRole('dialog', { name: 'Filters' });
	await dialog.locator(':focus').waitFor();
	return dialog;
}

const sortedNames = async (page: Page) => (await namesOf(page)).sort();

test.serial('filters find what the disk has, and Back, Forward and a reload keep them', async (t) => {
	const app = await fixture.enter(t);
	await writeSamples(app.home);
	const page = await app.open('/browser?type=private');
	const dialog = await openFilters(page);
	await dialog.getByRole('checkbox', { name: 'Image' }).check();
	await dialog.getByRole('checkbox', { name: 'Document' }).check();
	await dialog.getByLabel('Larger than').fill('2');
	await dialog.getByLabel('Unit of the smallest size').selectOption('KB');
	await dialog.getByLabel('Smaller than').fill('4.5 kb');
	await dialog.getByRole('button', { name: 'Apply' }).click();
	const sized = '**/browser?type=private&kind=image,document&minSize=2048&maxSize=4608';
	await page.waitForURL(sized);
	const bySize = await namesOnDisk(
		app.home,
		({ name, size }) => /\.(jpg|png|pdf)$/.test(name) && size >= 2048 && size <= 4608,
	);
	t.deepEqual(bySize, ['report cover.jpg']);
	await eventually(t, () => sortedNames(page), bySize);
	await page.getByRole('row', { name: /^report cover\.jpg,.* in photos/ }).waitFor();
	await page.getByText('1 Result', { exact: true }).waitFor();
	await overlaysClosed(page);
	await focused(filtersButton(page), page).waitFor();

	// What was applied is in the fields, and the days are those of the browser's time zone, both included.
	await openFilters(page);
	await eventually(t, () => dialog.getByRole('checkbox', { name: 'Image' }).isChecked(), true);
	await eventually(t, () => dialog.getByLabel('Smaller than').inputValue(), '4.5');
	await dialog.getByRole('checkbox', { name: 'Image' }).uncheck();
	await dialog.getByRole('checkbox', { name: 'Document' }).uncheck();
	await dialog.getByLabel('Larger than').fill('');
	await dialog.getByLabel('Smaller than').fill('');
	await dialog.getByLabel('Changed after').fill('2026-01-02');
	await dialog.getByLabel('Changed before').fill('2026-01-04');
	await page.keyboard.press('Enter');
	const dated = `**/browser?type=private&after=${noonOf(1) - day / 2}&before=${noonOf(3) + day / 2 - 1}`;
	await page.waitForURL(dated);
	const byDay = await namesOnDisk(app.home, ({ mtime }) => mtime >= noonOf(1) && mtime <= noonOf(3));
	t.deepEqual(byDay, ['report cover.jpg', 'report.zip', 'summer.png']);
	await eventually(t, () => sortedNames(page), byDay);
	await overlaysClosed(page);
	await focused(filtersButton(page), page).waitFor();

	// With a term as well.
	await searchBox(page).fill('report');
	await page.keyboard.press('Enter');
	await eventually(t, () => sortedNames(page), ['report cover.jpg', 'report.zip']);
	await eventually(t, () => tags(page).allTextContents(), ['Changed after Jan 2, 2026', 'Changed before Jan 4, 2026']);
	await page.goBack();
	await page.goBack();
	await page.waitForURL(sized);
	await eventually(t, () => sortedNames(page), bySize);
	await page.goForward();
	await page.waitForURL(dated);
	await eventually(t, () => sortedNames(page), byDay);
	await page.reload();
	await eventually(t, () => sortedNames(page), byDay);
	await eventually(t, () => tags(page).count(), 2);
	// A folder that is opened ends the search.
	await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText('Home').click();
	await rowOf(page, 'photos').waitFor();
	await gone(t, tags(page));
	t.deepEqual(app.faults, []);
});

test.serial('a day of a filter is one of the time zone in which the browser is', async (t) => {
	const app = await fixture.enter(t);
	const midnight = Date.parse('2026-03-09T11:00:00.000Z');
	await writeFiles(app.home, { 'before.txt': '', 'first.txt': '', 'last.txt': '', 'after.txt': '' });
	const times = { 'before.txt': midnight - 1000, 'first.txt': midnight, 'last.txt': midnight + day - 1000 };
	for (const [name, time] of Object.entries({ ...times, 'after.txt': midnight + day })) {
		await utimes(path.join(app.home, name), time / 1000, time / 1000);
	}
	const page = await app.open('/browser?type=private');
	const session = await page.context().newCDPSession(page);
	await session.send('Emulation.setTimezoneOverride', { timezoneId: 'Pacific/Auckland' });
	await page.reload();
	const dialog = await openFilters(page);
	await dialog.getByLabel('Changed after').fill('2026-03-10');
	await dialog.getByLabel('Changed before').fill('2026-03-10');
	await dialog.getByRole('button', { name: 'Apply' }).click();
	await page.waitForURL(`**/browser?type=private&after=${midnight}&before=${midnight + day - 1}`);
	await eventually(t, () => sortedNames(page), ['first.txt', 'last.txt']);
	await eventually(t, () => tags(page).allTextContents(), [
		'Changed after Mar 10, 2026',
		'Changed before Mar 10, 2026',
	]);
	t.deepEqual(app.faults, []);
});

test.serial('a tag removes its filter and the focus stays with the tags, then with the button', async (t) => {
	const app = await fixture.enter(t);
	await writeSamples(app.home);
	const page = await app.open('/browser?type=private&search=report&kind=image,archive&minSize=1024&sort=rsize');
	await eventually(t, () => namesOf(page), ['report.zip', 'report cover.jpg']);
	await removeButton(page, 'Image').click();
	await page.waitForURL('**/browser?type=private&search=report&kind=archive&minSize=1024&sort=rsize');
	await eventually(t, () => namesOf(page), ['report.zip']);
	await focused(removeButton(page, 'Archive'), page).waitFor();
	await page.keyboard.press('Enter');
	await page.waitForURL('**/browser?type=private&search=report&minSize=1024&sort=rsize');
	await eventually(t, () => namesOf(page), ['final report.pdf', 'report.zip', 'report cover.jpg']);
	await focused(removeButton(page, 'Larger than 1 KB'), page).waitFor();
	await page.keyboard.press('Enter');
	await page.waitForURL('**/browser?type=private&search=report&sort=rsize');
	await focused(filtersButton(page), page).waitFor();
	await gone(t, tags(page));
	await eventually(t, () => namesOf(page).then(({ length }) => length), 4);

	// Filters that are applied take along what was typed.
	await searchBox(page).fill('summer');
	const dialog = await openFilters(page);
	await dialog.getByRole('checkbox', { name: 'Image' }).check();
	await dialog.getByRole('button', { name: 'Apply' }).click();
	await page.waitForURL('**/browser?type=private&search=summer&kind=image&sort=rsize');
	await page.getByRole('button', { name: 'Clear search' }).click();
	await page.waitForURL('**/browser?type=private&kind=image&sort=rsize');
	await eventually(t, () => namesOf(page), ['report cover.jpg', 'summer.png']);
	t.deepEqual(app.faults, []);
});

test.serial(
	'filters are set by the keyboard alone, refused with a reason, and left as they were by Escape',
	async (t) => {
		const app = await fixture.enter(t);
		await writeSamples(app.home);
		const page = await app.open('/browser?type=private');
		await searchBox(page).focus();
		await page.keyboard.press('Tab');
		await page.keyboard.press('Tab');
		await focused(filtersButton(page), page).waitFor();
		await page.keyboard.press('Enter');
		const dialog = page.getByRole('dialog', { name: 'Filters' });
		await focused(dialog.getByRole('checkbox', { name: 'Folder' }), page).waitFor();
		await page.keyboard.press('Space');
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
		await focused(filtersButton(page), page).waitFor();
		await absent(t, tags(page));

		await page.keyboard.press('Enter');
		await focused(dialog.getByRole('checkbox', { name: 'Folder' }), page).waitFor();
		await eventually(t, () => dialog.getByRole('checkbox', { name: 'Folder' }).isChecked(), false);
		for (let stops = 0; stops < 7; stops++) await page.keyboard.press('Tab');
		await focused(dialog.getByRole('checkbox', { name: 'Other' }), page).waitFor();
		await page.keyboard.press('Tab');
		await page.keyboard.type('much');
		await page.keyboard.press('Enter');
		await dialog.getByRole('alert').getByText('Enter a size such as 10 or 1.5 GB.').waitFor();
		const field = dialog.getByLabel('Larger than');
		await focused(field, page).waitFor();
		await eventually(t, () => field.getAttribute('aria-invalid'), 'true');
		await page.keyboard.press('Control+a');
		await page.keyboard.type('5 kb');
		await gone(t, dialog.getByRole('alert'));
		await page.keyboard.press('Tab');
		await page.keyboard.press('Tab');
		await page.keyboard.type('1 kb');
		await page.keyboard.press('Enter');
		await focused(dialog.getByLabel('Smaller than'), page).waitFor();
		await dialog.getByRole('alert').getByText('Nothing is larger than').waitFor();
		await page.keyboard.press('Control+a');
		await page.keyboard.press('Delete');
		await page.keyboard.press('Enter');
		await page.waitForURL('**/browser?type=private&minSize=5120');
		await eventually(t, () => namesOf(page), ['final report.pdf']);
		await focused(filtersButton(page), page).waitFor();
		t.deepEqual(app.faults, []);
	},
);

test.serial('while a term is typed the best hits are shown, and the keyboard opens one of them', async (t) => {
	const app = await fixture.enter(t);
	await writeSamples(app.home);
	await writeFiles(app.home, { 'reports/inside.txt': 'i', 'work/reporting/': '', 'z/preport.txt': 'p' });
	const page = await app.open('/browser?type=private');
	const box = searchBox(page);
	await box.focus();
	await page.keyboard.type('report');
	await eventually(t, () => hitTexts(page), [
		'reports\nHome',
		'Report.txt\nHome',
		'reporting\nwork',
		'report.zip\narchive',
		'report cover.jpg\nphotos',
		'final report.pdf\nwork',
		'preport.txt\nz',
	]);
	await eventually(t, () => box.getAttribute('aria-activedescendant'), null);
	// The list below shows the folder until the term is sent.
	await rowOf(page, 'photos').waitFor();

	await page.keyboard.press('ArrowDown');
	const chosen = hits(page).and(page.getByRole('option', { selected: true }));
	await eventually(t, () => hitTexts(page, chosen), ['reports\nHome']);
	await eventuallyMatches(t, () => box.getAttribute('aria-activedescendant'), /./);
	const id = (await chosen.getAttribute('id')) ?? '';
	await eventually(t, () => box.getAttribute('aria-activedescendant'), id);
	await page.keyboard.press('ArrowUp');
	await gone(t, chosen);
	await page.keyboard.press('ArrowUp');
	await eventually(t, () => hitTexts(page, chosen), ['preport.txt\nz']);
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');

	// A folder is gone to, and the term is not kept there.
	await page.keyboard.press('Enter');
	await page.waitForURL('**/browser/reports?type=private');
	await rowOf(page, 'inside.txt').waitFor();
	await gone(t, hits(page));
	await eventually(t, () => box.inputValue(), '');
	await page.goBack();
	await rowOf(page, 'photos').waitFor();

	// A file is shown, and the search goes on where it was.
	await box.focus();
	await page.keyboard.type('report');
	await hits(page).nth(1).waitFor();
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Enter');
	await page.getByRole('dialog', { name: 'Report.txt' }).waitFor();
	await page.getByRole('dialog').locator(':focus').waitFor();
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await focused(box, page).waitFor();
	await eventually(t, () => box.inputValue(), 'report');
	await absent(t, hits(page));

	// Escape closes the hits, and once more clears the search.
	await page.keyboard.press('ArrowDown');
	await hits(page).first().waitFor();
	await page.keyboard.press('Escape');
	await gone(t, hits(page));
	await eventually(t, () => box.inputValue(), 'report');
	await page.keyboard.press('Escape');
	await eventually(t, () => box.inputValue(), '');

	// Enter with none chosen lists all.
	await page.keyboard.type('reporting');
	await hits(page).first().waitFor();
	// The hits are closed when the focus goes on.
	await page.keyboard.press('Tab');
	await gone(t, hits(page));
	await page.keyboard.press('Shift+Tab');
	await focused(box, page).waitFor();
	await page.keyboard.press('Enter');
	await page.waitForURL('**/browser?type=private&search=reporting');
	await gone(t, hits(page));
	await eventually(t, () => namesOf(page), ['reporting']);
	await eventually(t, () => box.inputValue(), 'reporting');
	t.deepEqual(app.faults, []);
});

test.serial('hits pass the filters that are set, and are those of the folder on screen', async (t) => {
	const app = await fixture.enter(t);
	await writeSamples(app.home);
	const page = await app.open('/browser/photos?type=private&kind=image');
	await searchBox(page).fill('r');
	await eventually(t, () => hitTexts(page), ['report cover.jpg\nphotos', 'summer.png\nphotos']);
	await searchBox(page).fill('zip');
	await page.getByText('No name here or further down has “zip” in it and passes the filters.').waitFor();
	await removeButton(page, 'Image').click();
	await gone(t, page.getByText('No name here or further down'));
	t.deepEqual(app.faults, []);
});

test.serial('each letter replaces the search of the one before, whose answer is not shown', async (t) => {
	const app = await fixture.enter(t);
	await writeSamples(app.home);
	const page = await app.open('/browser?type=private');
	const asked: string[] = [];
	const failed: string[] = [];
	const termOf = (address: string) => new URL(address).searchParams.get('search') ?? '';
	page.on('requestfailed', (request) => {
		if (termOf(request.url()) !== '') failed.push(termOf(request.url()));
	});
	let answer = () => {};
	await page.route('**/api/browse?*search=*', async (route) => {
		const term = termOf(route.request().url());
		asked.push(term);
		// The list of all results asks a third time.
		if (term === 'rep' && asked.filter((each) => each === 'rep').length <= 2) {
			await new Promise<void>((resolve) => {
				answer = resolve;
			});
		}
		await route.continue().catch(() => {});
	});
	await searchBox(page).focus();
	await page.keyboard.insertText('rep');
	await eventually(t, async () => asked, ['rep']);
	await page.keyboard.insertText('ort c');
	await eventually(t, () => hitTexts(page), ['report cover.jpg\nphotos']);
	await eventually(t, async () => failed, ['rep']);
	t.deepEqual(asked, ['rep', 'report c']);
	answer();
	await page.keyboard.press('Backspace');
	await eventually(t, () => hits(page).count(), 4);

	// So does the list of all results, which the same call answers.
	await searchBox(page).fill('');
	await page.keyboard.insertText('rep');
	await eventually(t, async () => asked, ['rep', 'report c', 'report', 'rep']);
	await page.keyboard.press('Enter');
	// The list is asked for anew where it hears of a file of the samples late.
	await eventually(t, async () => failed.slice(0, 2), ['rep', 'rep']);
	await eventually(t, () => namesOf(page).then(({ length }) => length), 4);
	answer();
	t.deepEqual(app.faults, []);
});

test.serial('why there are no hits is said', async (t) => {
	const app = await fixture.enter(t);
	const page = await app.open('/browser?type=private');
	const body = { statusCode: 503, code: 'UNAVAILABLE', error: 'The disk sleeps.', message: 'The disk sleeps.' };
	await page.route('**/api/browse?*search=x*', (route) => route.fulfill({ status: 503, json: body }));
	await searchBox(page).fill('x');
	await page.locator('search p').getByText('The disk sleeps.').waitFor();
	await searchBox(page).fill('none');
	await page.getByText('No name here or further down has “none” in it.').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('more than 1,000 results are said to be the best ones', async (t) => {
	const app = await fixture.enter(t);
	const many = Array.from({ length: 1001 }, (_, n) => [`many/${n}.txt`, '']);
	await writeFiles(app.home, Object.fromEntries(many));
	const page = await app.open('/browser?type=private&kind=text');
	await page.getByText('1000 Results').waitFor();
	await page
		.getByText('Only the best 1,000 results are shown. A longer search term or a filter finds fewer.')
		.waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('a finger opens hits and sets filters on a phone', async (t) => {
	const app = await fixture.enter(t, { viewport: phone, hasTouch: true });
	await writeSamples(app.home);
	await writeFiles(app.home, Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`deep/er/report ${n}.txt`, 'x'])));
	const page = await app.open('/browser?type=private');
	const isReachable = async (control: Locator, height: number) => {
		const box = await control.boundingBox();
		t.true(box !== null && box.height >= height, `${control} is ${box?.height} px high`);
		t.true(box !== null && box.x >= 0 && box.x + box.width <= phone.width, `${control} is beside the screen`);
	};
	await searchBox(page).tap();
	await page.keyboard.type('report');
	await eventually(t, () => hits(page).count(), 8);
	await isReachable(searchBox(page), 40);
	await isReachable(filtersButton(page), 40);
	await isReachable(hits(page).first(), 44);
	await isReachable(page.getByRole('listbox'), 300);
	await page.getByRole('option', { name: 'Report.txt' }).tap();
	const viewer = page.getByRole('dialog', { name: 'Report.txt' });
	await viewer.getByRole('button', { name: 'Close' }).tap();
	await overlaysClosed(page);
	await gone(t, hits(page));

	await filtersButton(page).tap();
	const dialog = page.getByRole('dialog', { name: 'Filters' });
	await dialog.locator(':focus').waitFor();
	for (const field of ['Larger than', 'Smaller than', 'Changed after', 'Changed before']) {
		await isReachable(dialog.getByLabel(field), 44);
	}
	await isReachable(dialog.locator('label').filter({ hasText: 'Archive' }), 44);
	await isReachable(dialog.getByRole('button', { name: 'Apply' }), 44);
	await dialog.getByText('Archive').tap();
	await dialog.getByRole('button', { name: 'Apply' }).tap();
	await page.waitForURL('**/browser?type=private&search=report&kind=archive');
	await overlaysClosed(page);
	await eventually(t, () => namesOf(page), ['report.zip']);
	await isReachable(removeButton(page, 'Archive'), 44);
	await removeButton(page, 'Archive').tap();
	await page.waitForURL('**/browser?type=private&search=report');
	t.deepEqual(app.faults, []);
});

test.serial('visitors and users search the public area with hits and filters', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(path.join(app.home, 'Public'), { 'shared/report of ada.pdf': 'x' });
	await writeFiles(path.join(app.files, 'Public'), { 'report.pdf': 'x', 'notes.txt': 'x' });
	await writeFiles(path.join(app.files, 'users/anonymous/Public'), { 'report.pdf': 'x' });
	const page = await app.open('/browser?type=public&kind=document');
	await eventually(t, () => sortedNames(page), ['report of ada.pdf', 'report.pdf', 'report.pdf']);
	await searchBox(page).fill('report');
	await eventually(t, () => hitTexts(page), ['report.pdf\nHome', 'report.pdf\nHome', 'report of ada.pdf\nshared']);
	// Two trees of the public area have it.
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('ArrowDown');
	await eventually(t, () => hits(page).nth(1).getAttribute('aria-selected'), 'true');
	await eventually(
		t,
		() =>
			hits(page)
				.and(page.getByRole('option', { selected: true }))
				.count(),
		1,
	);

	await app.context.clearCookies();
	await page.goto(`${app.url}/browser?type=public&kind=document`);
	await eventually(t, () => sortedNames(page), ['report.pdf', 'report.pdf']);
	await searchBox(page).fill('report');
	await eventually(t, () => hits(page).count(), 2);
	// A visitor who follows an address of the private area keeps the search.
	await page.goto(`${app.url}/browser?type=private&search=notes&kind=text`);
	await page.waitForURL('**/browser?type=public&search=notes&kind=text');
	await eventually(t, () => namesOf(page), ['notes.txt']);
	await nameIn(page, 'notes.txt').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('a search and a list say at once that there is no network, not that there is nothing', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a' });
	const page = await app.open('/browser?type=private');
	const myLinks = page.getByRole('dialog', { name: 'My links' });
	const openMyLinks = async () => {
		await page.getByRole('button', { name: app.username }).click();
		await page.getByRole('menuitem', { name: 'My links' }).click();
	};
	// Its code is fetched with a network.
	await openMyLinks();
	await myLinks.getByText('No links').waitFor();
	await page.keyboard.press('Escape');
	await overlaysClosed(page);

	await app.context.setOffline(true);
	await openMyLinks();
	await myLinks.getByText('Error loading links').waitFor();
	await myLinks.getByText('Network error').waitFor();
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await searchBox(page).fill('a');
	await page.getByRole('search').getByText('Network error').first().waitFor();
	await absent(t, page.getByText('No files or folders match'));
	await app.context.setOffline(false);
	await page.getByText('You are offline.').waitFor({ state: 'detached' });
	await searchBox(page).fill('a.t');
	await eventually(t, () => hitTexts(page), ['a.txt\nHome']);
});
