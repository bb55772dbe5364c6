import test, { type ExecutionContext } from 'ava';
import type { Locator, Page } from 'playwright-core';
import { isLong } from '../../long.js';
import { assertAccessible } from '../support/axe.js';
import { desktop, phone } from '../support/browser.js';
import { absent, eventually, eventuallyMatches, gone } from '../support/expect.js';
import { type FileManager, overlaysClosed, setUpFixture, withKeptContexts } from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';

const fixture = withKeptContexts(setUpFixture(test));

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0';
const safari =
	'Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1';

/** Another client of the same user. */
interface OtherClient {
	/** The status of a request that only a signed-in user may make. */
	status(): Promise<number>;
	end(): Promise<void>;
}

async function signInElsewhere({ origin, username }: FileManager, userAgent: string): Promise<OtherClient> {
	const headers = { 'user-agent': userAgent };
	const answer = await fetch(`${origin}/api/login`, {
		method: 'POST',
		headers: { ...headers, 'content-type': 'application/json' },
		body: JSON.stringify({ username, password: 'correct horse' }),
	});
	if (!answer.ok) throw new Error(await answer.text());
	const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
	return {
		status: async () => (await fetch(`${origin}/api/sessions`, { headers: { ...headers, cookie } })).status,
		end: async () => void (await fetch(`${origin}/api/logout`, { headers: { ...headers, cookie } })),
	};
}

async function openSettings(page: Page): Promise<Locator> {
	await page.getByRole('button', { name: 'Settings' }).click();
	return page.getByRole('dialog', { name: 'Settings' });
}

function expectFocus(control: Locator): Promise<void> {
	return control.and(control.page().locator(':focus')).waitFor();
}

function passwordSection(dialog: Locator) {
	const section = dialog.getByRole('region', { name: 'Password' });
	return {
		section,
		current: section.getByLabel('Current password'),
		next: section.getByLabel('New password', { exact: true }),
		confirm: section.getByLabel('Confirm new password'),
		button: section.getByRole('button', { name: 'Change Password' }),
	};
}

const changePassword = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport, hasTouch: viewport === phone });
	const other = await signInElsewhere(ada, firefox);
	const page = await ada.open('/browser?type=private');
	let calls = 0;
	page.on('request', (request) => {
		if (request.url().endsWith('/api/password')) calls++;
	});
	const dialog = await openSettings(page);
	const { section, current, next, confirm, button } = passwordSection(dialog);
	const error = section.getByRole('alert');
	await eventually(t, () => Promise.all([current, next, confirm].map((field) => field.getAttribute('autocomplete'))), [
		'current-password',
		'new-password',
		'new-password',
	]);
	await eventually(t, () => section.locator('[autocomplete=username]').inputValue(), ada.username);
	await eventually(t, () => button.isDisabled(), true);

	await current.fill('not the password');
	await next.fill('battery staple');
	await eventually(t, () => button.isDisabled(), true, 'one field is empty');
	await confirm.fill('battery maple');
	await confirm.press('Enter');
	await error.filter({ hasText: 'Passwords do not match' }).waitFor();
	await expectFocus(confirm);
	t.is(calls, 0, 'no call for passwords that differ');
	await assertAccessible(t, page, 'passwords that differ');

	await confirm.fill('battery staple');
	await button.click();
	await error.filter({ hasText: 'The current password is wrong.' }).waitFor();
	await expectFocus(current);
	t.is(calls, 1);
	t.is(await other.status(), 200);

	await current.fill('correct horse');
	await next.fill('short');
	await confirm.fill('short');
	await confirm.press('Enter');
	await error.filter({ hasText: 'A password has 8 to 256 characters.' }).waitFor();
	await expectFocus(next);

	await next.fill('battery staple');
	await confirm.fill('battery staple');
	await button.click();
	await expectNotice(page, 'Password changed', 'All other sessions were ended.');
	await expectFocus(section.getByRole('heading'));
	await eventually(t, () => Promise.all([current, next, confirm].map((field) => field.inputValue())), ['', '', '']);
	await gone(t, error);
	await eventually(t, () => button.isDisabled(), true);
	t.is(await other.status(), 401);
	await eventually(t, () => dialog.count(), 1, 'Enter and Change Password leave the dialog open');
	await dialog.getByText('You are signed in nowhere else.').waitFor();

	await current.fill('left behind');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await openSettings(page);
	await eventually(t, () => current.inputValue(), '', 'a closed dialog forgets what was typed');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	await page.reload();
	await page.getByRole('button', { name: ada.username }).waitFor();
	await absent(t, page.getByText('You are signed out'));
	t.deepEqual(ada.faults, []);
};

test.serial('a password is changed on a desktop, which ends the other sessions', changePassword, desktop);
test.serial('a password is changed on a phone, which ends the other sessions', changePassword, phone);

test.serial('a change of the password that gets no answer can be tried again', async (t) => {
	const ada = await fixture.enter(t);
	const page = await ada.open('/browser?type=private');
	const { section, current, next, confirm, button } = passwordSection(await openSettings(page));
	await page.route('**/api/password', (route) => route.abort(), { times: 1 });
	await current.fill('correct horse');
	await next.fill('battery staple');
	await confirm.fill('battery staple');
	await button.click();
	await section.getByRole('alert').filter({ hasText: 'Network error' }).waitFor();
	await expectFocus(button);
	await page.keyboard.press('Enter');
	await expectNotice(page, 'Password changed');
	t.deepEqual(ada.faults, []);
});

const endSessions = async (t: ExecutionContext, viewport: typeof desktop) => {
	const ada = await fixture.enter(t, { viewport, hasTouch: viewport === phone });
	const page = await ada.open('/browser?type=private');
	const clients = [];
	for (const userAgent of [safari, firefox, 'curl/8.14.1']) clients.push(await signInElsewhere(ada, userAgent));
	const [iphone, windows, curl] = clients as [OtherClient, OtherClient, OtherClient];
	const dialog = await openSettings(page);
	const section = dialog.getByRole('region', { name: 'My sessions' });
	const row = (name: string) => section.getByRole('listitem').filter({ hasText: name });
	const endOf = (name: string) => section.getByRole('button', { name: `End session: ${name}, 127.0.0.1` });
	await row('curl').waitFor();
	await eventually(t, () => section.getByRole('listitem').count(), 4);
	await eventually(t, () => section.getByText('Firefox on Windows').getAttribute('title'), firefox);
	const own = row('This session');
	await eventuallyMatches(
		t,
		() => own.textContent(),
		/Last used \w+ \d+, \d{4} at \d+:\d\d [AP]M\s+127\.0\.0\.1 · Since \w+ \d+, \d{4} at \d+:\d\d [AP]M/,
	);
	await absent(t, own.getByRole('button'));
	await section.scrollIntoViewIfNeeded();
	await assertAccessible(t, page, 'sessions');

	await endOf('Firefox on Windows').focus();
	await page.keyboard.press('Enter');
	await expectNotice(page, 'Ended the session: Firefox on Windows, 127.0.0.1');
	await row('Firefox on Windows').waitFor({ state: 'detached' });
	t.is(await windows.status(), 401);
	t.is(await page.evaluate(() => document.activeElement?.textContent), 'End session', 'of a neighbour');

	await curl.end();
	await endOf('curl').press('Enter');
	await expectNotice(page, 'Ended the session: curl, 127.0.0.1');
	await row('curl').waitFor({ state: 'detached' });
	await expectFocus(endOf('Safari on iPhone'));
	await signInElsewhere(ada, firefox);

	const endOthers = section.getByRole('button', { name: 'End all other sessions' });
	const question = page.getByRole('dialog', { name: 'End all other sessions' });
	await endOthers.press('Enter');
	await expectFocus(question.getByRole('button', { name: 'End sessions' }));
	await assertAccessible(t, page, 'question');
	await page.keyboard.press('Escape');
	await question.waitFor({ state: 'detached' });
	await expectFocus(endOthers);
	t.is(await iphone.status(), 200);
	await page.keyboard.press('Enter');
	await question.getByRole('button', { name: 'End sessions' }).press('Enter');
	await expectNotice(page, 'Ended all other sessions');
	await question.waitFor({ state: 'detached' });
	await section.getByText('You are signed in nowhere else.').waitFor();
	await expectFocus(section.getByRole('heading'));
	t.is(await iphone.status(), 401);
	await eventually(t, () => section.getByRole('listitem').count(), 1);
	await gone(t, endOthers);
	await assertAccessible(t, page, 'the only session');
	await page.keyboard.press('Escape');
	await overlaysClosed(page);
	t.deepEqual(ada.faults, []);
};

test.serial('sessions are listed and ended by the keyboard on a desktop', endSessions, desktop);
if (isLong) test.serial('sessions are listed and ended by the keyboard on a phone', endSessions, phone);

test.serial('a double click ends one session, and not also the one that moves up under the pointer', async (t) => {
	const ada = await fixture.enter(t);
	const page = await ada.open('/browser?type=private');
	const clients = [];
	for (let times = 0; times < 3; times++) clients.push(await signInElsewhere(ada, firefox));
	const section = (await openSettings(page)).getByRole('region', { name: 'My sessions' });
	const buttons = section.getByRole('button', { name: 'End session: ' });
	await buttons.nth(2).waitFor();
	await buttons.first().hover();
	await page.mouse.down();
	await page.mouse.up();
	await buttons.nth(2).waitFor({ state: 'detached' });
	await page.mouse.down({ clickCount: 2 });
	await page.mouse.up({ clickCount: 2 });
	await expectNotice(page, 'Ended the session');
	await section.getByRole('button', { name: 'End all other sessions' }).focus();
	await eventually(t, () => buttons.count(), 2);
	const statuses = await Promise.all(clients.map((client) => client.status()));
	t.deepEqual(statuses.toSorted(), [200, 200, 401]);
	t.deepEqual(ada.faults, []);
});

test.serial('sessions that can’t be listed or ended show the reason, and can be tried again', async (t) => {
	const ada = await fixture.enter(t);
	const page = await ada.open('/browser?type=private');
	await signInElsewhere(ada, firefox);
	const refusal = { status: 507, json: { statusCode: 507, code: 'STORAGE_FULL', error: 'x', message: 'It is full.' } };
	let answer = () => {};
	const answered = new Promise<void>((resolve) => {
		answer = resolve;
	});
	await page.route(
		'**/api/sessions',
		async (route) => {
			await answered;
			await route.fulfill(refusal);
		},
		{ times: 1 },
	);
	const section = (await openSettings(page)).getByRole('region', { name: 'My sessions' });
	await section.getByRole('status').waitFor();
	await assertAccessible(t, page, 'loading sessions');
	answer();
	await section
		.getByRole('alert')
		.filter({ hasText: 'Error loading sessions' })
		.filter({ hasText: 'It is full.' })
		.waitFor();
	await section.getByRole('button', { name: 'Try Again' }).click();
	const end = section.getByRole('button', { name: 'End session: Firefox on Windows' });
	await page.route('**/api/sessions/*', (route) => route.fulfill(refusal), { times: 1 });
	await end.click();
	await expectNotice(page, 'Error ending session', 'It is full.');
	await end.click();
	await expectNotice(page, 'Ended the session: Firefox on Windows');
	await end.waitFor({ state: 'detached' });
	await expectFocus(section.getByRole('heading'));
	t.deepEqual(ada.faults, []);
});
