import type { Page } from 'playwright-core';
import { nameIn, rowOf, settled } from './fileManager.js';

/** Ways to do the same things with files: by the mouse, and by the keyboard alone. */
export interface Hand {
	/** Chooses in the menu of the folder on screen. */
	inFolder(page: Page, item: string): Promise<void>;
	/** Chooses in the menu of an entry, or presses the key that does the same. */
	onEntry(page: Page, name: string, item: EntryAction): Promise<void>;
	open(page: Page, name: string): Promise<void>;
	goUp(page: Page): Promise<void>;
	/** Types into the open dialog, if it asks for something, and goes on. */
	confirm(page: Page, button: string, text?: string): Promise<void>;
	/** Leaves the open dialog. */
	cancel(page: Page): Promise<void>;
	toArea(page: Page, area: 'public' | 'private'): Promise<void>;
}

export type EntryAction =
	| 'Rename'
	| 'Cut'
	| 'Copy'
	| 'Delete'
	| 'Move to Public'
	| 'Move back to Private'
	| 'Copy Link';

export const mouse: Hand = {
	async inFolder(page, item) {
		const box = await page.getByRole('grid', { name: 'Files' }).boundingBox();
		if (!box) throw new Error('There is no list.');
		await page.mouse.click(box.x + 100, box.y + box.height - 20, { button: 'right' });
		await page.getByRole('menuitem', { name: item }).click();
	},
	async onEntry(page, name, item) {
		await nameIn(page, name).click({ button: 'right' });
		await page.getByRole('menuitem', { name: item, exact: true }).click();
	},
	async open(page, name) {
		await nameIn(page, name).click();
		await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText(name, { exact: true }).waitFor();
		await rowOf(page, 'Up Directory').waitFor();
	},
	async goUp(page) {
		const steps = page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link');
		const before = await steps.count();
		await rowOf(page, 'Up Directory').click();
		await steps.nth(before - 1).waitFor({ state: 'detached' });
	},
	async confirm(page, button, text) {
		const dialog = page.getByRole('dialog');
		if (text !== undefined) await dialog.getByRole('textbox').fill(text);
		await dialog.getByRole('button', { name: button, exact: true }).click();
		await settled(page);
	},
	async cancel(page) {
		await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
		await settled(page);
	},
	async toArea(page, area) {
		await page.getByRole('combobox', { name: 'Area' }).selectOption(area);
		await page.waitForURL(`**/browser?type=${area}`);
	},
};

const keys: Partial<Record<EntryAction, string>> = {
	Rename: 'F2',
	Cut: 'Control+x',
	Copy: 'Control+c',
	Delete: 'Delete',
};

export const keyboard: Hand = {
	async inFolder(page, item) {
		if (item === 'Paste') return page.keyboard.press('Control+v');
		await page.keyboard.press('Escape');
		await tabTo(page, 'Actions');
		await page.keyboard.press('Enter');
		await chooseByKeys(page, item);
	},
	async onEntry(page, name, item) {
		await walkTo(page, name);
		const key = keys[item];
		if (key !== undefined) return page.keyboard.press(key);
		await page.keyboard.press('Shift+F10');
		await chooseByKeys(page, item);
	},
	async open(page, name) {
		await walkTo(page, name);
		await page.keyboard.press('Enter');
		await page.getByRole('navigation', { name: 'Breadcrumbs' }).getByText(name, { exact: true }).waitFor();
		await rowOf(page, 'Up Directory').waitFor();
	},
	async goUp(page) {
		const steps = page.getByRole('navigation', { name: 'Breadcrumbs' }).getByRole('link');
		const before = await steps.count();
		await page.keyboard.press('Backspace');
		await steps.nth(before - 1).waitFor({ state: 'detached' });
	},
	async confirm(page, _button, text) {
		const dialog = page.getByRole('dialog');
		await dialog.locator(':focus').waitFor();
		if (text !== undefined) {
			await page.keyboard.press('Control+a');
			await page.keyboard.type(text);
		}
		// As long as a person holds it: by then the dialog may have gone.
		await page.keyboard.press('Enter', { delay: 80 });
		await settled(page);
	},
	async cancel(page) {
		await page.getByRole('dialog').locator(':focus').waitFor();
		await page.keyboard.press('Escape');
		await settled(page);
	},
	async toArea(page, area) {
		await tabTo(page, 'Area');
		await page.keyboard.press(area === 'public' ? 'ArrowUp' : 'ArrowDown');
		await page.waitForURL(`**/browser?type=${area}`);
	},
};

/** Brings the cursor to a row by typing the beginning of its name. */
async function walkTo(page: Page, name: string): Promise<void> {
	await rowOf(page, name).waitFor();
	await page.keyboard.press('Escape');
	if (!(await page.evaluate(() => document.activeElement?.closest('[role=grid]') !== null))) await tabTo(page, 'Files');
	// The first key of a list that nobody has walked yet only enters it, and ends what was typed before.
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Home');
	await typeInOneGo(page, name);
	await rowOf(page, name).and(page.locator(':focus')).waitFor();
}

/** Types letters at the pace of a person, of which the page hears as soon as it comes to them. */
export async function typeInOneGo(page: Page, text: string, hold = async () => {}): Promise<void> {
	const session = await page.context().newCDPSession(page);
	const letters = [...text];
	const last = Date.now() / 1000;
	for (const [index, key] of letters.entries()) {
		if (index > 0) await hold();
		const timestamp = last - (letters.length - index) * 0.05;
		await session.send('Input.dispatchKeyEvent', { type: 'keyDown', key, text: key, timestamp });
		await session.send('Input.dispatchKeyEvent', { type: 'keyUp', key, timestamp });
	}
	await session.detach();
}

/** Presses Tab, or Shift+Tab, until a control of that name has the focus; the list counts as one named `Files`. */
async function tabTo(page: Page, name: string): Promise<void> {
	const key = name === 'Files' ? 'Tab' : 'Shift+Tab';
	for (let steps = 0; steps < 60; steps++) {
		const focused = await page.evaluate(() => {
			const element = document.activeElement;
			if (element?.closest('[role=grid]')?.contains(element) && element.matches('[role=row], [role=grid]'))
				return 'Files';
			return element?.getAttribute('aria-label') ?? element?.textContent ?? '';
		});
		if (focused === name) return;
		await page.keyboard.press(key);
	}
	throw new Error(`The Tab key never comes to ${name}.`);
}

async function chooseByKeys(page: Page, item: string): Promise<void> {
	const wanted = page.getByRole('menuitem', { name: item, exact: true });
	await wanted.waitFor();
	for (let steps = 0; steps < 20; steps++) {
		if (await wanted.evaluate((element) => element === document.activeElement)) {
			await page.keyboard.press('Enter');
			return;
		}
		await page.keyboard.press('ArrowDown');
	}
	throw new Error(`The arrow keys never come to ${item}.`);
}
