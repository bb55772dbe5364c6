import test from 'ava';
import type { Locator } from 'playwright-core';
import { eventually } from '../support/expect.js';
import { nameIn, rowOf, setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';
import { closePreview, openPreview, picture } from '../support/previews.js';

const fixture = withKeptContexts(setUpFixture(test));

const styleOf = (control: Locator) =>
	control.evaluate((element) => {
		const { backgroundColor, outlineStyle } = getComputedStyle(element);
		return { backgroundColor, outlineStyle };
	});

test.serial(
	'with forced colours selected and focused tiles and viewers have outlines, and with reduced motion none is animated',
	async (t) => {
		const manager = await fixture.enter(t);
		await writeFiles(manager.home, { 'a.png': await picture('png', '400x300', 'red'), 'b.txt': 'b', 'c.txt': 'c' });
		const page = await manager.open('/browser?type=private');
		await page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'Grid' }).click();
		const drawn = rowOf(page, 'a.png').locator('img');
		await drawn.waitFor();
		await page.emulateMedia({ forcedColors: 'active' });
		await nameIn(page, 'b.txt').click({ modifiers: ['Control'] });
		await nameIn(page, 'a.png').hover();
		const outlineOf = (name: string) =>
			rowOf(page, name).evaluate((tile) => {
				const { outlineStyle, outlineColor, outlineWidth } = getComputedStyle(tile);
				return `${outlineStyle} ${outlineColor} ${outlineWidth}`;
			});
		const selected = await outlineOf('b.txt');
		t.regex(selected, /^solid .* 2px$/);
		t.regex(await outlineOf('a.png'), /^none/);
		await page.keyboard.press('ArrowRight');
		await rowOf(page, 'c.txt').and(page.locator(':focus')).waitFor();
		t.regex(await outlineOf('c.txt'), /^double/, 'the focus');
		await page.keyboard.press('Escape');

		const viewer = await openPreview(page, 'a.png');
		await viewer.getByRole('img', { name: 'a.png' }).waitFor();
		t.is((await styleOf(viewer)).outlineStyle, 'solid');

		const moving = () =>
			page.evaluate(() =>
				document
					.getAnimations()
					.filter(({ effect }) => Number(effect?.getComputedTiming().duration) > 1)
					.map((animation) => (animation as CSSAnimation).animationName),
			);
		const spans = (element: Locator) =>
			element.evaluate((each) => {
				const { animationDuration, transitionDuration } = getComputedStyle(each);
				return [animationDuration, transitionDuration].join().split(/, ?/).map(Number.parseFloat);
			});
		t.deepEqual(await moving(), []);
		for (const element of [drawn, rowOf(page, 'b.txt'), viewer, viewer.getByRole('button', { name: 'Zoom in' })]) {
			t.true(Math.max(...(await spans(element))) <= 0.001);
		}
		await page.emulateMedia({ reducedMotion: 'no-preference' });
		t.true(Math.max(...(await spans(drawn))) > 0.05, 'it is animated without the preference');
		await page.emulateMedia({ reducedMotion: 'reduce' });
		await closePreview(page);
		t.deepEqual(manager.faults, []);
	},
);

test.serial('with forced colours controls have a border and the selection is visible', async (t) => {
	const manager = await fixture.enter(t);
	await writeFiles(manager.home, { 'a.txt': 'a' });
	const page = await manager.open('/browser?type=private');
	await page.emulateMedia({ forcedColors: 'active' });
	const letter = (name: string) => page.getByRole('button', { name, exact: true });
	await letter('A').click();
	t.not((await styleOf(letter('A'))).backgroundColor, (await styleOf(letter('B'))).backgroundColor);
	const search = page.getByRole('searchbox', { name: 'Search' });
	const widthOf = (control: Locator) => control.evaluate((element) => getComputedStyle(element).outlineWidth);
	t.is((await styleOf(search)).outlineStyle, 'solid');
	t.is(await widthOf(search), '1px');
	await search.focus();
	t.is((await styleOf(search)).outlineStyle, 'solid');
	t.is(await widthOf(search), '2px', 'the focus');
	t.is((await styleOf(letter('Actions'))).outlineStyle, 'solid');

	await page.goto(manager.url);
	await page.getByRole('button', { name: manager.username }).waitFor();
	await page.setInputFiles('input[type=file]', { name: 'b.txt', mimeType: 'text/plain', buffer: Buffer.from('b') });
	const choice = (name: string) => page.getByRole('radio', { name });
	await eventually(t, () => choice('Private').getAttribute('aria-checked'), 'true');
	t.not((await styleOf(choice('Private'))).backgroundColor, (await styleOf(choice('Public'))).backgroundColor);
	t.is((await styleOf(letter('Upload All'))).outlineStyle, 'solid');
	t.deepEqual(manager.faults, []);
});
