import type { Locator, Page } from 'playwright-core';
import { nameIn, overlaysClosed, rowOf } from './fileManager.js';

/** The same operations by mouse and by keyboard alone. */
export interface InputMethod {
	/** Chooses an item in the menu of the folder on screen. */
	inFolder(page: Page, item: string): Promise<void>;
	/** Chooses an item in the menu of an entry, or presses its shortcut. */
	onEntry(page: Page, name: string, item: EntryAction): Promise<void>;
	open(page: Page, name: string): Promise<void>;
	goUp(page: Page): Promise<void>;
	/** Types into the open dialog, if it has a field, and confirms it. */
	confirm(page: Page, button: string, text?: string): Promise<void>;
	/** Cancels the open dialog. */
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

export const mouse: InputMethod = {
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
		await overlaysClosed(page);
	},
	async cancel(page) {
		await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
		await overlaysClosed(page);
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

export const keyboard: InputMethod = {
	async inFolder(page, item) {
		if (item === 'Paste') return page.keyboard.press('Control+v');
		await page.keyboard.press('Escape');
		await tabTo(page, 'Actions');
		await page.keyboard.press('Enter');
		await chooseByKeys(page, item);
	},
	async onEntry(page, name, item) {
		await moveCursorTo(page, name);
		const key = keys[item];
		if (key !== undefined) return page.keyboard.press(key);
		await page.keyboard.press('Shift+F10');
		await chooseByKeys(page, item);
	},
	async open(page, name) {
		await moveCursorTo(page, name);
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
		// Held as long as a person holds it, so the dialog may be closed before the key is released.
		await page.keyboard.press('Enter', { delay: 80 });
		await overlaysClosed(page);
	},
	async cancel(page) {
		await page.getByRole('dialog').locator(':focus').waitFor();
		await page.keyboard.press('Escape');
		await overlaysClosed(page);
	},
	async toArea(page, area) {
		await tabTo(page, 'Area');
		await page.keyboard.press(area === 'public' ? 'ArrowUp' : 'ArrowDown');
		await page.waitForURL(`**/browser?type=${area}`);
	},
};

/** Moves the cursor to a row by typing its name. */
async function moveCursorTo(page: Page, name: string): Promise<void> {
	await rowOf(page, name).waitFor();
	await page.keyboard.press('Escape');
	if (!(await page.evaluate(() => document.activeElement?.closest('[role=grid]') !== null))) await tabTo(page, 'Files');
	// In a list without a cursor the first key only enters it. It also ends a prefix that was typed before.
	await page.keyboard.press('ArrowDown');
	await page.keyboard.press('Home');
	await typeQuickly(page, name);
	await rowOf(page, name).and(page.locator(':focus')).waitFor();
}

/** Types letters with the timestamps of a person's typing, whenever the page handles them. */
export async function typeQuickly(page: Page, text: string, hold = async () => {}): Promise<void> {
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

/** Presses Tab or Shift+Tab until a control with that name has the focus; the list has the name `Files`. */
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
	throw new Error(`The Tab key never reaches ${name}.`);
}

async function chooseByKeys(page: Page, item: string): Promise<void> {
	const menuItem = page.getByRole('menuitem', { name: item, exact: true });
	await menuItem.waitFor();
	for (let steps = 0; steps < 20; steps++) {
		if (await menuItem.evaluate((element) => element === document.activeElement)) {
			await page.keyboard.press('Enter');
			return;
		}
		await page.keyboard.press('ArrowDown');
	}
	throw new Error(`The arrow keys never reach ${item}.`);
}

/** Presses an element with a finger until its menu is open. */
export async function longPress(page: Page, target: Locator): Promise<void> {
	const box = await target.boundingBox();
	if (!box) throw new Error('There is nothing to press.');
	const touchPoints = [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }];
	const session = await page.context().newCDPSession(page);
	await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
	await page.getByRole('menu').waitFor();
	await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}
