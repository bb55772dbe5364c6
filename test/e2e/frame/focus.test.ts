import { rm } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Locator, Page } from 'playwright-core';
import { openPage } from '../support/browser.js';
import { absent, eventually } from '../support/expect.js';
import { nameIn, rowOf, setUpFixture, withKeptContexts, writeFiles } from '../support/fileManager.js';

const fixture = setUpFixture(test);
const kept = withKeptContexts(fixture);

/** The landing page in a browser that has nothing of it, and a user who can sign in. */
async function openLanding(t: ExecutionContext): Promise<{ page: Page; faults: string[]; username: string }> {
	const { context, url, username } = await fixture.enter(t, { isVisitor: true });
	return { ...(await openPage(context, url)), username };
}

async function signIn(page: Page, username: string, password: string): Promise<void> {
	const dialog = page.getByRole('dialog', { name: 'Sign In' });
	await dialog.getByLabel('Username').fill(username);
	await dialog.getByLabel('Password').fill(password);
	await dialog.getByRole('button', { name: 'Sign In' }).click();
}

function expectFocus(control: Locator): Promise<void> {
	return control.and(control.page().locator(':focus')).waitFor();
}

test.serial('a closed dialog restores the focus to the button that opened it, each time', async (t) => {
	const { page, faults } = await openLanding(t);
	const button = page.getByRole('button', { name: 'Sign In' });
	const dialog = page.getByRole('dialog');
	for (const leave of [
		() => page.keyboard.press('Escape'),
		() => dialog.getByRole('button', { name: 'Cancel' }).click(),
		() => page.keyboard.press('Escape'),
	]) {
		await button.click();
		await expectFocus(dialog.getByLabel('Username'));
		await leave();
		await dialog.waitFor({ state: 'detached' });
		await expectFocus(button);
	}

	await page.setInputFiles('input[type=file]', [
		{ name: 'one.txt', mimeType: 'text/plain', buffer: Buffer.from('one') },
		{ name: 'two.txt', mimeType: 'text/plain', buffer: Buffer.from('two') },
	]);
	const remove = page.getByRole('main').getByRole('button', { name: 'Remove' });
	for (let times = 0; times < 2; times++) {
		await remove.nth(1).click();
		await expectFocus(dialog.getByRole('button', { name: 'Remove' }));
		await page.keyboard.press('Escape');
		await dialog.waitFor({ state: 'detached' });
		await expectFocus(remove.nth(1));
	}
	await remove.nth(1).click();
	await dialog.getByRole('button', { name: 'Remove' }).click();
	await dialog.waitFor({ state: 'detached' });
	await expectFocus(remove);
	await page.getByLabel('File name').fill('another');
	await page.getByRole('button', { name: 'Restore original name' }).click();
	await expectFocus(page.getByLabel('File name'));
	await eventually(t, () => page.getByLabel('File name').inputValue(), 'one');
	t.deepEqual(faults, []);
});

test.serial(
	'a button that is disabled while its request runs leaves the focus in its dialog, which Escape closes',
	async (t) => {
		const { page, faults, username } = await openLanding(t);
		const dialog = page.getByRole('dialog', { name: 'Sign In' });
		const busy = dialog.getByRole('button', { name: 'Please wait...' });
		const isOnDialog = () =>
			page.evaluate(() => {
				const { activeElement, body } = document;
				return activeElement !== body && activeElement?.querySelector('[role="dialog"]') !== null;
			});
		let release = () => {};
		const isReleased = new Promise<void>((resolve) => {
			release = resolve;
		});
		await page.getByRole('button', { name: 'Sign In' }).click();
		await page.route('**/api/login', () => {});
		await signIn(page, username, 'wrong password');
		await busy.waitFor();
		await eventually(t, isOnDialog, true);
		await page.keyboard.press('Escape');
		await dialog.waitFor({ state: 'detached' });
		await page.unroute('**/api/login');

		await page.getByRole('button', { name: 'Sign In' }).click();
		await page.route('**/api/login', async (route) => {
			await isReleased;
			await route.fulfill({ status: 401, json: { message: 'Invalid username or password' } });
		});
		await signIn(page, username, 'wrong password');
		await busy.waitFor();
		await eventually(t, isOnDialog, true);
		release();
		await dialog.getByRole('alert').waitFor();
		await expectFocus(dialog.getByLabel('Password'));
		t.deepEqual(faults, []);
	},
);

test.serial(
	'signing in moves the focus to the account button, whose menu also opens if it was pressed before it was loaded',
	async (t) => {
		const { page, faults, username } = await openLanding(t);
		let load = () => {};
		const pressed = new Promise<void>((resolve) => {
			load = resolve;
		});
		await page.route('**/UserMenu*.js', async (route) => {
			await pressed;
			await route.continue();
		});
		await page.getByRole('button', { name: 'Sign In' }).click();
		await signIn(page, username, 'not the password');
		await page.getByText('Login failed: Invalid username or password').waitFor();
		await expectFocus(page.getByLabel('Password'));
		await signIn(page, username, 'correct horse');
		await page.getByRole('button', { name: username }).click();
		load();
		await expectFocus(page.getByRole('menuitem', { name: 'My Files' }));
		await page.getByRole('menuitem', { name: 'Logout' }).click();
		await expectFocus(page.getByRole('button', { name: 'Sign In' }));
		await page.keyboard.press('Enter');
		await signIn(page, username, 'correct horse');
		await page.getByRole('dialog').waitFor({ state: 'detached' });
		await expectFocus(page.getByRole('button', { name: username }));
		await absent(t, page.getByRole('menu'));
		t.deepEqual(faults, []);
	},
);

test.serial('the Tab key goes round a dialog from control to control, both ways', async (t) => {
	const manager = await fixture.enter(t);
	await writeFiles(manager.home, { 'a.txt': 'x' });
	const page = await manager.open('/browser?type=private');
	const dialog = page.getByRole('dialog');
	const goRound = async (controls: readonly Locator[]) => {
		for (const control of controls) {
			await expectFocus(control);
			await page.keyboard.press('Tab');
		}
		for (const control of [controls[0], ...controls.toReversed()]) {
			await expectFocus(control as Locator);
			await page.keyboard.press('Shift+Tab');
		}
		await page.keyboard.press('Escape');
		await dialog.waitFor({ state: 'detached' });
	};
	const button = (name: string) => dialog.getByRole('button', { name, exact: true });
	await rowOf(page, 'a.txt').focus();
	await page.keyboard.press('F2');
	await goRound([dialog.getByLabel('New name'), button('Cancel'), button('Rename')]);

	await rowOf(page, 'a.txt').focus();
	await page.keyboard.press('ContextMenu');
	await page.getByRole('menuitem', { name: 'Temporary Link' }).click();
	await expectFocus(button('Generate Link'));
	await page.keyboard.press('Tab');
	await goRound([dialog.getByRole('radio', { name: '1 hour' }), button('Cancel'), button('Generate Link')]);

	await page.getByRole('button', { name: 'Filters' }).focus();
	await page.keyboard.press('Enter');
	await expectFocus(dialog.getByRole('checkbox', { name: 'Folder' }));
	await page.keyboard.press('Shift+Tab');
	await expectFocus(button('Apply'));
	await page.keyboard.press('Tab');
	await expectFocus(dialog.getByRole('checkbox', { name: 'Folder' }));
	t.deepEqual(manager.faults, []);
});

test.serial('the account menu and what it opens restore the focus to its button, each time', async (t) => {
	const manager = await fixture.enter(t);
	const page = await manager.open('/browser?type=private');
	const button = page.getByRole('button', { name: manager.username });
	const menu = page.getByRole('menu');
	const dialog = page.getByRole('dialog');
	for (const key of ['Escape', 'Tab', 'Escape']) {
		await button.focus();
		await page.keyboard.press('Enter');
		await expectFocus(page.getByRole('menuitem', { name: 'My Files' }));
		await page.keyboard.press(key);
		await menu.waitFor({ state: 'detached' });
		await expectFocus(button);
	}
	for (const [item, first] of [
		['Settings', dialog.getByRole('switch', { name: 'Ask before download' })],
		['My links', dialog.getByRole('button', { name: 'Close' })],
		['Activity', dialog.getByRole('button', { name: 'Close' })],
	] as const) {
		// The second time it is loaded, and opens while the menu still fades out.
		for (let times = 0; times < 2; times++) {
			await button.click();
			await page.getByRole('menuitem', { name: item }).click();
			await menu.waitFor({ state: 'detached' });
			await expectFocus(first);
			await page.keyboard.press('Escape');
			await dialog.waitFor({ state: 'detached' });
			await expectFocus(button);
		}
	}
	t.deepEqual(manager.faults, []);
});

test.serial(
	'the first control of a dialog within a dialog has the focus also where frames are drawn late',
	async (t) => {
		const manager = await fixture.enter(t);
		const body = JSON.stringify({ username: manager.username, password: 'correct horse' });
		await fetch(`${manager.origin}/api/login`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body,
		});
		const page = await manager.open('/browser?type=private');
		await page.getByRole('button', { name: manager.username }).click();
		await page.getByRole('menuitem', { name: 'Settings' }).click();
		const endOthers = page.getByRole('button', { name: 'End all other sessions' });
		await endOthers.waitFor();
		await page.evaluate(() => {
			const request = window.requestAnimationFrame;
			window.requestAnimationFrame = (callback) => window.setTimeout(() => request(callback), 400);
		});
		const question = page.getByRole('dialog', { name: 'End all other sessions' });
		for (let times = 0; times < 2; times++) {
			await endOthers.click();
			await question.waitFor();
			await page.evaluate(async () => {
				for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
			});
			await expectFocus(question.getByRole('button', { name: 'End sessions' }));
			await page.keyboard.press('Escape');
			await question.waitFor({ state: 'detached' });
			await expectFocus(endOthers);
		}
		t.deepEqual(manager.faults, []);
	},
);

test.serial('a menu that opens while a dialog fades out gets the keyboard input', async (t) => {
	const manager = await kept.enter(t);
	await writeFiles(manager.home, { 'a.txt': 'a', 'b.txt': 'b' });
	const page = await manager.open('/browser?type=private');
	const menu = page.getByRole('menu');
	for (const frames of [0, 2, 5, 8]) {
		await nameIn(page, 'a.txt').click({ modifiers: ['Control'] });
		await page.keyboard.press('F2');
		await expectFocus(page.getByLabel('New name'));
		await page.keyboard.press('Escape');
		await drawFrames(page, frames);
		await nameIn(page, 'b.txt').click({ button: 'right' });
		await menu.waitFor();
		await page.getByRole('dialog').waitFor({ state: 'detached' });
		await page.keyboard.press('Escape');
		await menu.waitFor({ state: 'detached' });
		await eventually(t, () => page.getByText('1 Selected').count(), 1, 'Escape closed only the menu');
		await page.keyboard.press('Escape');
	}
	t.deepEqual(manager.faults, []);
});

test.serial('a dialog that closes after the folder behind it is gone leaves the focus in the page', async (t) => {
	const manager = await kept.enter(t);
	for (const [opening, dialogName] of [
		['Enter', 'a.txt'],
		['F2', 'Rename'],
		['Delete', 'Delete'],
	] as const) {
		await writeFiles(manager.home, { 'docs/a.txt': 'a' });
		const page = await manager.open('/browser/docs?type=private');
		await rowOf(page, 'a.txt').focus();
		await page.keyboard.press(opening);
		const dialog = page.getByRole('dialog', { name: dialogName });
		await dialog.waitFor();
		await rm(path.join(manager.home, 'docs'), { recursive: true });
		await page.getByText('Error loading files').waitFor();
		await page.keyboard.press('Escape');
		await dialog.waitFor({ state: 'detached' });
		await expectFocus(page.locator('#content'));
		await page.close();
	}
	t.pass();
});

test.serial('nothing that gets the focus lies below the header, also when the page is zoomed in', async (t) => {
	const { page, faults } = await openLanding(t);
	await page.setViewportSize({ width: 640, height: 400 });
	const main = page.getByRole('main');
	const files = Array.from({ length: 12 }, (_, index) => ({ name: `${index}.txt`, mimeType: 'text/plain' }));
	await page.setInputFiles(
		'input[type=file]',
		files.map((file) => ({ ...file, buffer: Buffer.from('x') })),
	);
	const headerEnd = await page.getByRole('banner').evaluate((header) => header.getBoundingClientRect().bottom);
	await main.getByRole('button', { name: 'Upload All' }).focus();
	const chooseFiles = main.getByRole('button', { name: 'Choose Files' });
	for (let times = 0; times < 60 && (await chooseFiles.and(page.locator(':focus')).count()) === 0; times++) {
		await page.keyboard.press('Shift+Tab');
		const isBelow = () =>
			page.evaluate((end) => (document.activeElement?.getBoundingClientRect().top ?? 0) >= end, headerEnd);
		// The list of files is higher than the window.
		if ((await page.locator('[role=group]:focus').count()) === 0) await eventually(t, isBelow, true);
	}
	await expectFocus(chooseFiles);
	t.deepEqual(faults, []);
});

test.serial('the reason why a form was refused is seen in a low window, too', async (t) => {
	const { page, faults } = await openLanding(t);
	await page.setViewportSize({ width: 640, height: 400 });
	await page.getByRole('button', { name: 'Sign Up' }).click();
	const dialog = page.getByRole('dialog', { name: 'Sign Up' });
	await dialog.getByLabel('Username').fill('eve');
	await dialog.getByLabel('Password', { exact: true }).fill('correct horse');
	await dialog.getByLabel('Confirm Password').fill('wrong horse');
	await dialog.getByLabel('Confirm Password').press('Enter');
	const reason = dialog.getByText('Passwords do not match');
	const isSeen = () => reason.evaluate((element) => element.getBoundingClientRect().bottom <= window.innerHeight);
	await eventually(t, isSeen, true);
	t.deepEqual(faults, []);
});

/** Waits until the page was drawn so often, which tells how far it has faded something out. */
async function drawFrames(page: Page, count: number): Promise<void> {
	await page.evaluate(async (frames) => {
		for (let drawn = 0; drawn < frames; drawn++) await new Promise(requestAnimationFrame);
	}, count);
}
