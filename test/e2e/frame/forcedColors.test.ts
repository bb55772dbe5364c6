import test from 'ava';
import type { Locator } from 'playwright-core';
import { setUpFixture, writeFiles } from '../support/fileManager.js';

const fixture = setUpFixture(test);

const styleOf = (control: Locator) =>
	control.evaluate((element) => {
		const { backgroundColor, outlineStyle } = getComputedStyle(element);
		return { backgroundColor, outlineStyle };
	});

test.serial('with forced colours controls have a border and the selection is visible', async (t) => {
	const manager = await fixture.enter(t);
	await writeFiles(manager.home, { 'a.txt': 'a' });
	const page = await manager.open('/browser?type=private');
	await page.emulateMedia({ forcedColors: 'active' });
	const letter = (name: string) => page.getByRole('button', { name, exact: true });
	await letter('A').click();
	t.not((await styleOf(letter('A'))).backgroundColor, (await styleOf(letter('B'))).backgroundColor);
	t.is((await styleOf(page.getByRole('searchbox', { name: 'Search' }))).outlineStyle, 'solid');
	t.is((await styleOf(letter('Actions'))).outlineStyle, 'solid');

	await page.goto(manager.url);
	await page.getByRole('button', { name: manager.username }).waitFor();
	await page.setInputFiles('input[type=file]', { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('b') });
	const choice = (name: string) => page.getByRole('radio', { name });
	t.is(await choice('Private').getAttribute('aria-checked'), 'true');
	t.not((await styleOf(choice('Private'))).backgroundColor, (await styleOf(choice('Public'))).backgroundColor);
	t.is((await styleOf(letter('Upload All'))).outlineStyle, 'solid');
	t.deepEqual(manager.faults, []);
});
