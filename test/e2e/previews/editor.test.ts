import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Locator, Page, Worker } from 'playwright-core';
import { assertAccessible } from '../support/axe.js';
import { phone } from '../support/browser.js';
import { absent, eventually, eventuallyMatches, gone } from '../support/expect.js';
import {
	expectOnDisk,
	holdRequest,
	nameIn,
	rowOf,
	setUpFixture,
	treeOf,
	withKeptContexts,
	writeFiles,
} from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';
import { openPreview } from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test));

/** Opens a text of the list for editing. Resolves to its viewer and the text in the editor. */
async function edit(page: Page, name: string): Promise<{ viewer: Locator; text: Locator }> {
	const viewer = await openPreview(page, name);
	await viewer.getByRole('button', { name: 'Edit', exact: true }).click();
	const text = viewer.getByRole('textbox', { name: `Text of ${name}` });
	await text.waitFor();
	return { viewer, text };
}

/** Puts letters before the text. */
async function typeAtStart(page: Page, letters: string): Promise<void> {
	await page.keyboard.press('Control+Home');
	await page.keyboard.insertText(letters);
}

const button = (within: Page | Locator, name: string) => within.getByRole('button', { name, exact: true });

const onDisk = (t: ExecutionContext, file: string, expected: string) =>
	eventually(t, () => readFile(file, 'latin1'), expected);

test.serial('what can not be edited, since it was renamed meanwhile, is said in words', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'before.txt': 'one\n' });
	const page = await app.open('/browser?type=private');
	const viewer = await openPreview(page, 'before.txt');
	await viewer.locator('pre').getByText('one').waitFor();
	await rename(path.join(app.home, 'before.txt'), path.join(app.home, 'after.txt'));
	await button(viewer, 'Edit').click();
	await expectNotice(page, 'before.txt could not be opened for editing', 'No such file or folder: before.txt');
	await eventually(t, () => button(viewer, 'Edit').isEnabled(), true);
});

test.serial('a text is edited and saved byte for byte as it was where nothing was changed', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, {
		'notes.txt': 'one\r\ntwo\nthree\r\n',
		'old.txt': Buffer.from('caf\xe9\n'.repeat(20), 'latin1'),
	});
	const page = await app.open('/browser?type=private');
	const { viewer, text } = await edit(page, 'notes.txt');
	await viewer.getByText('UTF-8, mixed line ends').waitFor();
	await eventually(t, () => button(viewer, 'Save').isEnabled(), false);
	await assertAccessible(t, page, 'editor');
	await typeAtStart(page, 'zero\n');
	await page.keyboard.press('Control+s');
	await expectNotice(page, 'Saved notes.txt');
	await onDisk(t, path.join(app.home, 'notes.txt'), 'zero\r\none\r\ntwo\nthree\r\n');
	await eventually(t, () => button(viewer, 'Save').isEnabled(), false);
	// Again, now that the page has saved another version.
	await typeAtStart(page, '#');
	await button(viewer, 'Save').click();
	await expectNotice(page, 'Saved notes.txt');
	await onDisk(t, path.join(app.home, 'notes.txt'), '#zero\r\none\r\ntwo\nthree\r\n');
	await eventually(t, () => text.evaluate((element) => element === document.activeElement), true);
	await button(viewer, 'Done').click();
	await viewer.locator('pre').getByText('#zero').waitFor();
	await button(viewer, 'Close').click();
	await rowOf(page, 'notes.txt').getByText('23 B').waitFor();

	const old = await edit(page, 'old.txt');
	await typeAtStart(page, '日');
	await button(old.viewer, 'Save').click();
	const lacks = page.getByRole('dialog', { name: 'Encoding' });
	await lacks.getByText('windows-1252 has no letter for “日”.').waitFor();
	await assertAccessible(t, page, 'dialog about the encoding');
	await button(lacks, 'Cancel').click();
	await gone(t, lacks);
	t.is(await readFile(path.join(app.home, 'old.txt'), 'latin1'), 'caf\xe9\n'.repeat(20));
	await button(old.viewer, 'Undo').click();
	await page.keyboard.insertText('ß');
	await page.keyboard.press('Control+s');
	await expectNotice(page, 'Saved old.txt');
	await onDisk(t, path.join(app.home, 'old.txt'), `\xdf${'caf\xe9\n'.repeat(20)}`);
	await typeAtStart(page, '日');
	await page.keyboard.press('Control+s');
	await button(lacks, 'Save as UTF-8').click();
	await expectNotice(page, 'Saved old.txt');
	await eventually(t, () => readFile(path.join(app.home, 'old.txt'), 'utf8'), `日ß${'café\n'.repeat(20)}`);
	await old.viewer.getByText('UTF-8, LF').waitFor();
	t.deepEqual(app.faults, []);
});

test.serial('of equal lines with different ends the one that was not removed is left', async (t) => {
	const app = await fixture.enter(t);
	const content = 'a\r\na\na\r\nb\n';
	await writeFiles(app.home, { 'equal.txt': content });
	const file = path.join(app.home, 'equal.txt');
	const page = await app.open('/browser?type=private');
	const { viewer } = await edit(page, 'equal.txt');
	const removeFirst = async () => {
		for (const keys of ['Control+Home', 'Shift+ArrowDown', 'Delete']) await page.keyboard.press(keys);
	};
	await removeFirst();
	await page.keyboard.press('Control+s');
	await onDisk(t, file, 'a\na\r\nb\n');
	await eventually(t, () => button(viewer, 'Save').isEnabled(), false);
	await removeFirst();
	await page.keyboard.press('Control+s');
	await onDisk(t, file, 'a\r\nb\n');
	await eventually(t, () => button(viewer, 'Save').isEnabled(), false);
	await button(viewer, 'Undo').click();
	await page.keyboard.press('Control+s');
	await onDisk(t, file, 'a\r\na\r\nb\n');
	t.deepEqual(app.faults, []);
});

test.serial('a text that a grammar reads without end is edited without colours', async (t) => {
	const app = await fixture.enter(t);
	// The grammar of Perl takes the square of the length of each such line.
	await writeFiles(app.home, { 'dashes.pl': `${'-'.repeat(2000)}\n`.repeat(95), 'plain.yml': 'key: 1\n' });
	const page = await app.open('/browser?type=private');
	const plain = await edit(page, 'plain.yml');
	await plain.text.locator('[class*=tok-]').first().waitFor();
	await button(plain.viewer, 'Done').click();
	await button(plain.viewer, 'Close').click();
	const isGrammar = (worker: Worker) => worker.url().includes('grammarWorker');
	const began = page.waitForEvent('worker', isGrammar);
	const dashes = await edit(page, 'dashes.pl');
	await began;
	await typeAtStart(page, 'my $a;\n');
	await eventually(t, async () => page.workers().filter(isGrammar).length, 0);
	await typeAtStart(page, '#');
	await page.keyboard.press('Control+s');
	await expectNotice(page, 'Saved dashes.pl');
	await absent(t, dashes.text.locator('[class*=tok-]'));
	t.deepEqual(app.faults, []);
});

test.serial('a text whose lines are read in another way after one letter does not stop the page', async (t) => {
	const app = await fixture.enter(t);
	// The lines are a part of the text of `a`, until that is a comment.
	await writeFiles(app.home, { 'hidden.yml': `a: |\n${`${' '.repeat(2000)}\n`.repeat(30)}b: 1\n` });
	const page = await app.open('/browser?type=private');
	const { text } = await edit(page, 'hidden.yml');
	await text.locator('[class*=tok-]').first().waitFor();
	await typeAtStart(page, '#');
	await text.locator('.tok-comment').getByText('#a: |').waitFor();
	await page.keyboard.press('Control+s');
	await expectNotice(page, 'Saved hidden.yml');
	t.deepEqual(app.faults, []);
});

test.serial(
	'a line of a hundred thousand characters without a width is edited, and the first ones are marked',
	async (t) => {
		const app = await fixture.enter(t);
		const invisible = '\u202ea\u200b\u2066'.repeat(25_000);
		await writeFiles(app.home, { 'hostile.txt': `\u0007${invisible}abc` });
		const page = await app.open('/browser?type=private');
		const { viewer, text } = await edit(page, 'hostile.txt');
		await text.getByTitle('Control character U+0007').waitFor();
		await text.getByTitle('Control character U+202E').first().waitFor();
		const marks = text.locator('.cm-specialChar');
		await eventually(t, async () => (await marks.count()) <= 1000, true);
		await typeAtStart(page, '#');
		await button(viewer, 'Save').click();
		await expectNotice(page, 'Saved hostile.txt');
		t.is(await readFile(path.join(app.home, 'hostile.txt'), 'utf8'), `#\u0007${invisible}abc`);
		await button(viewer, 'Done').click();
		await gone(t, marks);
	},
);

test.serial('an expression that takes a text without end is given up, and the page goes on', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'given.txt': `one 12\n${'a'.repeat(60)}\ntwo 34\n` });
	const page = await app.open('/browser?type=private');
	const { viewer, text } = await edit(page, 'given.txt');
	await page.keyboard.press('Control+f');
	const find = viewer.getByRole('textbox', { name: 'Find' });
	await viewer.getByRole('checkbox', { name: 'Regular expression' }).check();
	await find.pressSequentially('(a+)+b');
	await find.press('Enter');
	await viewer.getByRole('alert').getByText('This takes too long to find in this text.').waitFor();
	await button(viewer, 'Previous').click();
	await button(viewer, 'Replace all').click();
	await find.fill('');
	await find.pressSequentially('(\\w+) (\\d)');
	await find.press('Enter');
	await gone(t, viewer.getByRole('alert'));
	await eventually(t, () => text.locator('.cm-searchMatch').allTextContents(), ['one 1', 'two 3']);
	await eventually(t, () => text.locator('.cm-searchMatch-selected').textContent(), 'one 1');
	await viewer.getByRole('textbox', { name: 'Replace with' }).fill('$2 $1');
	await button(viewer, 'Replace all').click();
	await eventuallyMatches(t, () => text.textContent(), /1 one2.*3 two4/s);
	t.deepEqual(app.faults, []);
});

test.serial('a text is found and replaced, has colours, and is left by the keyboard', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'code.ts': 'const answer: number = 42; // a comment\nexport { answer };\n' });
	const page = await app.open('/browser?type=private');
	const { viewer, text } = await edit(page, 'code.ts');
	await text.locator('.tok-keyword').first().waitFor();
	await page.keyboard.press('Control+f');
	await viewer.getByRole('textbox', { name: 'Find' }).fill('answer');
	await viewer.getByRole('textbox', { name: 'Replace with' }).fill('question');
	await assertAccessible(t, page, 'find and replace');
	await button(viewer, 'Replace all').click();
	await eventuallyMatches(t, () => text.textContent(), /const question: .*export \{ question \};/s);
	await viewer.getByRole('textbox', { name: 'Find' }).press('Escape');
	await gone(t, viewer.getByRole('textbox', { name: 'Find' }));
	await page.keyboard.press('Control+Home');
	await page.keyboard.press('Tab');
	await eventuallyMatches(t, () => text.textContent(), /^\tconst/);
	await page.keyboard.press('Control+m');
	await page.keyboard.press('Shift+Tab');
	await eventually(t, () => button(viewer, 'Save').evaluate((save) => save === document.activeElement), true);
	t.deepEqual(app.faults, []);
});

test.serial('leaving with changes asks, and nothing is lost before the answer', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'folder/': '', 'folder/a.txt': 'a\n' });
	const page = await app.open('/browser?type=private');
	await nameIn(page, 'folder').click();
	const { viewer, text } = await edit(page, 'a.txt');
	const question = page.getByRole('dialog', { name: 'Unsaved changes' });
	const staysBy = async (leave: () => Promise<unknown>) => {
		await leave();
		await question.waitFor();
		await button(question, 'Cancel').click();
		await gone(t, question);
		await eventuallyMatches(t, () => text.textContent(), /^new/);
	};
	await typeAtStart(page, 'new ');
	await staysBy(() => page.keyboard.press('Escape'));
	await staysBy(() => button(viewer, 'Close').click());
	await staysBy(() => button(viewer, 'Done').click());
	await staysBy(() => page.goBack());
	await eventuallyMatches(t, async () => page.url(), /\/browser\/folder/);
	await page.goBack();
	await question.waitFor();
	await assertAccessible(t, page, 'unsaved changes');
	await button(question, 'Save').click();
	await gone(t, viewer);
	await nameIn(page, 'folder').waitFor();
	await onDisk(t, path.join(app.home, 'folder/a.txt'), 'new a\n');

	await nameIn(page, 'folder').click();
	await edit(page, 'a.txt');
	await typeAtStart(page, 'newer ');
	const asked = page.waitForEvent('dialog');
	await page.evaluate(() => setTimeout(() => location.reload()));
	const confirmation = await asked;
	t.is(confirmation.type(), 'beforeunload');
	await confirmation.dismiss();
	await page.keyboard.press('Escape');
	await button(question, 'Discard').click();
	await gone(t, viewer);
	t.is(await readFile(path.join(app.home, 'folder/a.txt'), 'utf8'), 'new a\n');
	t.deepEqual(app.faults, []);
});

test.serial('a file that changed meanwhile is not overwritten unasked', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a\n' });
	const file = path.join(app.home, 'a.txt');
	const page = await app.open('/browser?type=private');
	const { viewer, text } = await edit(page, 'a.txt');
	const question = page.getByRole('dialog', { name: 'Changed meanwhile' });
	const collide = async (theirs: string, answer: string) => {
		await typeAtStart(page, 'mine ');
		await writeFile(file, theirs);
		await page.keyboard.press('Control+s');
		await question.waitFor();
		t.is(await readFile(file, 'utf8'), theirs);
		await button(question, answer).click();
		await gone(t, question);
	};
	await collide('theirs\n', 'Overwrite');
	await onDisk(t, file, 'mine a\n');
	await expectNotice(page, 'Saved a.txt');
	await collide('theirs again\n', 'Discard');
	await eventually(t, () => text.textContent(), 'theirs again');
	await eventually(t, () => button(viewer, 'Save').isEnabled(), false);
	await collide('once more\n', 'Save a copy');
	await expectNotice(page, 'Saved as a (1).txt');
	await page.getByRole('dialog', { name: 'a (1).txt' }).locator('pre').getByText('mine theirs again').waitFor();
	await expectOnDisk(t, app.home, ['Public/', 'a (1).txt', 'a.txt']);
	t.is(await readFile(file, 'utf8'), 'once more\n');
	t.deepEqual(
		app.faults.filter((fault) => !fault.includes('412')),
		[],
	);
});

test.serial('nothing can be typed while what is left is saved, unless that is cancelled: then it stays', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a\n', 'b.txt': 'b\n' });
	const page = await app.open('/browser?type=private');
	const question = page.getByRole('dialog', { name: 'Unsaved changes' });
	const leave = async (name: string) => {
		const { viewer, text } = await edit(page, name);
		await typeAtStart(page, 'first ');
		const release = await holdRequest(page, '**/api/upload');
		const sent = page.waitForRequest('**/api/upload');
		await button(viewer, 'Close').click();
		await button(question, 'Save').click();
		await sent;
		await eventually(t, () => button(question, 'Discard').isDisabled(), true);
		await page.keyboard.insertText('second ');
		await eventually(t, () => text.textContent(), `first ${name.charAt(0)}`);
		return { viewer, text, release };
	};
	const saved = await leave('a.txt');
	saved.release();
	await gone(t, saved.viewer);
	await onDisk(t, path.join(app.home, 'a.txt'), 'first a\n');

	const cancelled = await leave('b.txt');
	await button(question, 'Cancel').click();
	await gone(t, question);
	await page.keyboard.insertText('second ');
	cancelled.release();
	await expectNotice(page, 'Saved b.txt');
	await onDisk(t, path.join(app.home, 'b.txt'), 'first b\n');
	await eventually(t, () => cancelled.text.textContent(), 'first second b');
	await page.keyboard.press('Control+s');
	await onDisk(t, path.join(app.home, 'b.txt'), 'first second b\n');
	t.deepEqual(app.faults, []);
});

test.serial('what is left while an older text is being saved is saved after that', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a\n' });
	const page = await app.open('/browser?type=private');
	const { viewer } = await edit(page, 'a.txt');
	await typeAtStart(page, 'first ');
	const release = await holdRequest(page, '**/api/upload');
	const sent = page.waitForRequest('**/api/upload');
	await page.keyboard.press('Control+s');
	await sent;
	await page.keyboard.insertText('second ');
	await button(viewer, 'Close').click();
	await button(page.getByRole('dialog', { name: 'Unsaved changes' }), 'Save').click();
	release();
	await gone(t, viewer);
	await onDisk(t, path.join(app.home, 'a.txt'), 'first second a\n');
	t.deepEqual(app.faults, []);
});

test.serial(
	'a copy has all that was typed by then, is written once, and by who has opened the file only',
	async (t) => {
		const app = await fixture.enter(t);
		const bob = await fixture.enter(t);
		await writeFiles(app.home, { 'a.txt': 'a\n' });
		const page = await app.open('/browser?type=private');
		const { viewer } = await edit(page, 'a.txt');
		await typeAtStart(page, 'first ');
		await writeFile(path.join(app.home, 'a.txt'), 'theirs\n');
		const question = page.getByRole('dialog', { name: 'Changed meanwhile' });
		const release = await holdRequest(page, '**/api/upload');
		const sent = page.waitForRequest('**/api/upload');
		await page.keyboard.press('Control+s');
		await sent;
		await page.keyboard.insertText('second ');
		release();
		await question.waitFor();

		const own = await app.context.cookies();
		const [cookie] = await bob.context.cookies();
		await app.context.addCookies(own.map((each) => ({ ...each, value: cookie?.value ?? '' })));
		t.teardown(() => app.context.addCookies(own));
		await button(question, 'Save a copy').click();
		await viewer.getByRole('alert').getByText(`Sign in as ${app.username} to save`).waitFor();
		await gone(t, question);
		t.deepEqual(
			(await treeOf(bob.home).catch(() => [])).filter((name) => name.endsWith('.txt')),
			[],
		);
		await app.context.addCookies(own);
		await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
		await gone(t, viewer.getByRole('alert'));

		await page.keyboard.press('Control+s');
		await question.waitFor();
		const releaseCopy = await holdRequest(page, '**/api/upload');
		await button(question, 'Save a copy').dblclick();
		await eventually(t, () => button(question, 'Overwrite').isDisabled(), true);
		releaseCopy();
		await page.getByRole('dialog', { name: 'a (1).txt' }).locator('pre').getByText('first second a').waitFor();
		await expectOnDisk(t, app.home, ['Public/', 'a (1).txt', 'a.txt']);
		t.is(await readFile(path.join(app.home, 'a.txt'), 'utf8'), 'theirs\n');
	},
);

test.serial('when the session ends or the connection is lost, the text stays and can be saved later', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'a.txt': 'a\n' });
	const page = await app.open('/browser?type=private');
	const { viewer, text } = await edit(page, 'a.txt');
	await typeAtStart(page, 'mine ');
	await page.route('**/api/upload', (route) => route.abort());
	await page.keyboard.press('Control+s');
	await viewer.getByRole('alert').getByText('It could not be saved').waitFor();
	await page.unroute('**/api/upload');
	await page.route('**/api/upload', (route) =>
		route.fulfill({
			status: 507,
			json: { code: 'STORAGE_FULL', message: 'The disk is full.', statusCode: 507, error: 'x' },
		}),
	);
	await page.keyboard.press('Control+s');
	await viewer.getByRole('alert').getByText('The disk is full.').waitFor();
	await page.unroute('**/api/upload');

	await app.context.clearCookies();
	await page.keyboard.press('Control+s');
	await viewer.getByRole('alert').getByText('Your session has ended.').waitFor();
	await eventuallyMatches(t, () => text.textContent(), /^mine a/);
	await assertAccessible(t, page, 'ended session');
	await button(viewer, 'Sign In').click();
	const auth = page.getByRole('dialog', { name: 'Sign In' });
	await auth.getByRole('textbox', { name: 'Username' }).fill(app.username);
	await auth.getByLabel('Password', { exact: true }).fill('correct horse');
	await button(auth, 'Sign In').click();
	await gone(t, auth);
	const isFocusInside = () => viewer.evaluate((element) => element.contains(document.activeElement));
	await eventually(t, isFocusInside, true);
	await eventuallyMatches(t, () => text.textContent(), /^mine a/);
	await button(viewer, 'Save').click();
	await expectNotice(page, 'Saved a.txt');
	await onDisk(t, path.join(app.home, 'a.txt'), 'mine a\n');
});

test.serial('what is typed is kept as the network comes back, whatever has become of the file meanwhile', async (t) => {
	const app = await fixture.enter(t);
	await writeFiles(app.home, { 'notes.txt': 'one\n' });
	const page = await app.open('/browser?type=private');
	// Of a file that was opened some minutes ago.
	await page.clock.install();
	const { text } = await edit(page, 'notes.txt');
	await typeAtStart(page, 'an hour of work ');
	await page.clock.fastForward(5 * 60_000);
	await rename(path.join(app.home, 'notes.txt'), path.join(app.home, 'other.txt'));
	await app.context.setOffline(true);
	await eventually(t, () => page.evaluate(() => navigator.onLine), false);
	const read = page.waitForRequest('**/api/**');
	await app.context.setOffline(false);
	await eventually(t, () => page.evaluate(() => navigator.onLine), true);
	// Other parts of the page do ask again.
	await read;
	await page.clock.fastForward(10_000);
	await eventually(t, () => text.textContent(), 'an hour of work one');
});

test.serial(
	'Edit is there for own texts only, and refuses bytes that would be lost and lines that no browser lays out',
	async (t) => {
		const app = await fixture.enter(t);
		await writeFiles(app.files, { 'Public/theirs.txt': 'theirs\n' });
		await writeFiles(app.home, {
			'Public/mine.txt': 'mine\n',
			'broken.txt': Buffer.from('abc\xff\xfe\n', 'latin1'),
			'joined.txt': 'عربي'.repeat(50_000),
			'tabs.txt': '\t'.repeat(1_000_000),
		});
		const page = await app.open('/browser?type=public');
		const theirs = await openPreview(page, 'theirs.txt');
		await theirs.locator('pre').getByText('theirs').waitFor();
		await absent(t, button(theirs, 'Edit'));
		await button(theirs, 'Close').click();
		await gone(t, theirs);
		const mine = await edit(page, 'mine.txt');
		await typeAtStart(page, 'all ');
		await page.keyboard.press('Control+s');
		await expectNotice(page, 'Saved mine.txt');
		await onDisk(t, path.join(app.home, 'Public/mine.txt'), 'all mine\n');
		await button(mine.viewer, 'Close').click();
		await gone(t, mine.viewer);
		await page.goto(`${app.url}/browser?type=private`);
		const broken = await openPreview(page, 'broken.txt');
		await broken.getByRole('combobox', { name: 'Encoding' }).selectOption('UTF-8');
		await button(broken, 'Edit').click();
		await expectNotice(page, 'broken.txt could not be opened for editing', 'mean nothing in UTF-8');
		await button(broken, 'Close').click();
		await gone(t, broken);
		for (const name of ['joined.txt', 'tabs.txt']) {
			const long = await openPreview(page, name);
			await button(long, 'Edit').click();
			await expectNotice(page, `${name} could not be opened for editing`, 'One of its lines is too long');
			await button(long, 'Close').click();
			await gone(t, long);
		}
		t.deepEqual(app.faults, []);
	},
);

test.serial('on a phone the editor fills the screen, and its controls fit', async (t) => {
	const app = await fixture.enter(t, { viewport: phone, hasTouch: true });
	await writeFiles(app.home, { 'notes.md': '# Title\n\nSome **bold** words.\n' });
	const page = await app.open('/browser?type=private');
	const { viewer, text } = await edit(page, 'notes.md');
	await assertAccessible(t, page, 'editor on a phone');
	const sizes = await text.evaluate((element) => ({
		font: getComputedStyle(element).fontSize,
		overflow: document.documentElement.scrollWidth - window.innerWidth,
	}));
	t.deepEqual(sizes, { font: '16px', overflow: 0 });
	for (const name of ['Undo', 'Redo', 'Find and replace', 'Done', 'Save']) {
		const box = await button(viewer, name).boundingBox();
		t.true(box !== null && box.x >= 0 && box.x + box.width <= phone.width, name);
	}
	t.deepEqual(app.faults, []);
});
