import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import type { Locator, Page, Route } from 'playwright-core';
import { isLong } from '../../long.js';
import { Authenticator, scan } from '../support/authenticator.js';
import { assertAccessible } from '../support/axe.js';
import { basePath, desktop, openPage, phone } from '../support/browser.js';
import { absent, eventually, eventuallyMatches, gone } from '../support/expect.js';
import { type FileManager, overlaysClosed, setUpFixture, withKeptContexts } from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';

const fixture = withKeptContexts(setUpFixture(test));
const password = 'correct horse';

function expectFocus(control: Locator): Promise<void> {
	return control.and(control.page().locator(':focus')).waitFor();
}

async function expectSelected(t: ExecutionContext, field: Locator, text: string): Promise<void> {
	await expectFocus(field);
	const selected = await field.evaluate((input: HTMLInputElement) =>
		input.value.slice(input.selectionStart ?? 0, input.selectionEnd ?? 0),
	);
	t.is(selected, text);
}

interface Section {
	dialog: Locator;
	section: Locator;
	heading: Locator;
	turnOn: Locator;
	turnOff: Locator;
	firstStep: Locator;
	qrCode: Locator;
	code: Locator;
	codes: Locator;
	currentPassword: Locator;
	alert: Locator;
	button(name: string): Locator;
}

async function openSection(page: Page): Promise<Section> {
	await page.getByRole('button', { name: 'Settings' }).click();
	const dialog = page.getByRole('dialog', { name: 'Settings' });
	const section = dialog.getByRole('region', { name: 'Two-factor sign-in' });
	const button = (name: string) => section.getByRole('button', { name, exact: true });
	await section.getByRole('button').first().waitFor();
	return {
		dialog,
		section,
		heading: section.getByRole('heading', { name: 'Two-factor sign-in' }),
		turnOn: button('Turn On'),
		turnOff: button('Turn Off'),
		firstStep: section.getByRole('heading', { name: 'Scan this with your authenticator app' }),
		qrCode: section.getByRole('img', { name: 'QR code for your authenticator app' }),
		code: section.getByRole('textbox', { name: 'Code' }),
		codes: section.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem'),
		currentPassword: section.getByLabel('Current password'),
		alert: section.getByRole('alert'),
		button,
	};
}

async function closeSettings(page: Page): Promise<void> {
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
}

/** A client of the API that is signed in as the user; by itself, or by the cookies of a page. */
async function signedInClient({ origin, username }: FileManager, page?: Page) {
	const json = { 'content-type': 'application/json' };
	const send = (path: string, payload: object, headers = {}) =>
		fetch(`${origin}/api/${path}`, {
			method: 'POST',
			headers: { ...json, ...headers },
			body: JSON.stringify(payload),
		});
	const signIn = async () => {
		const answer = await send('login', { username, password });
		if (!answer.ok) throw new Error(await answer.text());
		return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
	};
	const cookiesOf = async (page: Page) =>
		(await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
	const cookie = await (page === undefined ? signIn() : cookiesOf(page));
	return {
		async post(path: string, payload: object) {
			const answer = await send(path, payload, { cookie });
			if (!answer.ok) throw new Error(await answer.text());
			return answer.json();
		},
		async delete(path: string) {
			const answer = await fetch(`${origin}/api/${path}`, { method: 'DELETE', headers: { cookie } });
			if (!answer.ok) throw new Error(await answer.text());
		},
		/** The status of a sign-in with the password alone. */
		passwordStatus: async () => (await send('login', { username, password })).status,
	};
}

interface Factor {
	app: Authenticator;
	recoveryCodes: string[];
	/** The one that has turned it on. */
	usedCode: string;
}

async function turnOn(manager: FileManager): Promise<Factor> {
	const client = await signedInClient(manager);
	const { uri, recoveryCodes } = (await client.post('totp', {})) as { uri: string; recoveryCodes: string[] };
	const app = new Authenticator(uri);
	const usedCode = app.nextCode();
	await client.post('totp/confirm', { code: usedCode });
	return { app, recoveryCodes, usedCode };
}

const turnedOnAndOff = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport, hasTouch: viewport === phone });
	const page = await ada.open('/browser?type=private');
	const settings = await openSection(page);
	const { section, firstStep, qrCode, code, codes, alert, button } = settings;
	await section.scrollIntoViewIfNeeded();
	await assertAccessible(t, page, 'off');
	await settings.turnOn.press('Enter');
	await expectFocus(firstStep);
	await qrCode.waitFor();
	await assertAccessible(t, page, 'three steps');

	const uri = await scan(qrCode);
	const app = new Authenticator(uri);
	t.true(app.isFor(ada.username), uri);
	await page.emulateMedia({ forcedColors: 'active' });
	t.is(await scan(qrCode), uri, 'with forced colours');
	await page.emulateMedia({ forcedColors: 'none' });
	const key = section.locator('code');
	await eventuallyMatches(t, () => key.textContent(), /^(\w{4} )+\w{4}$/);
	await eventually(t, async () => (await key.textContent())?.replaceAll(' ', ''), app.secret);
	const recoveryCodes = await codes.allTextContents();
	t.is(recoveryCodes.length, 10);

	await firstStep.focus();
	if (viewport === phone) {
		await page.keyboard.press('Tab');
		await expectFocus(button('Open your authenticator app'));
		await eventually(t, () => button('Open your authenticator app').getAttribute('href'), uri);
	}
	await page.keyboard.press('Tab');
	await expectFocus(button('Copy key'));
	await page.keyboard.press('Enter');
	await section.getByRole('status').filter({ hasText: 'Copied to the clipboard' }).waitFor();
	await expectFocus(button('Copy key'));
	await code.focus();
	await page.keyboard.press('Control+v');
	await eventually(t, () => code.inputValue(), app.secret);
	await code.fill('');
	await button('Copy').focus();
	await page.keyboard.press('Enter');
	await section.getByRole('status').filter({ hasText: 'Copied to the clipboard' }).nth(1).waitFor();
	await expectFocus(button('Copy'));
	await code.focus();
	await page.keyboard.press('Control+v');
	await eventually(t, async () => (await code.inputValue()).replaceAll(' ', ''), recoveryCodes.join(''));
	await code.fill('');
	await button('Copy').focus();
	await page.keyboard.press('Tab');
	await expectFocus(button('Download'));
	const [download] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
	t.is(download.suggestedFilename(), `stowage-recovery-codes-${ada.username}.txt`);
	const text = await readFile(await download.path(), 'utf8');
	t.true(text.startsWith(`Recovery codes for ${ada.username} at ${new URL(ada.url).origin}\n`), text);
	t.true(text.endsWith(`\n\n${recoveryCodes.join('\n')}\n`), text);

	await page.keyboard.press('Tab');
	await expectFocus(code);
	await eventually(
		t,
		() => Promise.all(['autocomplete', 'inputmode', 'maxlength'].map((name) => code.getAttribute(name))),
		['one-time-code', 'numeric', null],
	);
	await eventually(t, () => button('Confirm').isDisabled(), true);
	const wrong = app.wrongCode();
	await page.keyboard.type(wrong);
	await page.keyboard.press('Enter');
	await alert.filter({ hasText: 'The code is wrong.' }).waitFor();
	await expectSelected(t, code, wrong);
	await eventually(t, () => code.getAttribute('aria-invalid'), 'true');
	await assertAccessible(t, page, 'wrong code');
	const [first, second] = (app.nextCode().match(/.{3}/g) ?? []) as [string, string];
	await page.keyboard.insertText(` ${first} ${second} `);
	await button('Confirm').press('Enter');
	const detail = 'All other sessions were ended. You need a code the next time you sign in.';
	await expectNotice(page, 'Two-factor sign-in is on', detail);
	await section.getByText('10 recovery codes left').waitFor();
	await expectFocus(settings.heading);
	await absent(t, section.getByText(recoveryCodes[0] as string));
	await assertAccessible(t, page, 'on');

	const question = page.getByRole('dialog', { name: 'Turn off two-factor sign-in' });
	const lastCode = question.getByRole('textbox', { name: 'Code' });
	await settings.turnOff.press('Enter');
	await expectFocus(lastCode);
	await eventually(t, () => lastCode.getAttribute('autocomplete'), 'one-time-code');
	await question.getByText('From your authenticator app, or a recovery code.').waitFor();
	await assertAccessible(t, page, 'question');
	await page.keyboard.press('Enter');
	await question.getByRole('alert').filter({ hasText: 'Please enter the code' }).waitFor();
	await expectFocus(lastCode);
	await page.keyboard.insertText(wrong);
	await page.keyboard.press('Enter');
	await question.getByRole('alert').filter({ hasText: 'The code is wrong or was used already.' }).waitFor();
	await expectSelected(t, lastCode, wrong);
	await eventually(t, () => lastCode.getAttribute('aria-invalid'), 'true');
	await assertAccessible(t, page, 'wrong code in the question');
	await page.keyboard.press('Escape');
	await question.waitFor({ state: 'detached' });
	await expectFocus(settings.turnOff);
	await page.keyboard.press('Enter');
	await expectFocus(lastCode);
	await eventually(t, () => lastCode.inputValue(), '');
	await page.keyboard.insertText(viewport === phone ? (recoveryCodes[1] as string) : app.nextCode());
	await page.keyboard.press('Enter');
	await expectNotice(page, 'Two-factor sign-in is off');
	await question.waitFor({ state: 'detached' });
	await expectFocus(settings.heading);
	await settings.turnOn.waitFor();
	t.is(await (await signedInClient(ada)).passwordStatus(), 200);
	t.deepEqual(ada.faults, []);
};

test.serial('two-factor sign-in is turned on and off by the keyboard on a desktop', turnedOnAndOff, desktop);
if (isLong) test.serial('two-factor sign-in is turned on and off by the keyboard on a phone', turnedOnAndOff, phone);

const signsIn = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport, hasTouch: viewport === phone, isVisitor: true });
	const { app, recoveryCodes, usedCode } = await turnOn(ada);
	const { page } = await openPage(ada.context, ada.url, ada.faults);
	const dialog = page.getByRole('dialog', { name: 'Sign In' });
	const name = dialog.getByLabel('Username');
	const secret = dialog.getByLabel('Password', { exact: true });
	const code = dialog.getByRole('textbox', { name: 'Code' });
	const submit = dialog.getByRole('button', { name: 'Sign In' });
	const alert = dialog.getByRole('alert');
	const enterPassword = async () => {
		await page.getByRole('button', { name: 'Sign In' }).click();
		await name.fill(ada.username);
		await secret.fill(password);
		await absent(t, code);
		await submit.click();
		await expectFocus(code);
	};

	await enterPassword();
	await absent(t, alert);
	await eventually(t, async () => [await name.inputValue(), await secret.inputValue()], [ada.username, password]);
	await eventually(t, () => code.getAttribute('autocomplete'), 'one-time-code');
	await eventually(t, () => code.getAttribute('inputmode'), null, 'recovery codes have letters');
	await dialog.getByText('From your authenticator app, or a recovery code.').waitFor();
	await eventually(t, () => submit.isDisabled(), true);
	await assertAccessible(t, page, 'code');
	await code.fill(usedCode);
	await submit.click();
	await alert.filter({ hasText: 'Login failed: The code is wrong or was used already.' }).waitFor();
	await expectSelected(t, code, usedCode);
	await assertAccessible(t, page, 'wrong code');
	await dialog.getByRole('button', { name: 'Cancel' }).click();
	await overlaysClosed(page);

	await page.getByRole('button', { name: 'Sign In' }).click();
	await expectFocus(name);
	await eventually(t, async () => [await name.inputValue(), await secret.inputValue()], ['', '']);
	await absent(t, code);
	await absent(t, alert);
	await page.keyboard.press('Escape');
	await overlaysClosed(page);

	await enterPassword();
	await page.keyboard.insertText(` ${app.nextCode()} `);
	await page.keyboard.press('Enter');
	await overlaysClosed(page);
	await page.getByRole('button', { name: ada.username }).click();
	await page.getByRole('menuitem', { name: 'Logout' }).click();

	await enterPassword();
	await page.keyboard.insertText((recoveryCodes[3] as string).toLowerCase());
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: ada.username }).waitFor();
	await overlaysClosed(page);
	await page.goto(`${ada.url}/browser?type=private`);
	const { section } = await openSection(page);
	await section.getByText('9 recovery codes left').waitFor();
	t.deepEqual(ada.faults, []);
};

test.serial('a user signs in with a code of the app and with a recovery code on a desktop', signsIn, desktop);
test.serial('a user signs in with a code of the app and with a recovery code on a phone', signsIn, phone);

test.serial('another user name in the sign-in dialog discards the code field', async (t) => {
	const ada = await fixture.enter(t, { isVisitor: true });
	await turnOn(ada);
	const bob = await fixture.enter(t, { isVisitor: true });
	const { page } = await openPage(ada.context, ada.url, ada.faults);
	await page.getByRole('button', { name: 'Sign In' }).click();
	const dialog = page.getByRole('dialog', { name: 'Sign In' });
	const code = dialog.getByRole('textbox', { name: 'Code' });
	await dialog.getByLabel('Username').fill(ada.username);
	await dialog.getByLabel('Password', { exact: true }).fill(password);
	await page.keyboard.press('Enter');
	await code.fill('000000');
	await dialog.getByLabel('Username').fill(bob.username);
	await gone(t, code);
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: bob.username }).waitFor();
	t.deepEqual(ada.faults, []);
});

test.serial('a sign-in is aborted when its form changes or closes', async (t) => {
	const ada = await fixture.enter(t, { isVisitor: true });
	await turnOn(ada);
	const bob = await fixture.enter(t, { isVisitor: true });
	const { page } = await openPage(ada.context, ada.url, ada.faults);
	const dialog = page.getByRole('dialog');
	const name = dialog.getByLabel('Username');
	const secret = dialog.getByLabel('Password', { exact: true });
	const code = dialog.getByRole('textbox', { name: 'Code' });
	const submit = dialog.getByRole('button', { name: 'Sign In' });
	const busy = dialog.getByRole('button', { name: 'Please wait...' });
	const openDialog = () => page.getByRole('button', { name: 'Sign In' }).click();
	let calls = 0;
	page.on('request', (request) => {
		if (request.url().endsWith('/api/login')) calls++;
	});
	/** Changes the dialog while the request of a sign-in is held, and lets it continue when the page has aborted it. */
	const changeWhileBusy = async (username: string, change: () => Promise<void>) => {
		let release = () => {};
		const released = new Promise<void>((resolve) => {
			release = resolve;
		});
		const hold = async (route: Route) => {
			await released;
			await route.continue().catch(() => {});
		};
		await page.route('**/api/login', hold, { times: 1 });
		await name.fill(username);
		await secret.fill(password);
		const callsBefore = calls;
		await page.keyboard.press('Enter');
		await page.keyboard.press('Enter');
		await busy.waitFor();
		const aborted = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/login'));
		await Promise.all([aborted, change()]);
		release();
		t.is(calls, callsBefore + 1, 'a second Enter makes no request');
		await busy.waitFor({ state: 'detached' });
	};

	await openDialog();
	await changeWhileBusy(ada.username, () => dialog.getByRole('button', { name: 'Create one' }).click());
	await page.getByRole('dialog', { name: 'Sign Up' }).waitFor();
	await absent(t, code, 'another mode');
	await dialog.getByRole('button', { name: 'Use my account' }).click();

	await changeWhileBusy(ada.username, () => name.fill(bob.username));
	await submit.and(page.locator(':enabled')).waitFor();
	await absent(t, code, 'another name');
	await changeWhileBusy(ada.username, () => secret.fill('another password'));
	await submit.and(page.locator(':enabled')).waitFor();
	await absent(t, code, 'another password');

	const cancel = () => dialog.getByRole('button', { name: 'Cancel' }).click();
	for (const close of [cancel, () => page.keyboard.press('Escape')]) {
		await changeWhileBusy(ada.username, close);
		await overlaysClosed(page);
		await openDialog();
		await expectFocus(name);
		await eventually(t, async () => [await name.inputValue(), await secret.inputValue(), await code.count()], [
			'',
			'',
			0,
		]);
	}
	await changeWhileBusy(bob.username, cancel);
	await overlaysClosed(page);
	await page.reload();
	await openDialog();
	await name.fill(bob.username);
	await secret.fill(password);
	await page.keyboard.press('Enter');
	await page.getByRole('button', { name: bob.username }).waitFor();
	t.deepEqual(ada.faults, []);
});

test.serial('a page shows the session of a cancelled sign-in that the server has accepted', async (t) => {
	const ada = await fixture.enter(t, { isVisitor: true });
	const { page } = await openPage(ada.context, ada.url, ada.faults);
	const dialog = page.getByRole('dialog', { name: 'Sign In' });
	await page.getByRole('button', { name: 'Sign In' }).click();
	// Of this request. The same one of another page reaches the server, and the cookie is both pages'.
	await page.route('**/api/login', () => {});
	await dialog.getByLabel('Username').fill(ada.username);
	await dialog.getByLabel('Password', { exact: true }).fill(password);
	await page.keyboard.press('Enter');
	await dialog.getByRole('button', { name: 'Please wait...' }).waitFor();
	const { page: other } = await openPage(ada.context, ada.url, ada.faults);
	const status = await other.evaluate(
		async ({ address, body }) => {
			const headers = { 'content-type': 'application/json' };
			return (await fetch(address, { method: 'POST', headers, body })).status;
		},
		{ address: `${basePath}/api/login`, body: JSON.stringify({ username: ada.username, password }) },
	);
	t.is(status, 200);
	await page.keyboard.press('Escape');
	await page.getByRole('button', { name: ada.username }).waitFor();
	await overlaysClosed(page);
	t.deepEqual(ada.faults, []);
});

test.serial('two-factor sign-in that is not confirmed stays off, and starts again with another secret', async (t) => {
	const ada = await fixture.enter(t);
	const client = await signedInClient(ada);
	const page = await ada.open('/browser?type=private');
	const { turnOn, qrCode, codes, button, heading } = await openSection(page);
	await turnOn.click();
	const discarded = new Authenticator(await scan(qrCode));
	const discardedCodes = await codes.allTextContents();
	await page.mouse.click(5, 400);
	await button('Copy').click();
	await eventually(t, () => codes.allTextContents(), discardedCodes, 'a click beside the dialog discards nothing');
	await closeSettings(page);
	t.is(await client.passwordStatus(), 200);

	await openSection(page);
	await turnOn.click();
	t.not(new Authenticator(await scan(qrCode)).secret, discarded.secret);
	await eventually(t, async () => isDeepStrictEqual(await codes.allTextContents(), discardedCodes), false);
	await button('Cancel').press('Enter');
	await turnOn.waitFor();
	await expectFocus(heading);
	t.is(await client.passwordStatus(), 200);

	t.deepEqual(ada.faults, []);
});

const needsPassword = (route: Route) =>
	route.fulfill({
		status: 401,
		json: { statusCode: 401, code: 'PASSWORD_REQUIRED', error: 'Unauthorized', message: 'Please enter your password.' },
	});

test.serial('a user who signed in a while ago confirms the password to turn it on and off', async (t) => {
	const ada = await fixture.enter(t);
	const page = await ada.open('/browser?type=private');
	const settings = await openSection(page);
	const { turnOn, turnOff, currentPassword, alert, button, qrCode, code } = settings;
	// A session of this test is never older than ten minutes.
	await page.route('**/api/totp', async (route) => {
		const request = route.request();
		if (request.method() === 'GET' || request.postDataJSON().currentPassword !== undefined) await route.fallback();
		else await needsPassword(route);
	});
	await turnOn.press('Enter');
	await expectFocus(currentPassword);
	await absent(t, alert);
	await eventually(t, () => turnOn.isDisabled(), true);
	await assertAccessible(t, page, 'password');
	await button('Cancel').press('Enter');
	await expectFocus(turnOn);
	await gone(t, currentPassword);
	await page.keyboard.press('Enter');
	await currentPassword.fill('not the password');
	await turnOn.press('Enter');
	await alert.filter({ hasText: 'The current password is wrong.' }).waitFor();
	await expectSelected(t, currentPassword, 'not the password');
	await assertAccessible(t, page, 'wrong password');
	await currentPassword.fill(password);
	await currentPassword.press('Enter');
	await expectFocus(settings.firstStep);
	const app = new Authenticator(await scan(qrCode));
	await code.fill(app.nextCode());
	await code.press('Enter');
	await expectNotice(page, 'Two-factor sign-in is on');

	const question = page.getByRole('dialog', { name: 'Turn off two-factor sign-in' });
	const field = question.getByLabel('Current password');
	await turnOff.press('Enter');
	await question.getByRole('textbox', { name: 'Code' }).fill(app.nextCode());
	await question.getByRole('button', { name: 'Turn Off' }).press('Enter');
	await expectFocus(field);
	await assertAccessible(t, page, 'password in the question');
	await field.fill('not the password');
	await field.press('Enter');
	await question.getByRole('alert').filter({ hasText: 'The current password is wrong.' }).waitFor();
	await expectSelected(t, field, 'not the password');
	await field.fill(password);
	await field.press('Enter');
	await expectNotice(page, 'Two-factor sign-in is off');
	await question.waitFor({ state: 'detached' });
	await expectFocus(settings.heading);
	t.deepEqual(ada.faults, []);
});

test.serial('a page is signed out when the answer that turned two-factor sign-in on was lost', async (t) => {
	const ada = await fixture.enter(t);
	const page = await ada.open('/browser?type=private');
	const { turnOn, qrCode, code } = await openSection(page);
	await turnOn.click();
	const app = new Authenticator(await scan(qrCode));
	await page.route('**/api/totp/confirm', async (route) => {
		// The cookie of the new session does not reach the page.
		const client = await signedInClient(ada, page);
		await client.post('totp/confirm', route.request().postDataJSON());
		await route.abort();
	});
	await code.fill(app.nextCode());
	await code.press('Enter');
	await page.getByRole('button', { name: 'Sign In' }).waitFor();
	t.deepEqual(ada.faults, []);
});

test.serial(
	'turning two-factor sign-in on signs other pages of the user out, and this one stays signed in',
	async (t) => {
		const ada = await fixture.enter(t);
		const page = await ada.open('/browser?type=private');
		const { turnOn, turnOff, qrCode, code, dialog } = await openSection(page);
		const sessions = dialog.getByRole('region', { name: 'My sessions' });
		const other = await signedInClient(ada);
		await closeSettings(page);
		await openSection(page);
		await sessions.getByRole('listitem').nth(1).waitFor();
		await turnOn.click();
		await code.fill(new Authenticator(await scan(qrCode)).nextCode());
		await code.press('Enter');
		await turnOff.waitFor();
		await sessions.getByRole('listitem').nth(1).waitFor({ state: 'detached' });
		await eventually(t, () => sessions.getByRole('listitem').count(), 1);
		await t.throwsAsync(() => other.delete('totp'), { message: /NOT_SIGNED_IN/ });
		await closeSettings(page);
		await page.getByRole('button', { name: ada.username }).waitFor();
		t.deepEqual(ada.faults, []);
	},
);

test.serial('a setup that was discarded or confirmed elsewhere is closed, with the reason', async (t) => {
	const ada = await fixture.enter(t);
	const client = await signedInClient(ada);
	const page = await ada.open('/browser?type=private');
	const { section, turnOn, turnOff, qrCode, code, codes, alert, heading } = await openSection(page);
	await turnOn.click();
	const discarded = new Authenticator(await scan(qrCode));
	await client.delete('totp');
	await code.fill(discarded.nextCode());
	await code.press('Enter');
	await alert.filter({ hasText: 'Two-factor sign-in was not set up yet.' }).waitFor();
	await turnOn.waitFor();
	await gone(t, qrCode);
	await gone(t, codes);
	await expectFocus(heading);
	await assertAccessible(t, page, 'discarded');

	await turnOn.press('Enter');
	await qrCode.waitFor();
	await client.post('totp', {});
	await code.fill('123456');
	await code.press('Enter');
	await alert.filter({ hasText: 'Two-factor sign-in was begun anew elsewhere.' }).waitFor();
	await turnOn.waitFor();

	await turnOn.press('Enter');
	const app = new Authenticator(await scan(qrCode));
	t.not(app.secret, discarded.secret);
	await absent(t, alert);
	// The end of the old session arrives before the cookie of the new one: a check in between would find nobody signed in.
	let replace = () => {};
	const replaced = new Promise<void>((resolve) => {
		replace = resolve;
	});
	await page.route('**/api/checkLoginStatus', async (route) => {
		await replaced;
		await route.continue();
	});
	// Another page of this browser, which has the same cookies.
	const { page: other } = await openPage(ada.context, ada.url, ada.faults);
	const status = await other.evaluate(
		async ({ address, body }) => {
			const headers = { 'content-type': 'application/json' };
			return (await fetch(address, { method: 'POST', headers, body })).status;
		},
		{ address: `${basePath}/api/totp/confirm`, body: JSON.stringify({ code: app.nextCode() }) },
	);
	t.is(status, 200);
	replace();
	await code.fill(app.nextCode());
	await code.press('Enter');
	await turnOff.waitFor();
	await alert.filter({ hasText: 'Two-factor sign-in is on already.' }).waitFor();
	await section.getByText('10 recovery codes left').waitFor();
	await gone(t, qrCode);
	await gone(t, codes);
	await expectFocus(heading);
	t.deepEqual(ada.faults, []);
});

test.serial('failures of two-factor sign-in show the reason, keep the focus, and can be tried again', async (t) => {
	const ada = await fixture.enter(t);
	const page = await ada.open('/browser?type=private');
	const refuse = (route: Route) =>
		route.fulfill({
			status: 507,
			json: { statusCode: 507, code: 'STORAGE_FULL', error: 'x', message: 'It is full.' },
		});
	await page.route('**/api/totp', refuse, { times: 1 });
	const { section, turnOn, turnOff, qrCode, code, alert, button, heading, firstStep } = await openSection(page);
	await alert.filter({ hasText: 'Error loading two-factor sign-in' }).filter({ hasText: 'It is full.' }).waitFor();
	await assertAccessible(t, page, 'not loaded');
	await button('Try Again').press('Enter');
	await turnOn.waitFor();
	await expectFocus(heading);
	await page.route('**/api/totp', refuse, { times: 1 });
	await turnOn.press('Enter');
	await alert.filter({ hasText: 'It is full.' }).waitFor();
	await expectFocus(turnOn);
	await page.keyboard.press('Enter');
	await expectFocus(firstStep);
	await page.route('**/api/totp/confirm', refuse, { times: 1 });
	await code.fill(new Authenticator(await scan(qrCode)).nextCode());
	await code.press('Enter');
	await alert.filter({ hasText: 'It is full.' }).waitFor();
	await expectFocus(code);
	await page.keyboard.press('Enter');
	await expectNotice(page, 'Two-factor sign-in is on');

	await page.route('**/api/totp', refuse, { times: 1 });
	await turnOff.press('Enter');
	const question = page.getByRole('dialog', { name: 'Turn off two-factor sign-in' });
	const confirm = question.getByRole('button', { name: 'Turn Off' });
	await question.getByRole('textbox', { name: 'Code' }).fill('123456');
	await confirm.press('Enter');
	await question.getByRole('alert').filter({ hasText: 'It is full.' }).waitFor();
	await expectFocus(confirm);
	await page.keyboard.press('Escape');
	await question.waitFor({ state: 'detached' });
	await expectFocus(turnOff);

	await closeSettings(page);
	const few = { isEnabled: true, recoveryCodesLeft: 2 };
	await page.route('**/api/totp', (route) => route.fulfill({ json: few }), { times: 1 });
	await openSection(page);
	await section.getByText('2 recovery codes left').waitFor();
	await section.getByText('You are running out of recovery codes.').waitFor();
	await assertAccessible(t, page, 'few recovery codes');
	t.deepEqual(ada.faults, []);
});
