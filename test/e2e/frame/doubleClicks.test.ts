import test from 'ava';
import type { Locator, Page } from 'playwright-core';
import { eventually, gone } from '../support/expect.js';
import { type FileManager, rowOf, setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { openPreview, picture } from '../support/previews.js';
import { share } from '../support/shares.js';

const fixture = withKeptContexts(setUpFixture(test));

/** A double click at one place, whose second click comes when the first one has had its effect. */
async function doubleClick(page: Page, target: Locator, effect: () => Promise<void>): Promise<void> {
	await target.hover();
	await page.mouse.down();
	await page.mouse.up();
	await effect();
	await page.mouse.down({ clickCount: 2 });
	await page.mouse.up({ clickCount: 2 });
}

async function openMyLinks(page: Page, { username }: FileManager): Promise<Locator> {
	await page.getByRole('button', { name: username }).click();
	await page.getByRole('menuitem', { name: 'My links' }).click();
	return page.getByRole('dialog', { name: 'My links' });
}

test.serial('a double click revokes one link, and not also the one that moves up', async (t) => {
	const ada = await fixture.enter(t);
	const names = ['a.txt', 'b.txt', 'c.txt'];
	await writeFiles(ada.home, Object.fromEntries(names.map((name) => [name, ''])));
	const page = await ada.open('/browser?type=private');
	for (const name of names) {
		await rowOf(page, name).click({ button: 'right' });
		await page.getByRole('menuitem', { name: 'Temporary Link' }).click();
		await page.getByRole('button', { name: 'Generate Link' }).click();
		await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
		await gone(t, page.getByRole('dialog'));
	}
	const revokes = (await openMyLinks(page, ada)).getByRole('button', { name: 'Revoke the link to ' });
	const revoke = (name: string) => page.getByRole('button', { name: `Revoke the link to ${name}` });
	await doubleClick(page, revoke('b.txt'), () => revoke('b.txt').waitFor({ state: 'detached' }));
	await page.keyboard.press('Escape');
	await gone(t, page.getByRole('dialog'));
	await openMyLinks(page, ada);
	await eventually(t, () => revokes.count(), 2);
	t.deepEqual(ada.faults, []);
});

test.serial('a double click on Pause leaves a share paused', async (t) => {
	const ada = await fixture.enter(t);
	await writeFiles(ada.home, { 'a.txt': '' });
	await share(ada, { items: ['a.txt'] });
	const page = await ada.open('/browser?type=private');
	const row = (await openMyLinks(page, ada)).getByRole('listitem', { name: 'a.txt' });
	const resume = row.getByRole('button', { name: 'Resume' });
	await doubleClick(page, row.getByRole('button', { name: 'Pause' }), () => resume.waitFor());
	await page.keyboard.press('Escape');
	await gone(t, page.getByRole('dialog'));
	await openMyLinks(page, ada);
	await row.getByText('Paused').waitFor();
	await resume.click();
	await row.getByText('Active').waitFor();
	t.deepEqual(ada.faults, []);
});

test.serial('a button that stays what it is acts on both clicks of a double click', async (t) => {
	const ada = await fixture.enter(t);
	const names = ['a.png', 'b.png', 'c.png'];
	const image = await picture('png', '64x64', 'teal');
	await writeFiles(ada.home, Object.fromEntries(names.map((name) => [name, image])));
	const page = await ada.open('/browser?type=private');
	const viewer = await openPreview(page, 'a.png');
	const next = viewer.getByRole('button', { name: 'Next' });
	await doubleClick(page, next, () => page.getByRole('dialog', { name: 'b.png' }).waitFor());
	await page.getByRole('dialog', { name: 'c.png' }).waitFor();
	await page.keyboard.press('Escape');
	await gone(t, page.getByRole('dialog'));
	t.deepEqual(ada.faults, []);
});
