import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { absent, eventually, gone } from '../support/expect.js';
import {
	expectSelected,
	type FileManager,
	nameIn,
	rowOf,
	setUpFixture,
	withKeptContexts,
	writeFiles,
} from '../support/fileManager.js';
import { expectNotice } from '../support/notices.js';

const fixture = withKeptContexts(setUpFixture(test));

test.serial(
	'a session that ends by itself is reported, and the next user sees no file of the one before',
	async (t) => {
		const ada = await fixture.enter(t);
		const bob = await fixture.enter(t);
		await writeFiles(ada.home, { 'of-ada.txt': 'a' });
		await writeFiles(bob.home, { 'of-bob.txt': 'b' });
		const page = await ada.open('/browser?type=private');
		await rowOf(page, 'of-ada.txt').waitFor();
		const cookies = await ada.context.cookies();
		await fetch(`${ada.origin}/api/logout`, {
			headers: { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') },
		});
		await expectNotice(page, 'You are signed out', 'Sign in to see your private files.');

		let answer = () => {};
		const answered = new Promise<void>((resolve) => {
			answer = resolve;
		});
		await page.route('**/api/browse?**', async (route) => {
			await answered;
			await route.continue();
		});
		await page.getByRole('button', { name: 'Sign In' }).click();
		const dialog = page.getByRole('dialog', { name: 'Sign In' });
		await dialog.getByLabel('Username').fill(bob.username);
		await dialog.getByLabel('Password').fill('correct horse');
		await dialog.getByRole('button', { name: 'Sign In' }).click();
		await page.getByRole('button', { name: 'Private Files' }).click();
		await page.locator('[role=grid][aria-busy=true]').waitFor();
		await absent(t, rowOf(page, 'of-ada.txt'));
		answer();
		await rowOf(page, 'of-bob.txt').waitFor();
		t.deepEqual(ada.faults, []);
	},
);

test.serial(
	'what a user has cut and is asked about is forgotten once another one is signed in in another tab',
	async (t) => {
		const ada = await fixture.enter(t);
		const bob = await fixture.enter(t);
		await writeFiles(ada.home, { 'same.txt': 'a', 'of-ada.txt': 'a' });
		await writeFiles(bob.home, { 'same.txt': 'b', 'of-bob.txt': 'b' });
		const page = await ada.open('/browser?type=private');
		await rowOf(page, 'same.txt').click({ modifiers: ['Control'] });
		await page.keyboard.press('Control+x');
		await page.keyboard.press('Delete');
		const dialog = page.getByRole('dialog', { name: 'Delete' });
		await dialog.waitFor();
		const [cookie] = await bob.context.cookies();
		const own = await ada.context.cookies();
		await ada.context.addCookies(own.map((each) => ({ ...each, value: cookie?.value ?? '' })));
		t.teardown(() => ada.context.addCookies(own));
		await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
		await page.getByRole('button', { name: bob.username }).waitFor();
		await rowOf(page, 'of-bob.txt').waitFor();
		await gone(t, dialog);
		await rowOf(page, 'of-bob.txt').click({ modifiers: ['Control'] });
		await page.keyboard.press('Control+v');
		await expectNotice(page, 'Nothing to paste');
		await absent(t, rowOf(page, 'of-ada.txt'));
		t.deepEqual(ada.faults, []);
	},
);

test.serial(
	'what a user has selected in a folder is selected again after a reload, and not for the next user',
	async (t) => {
		const ada = await fixture.enter(t);
		const bob = await fixture.enter(t);
		for (const { home } of [ada, bob]) await writeFiles(home, { 'same.txt': 'a', 'other.txt': 'a' });
		const page = await ada.open('/browser?type=private');
		await rowOf(page, 'same.txt').click({ modifiers: ['Control'] });
		await page.reload();
		await expectSelected(t, page, 'same.txt');
		const [cookie] = await bob.context.cookies();
		const own = await ada.context.cookies();
		await ada.context.addCookies(own.map((each) => ({ ...each, value: cookie?.value ?? '' })));
		t.teardown(() => ada.context.addCookies(own));
		await page.reload();
		await page.getByRole('button', { name: bob.username }).waitFor();
		await rowOf(page, 'same.txt').waitFor();
		await absent(t, page.locator('[aria-selected=true]'));
		await ada.context.addCookies(own);
		await page.reload();
		await page.getByRole('button', { name: ada.username, exact: true }).waitFor();
		await expectSelected(t, page, 'same.txt');
		t.deepEqual(ada.faults, []);
	},
);

test.serial(
	'a dialog that has gone with the session does not open by itself after a sign-in in another tab',
	async (t) => {
		const ada = await fixture.enter(t);
		await writeFiles(ada.home, { 'of-ada.txt': 'a' });
		const page = await ada.open('/browser?type=private');
		await page.getByRole('button', { name: ada.username }).click();
		await page.getByRole('menuitem', { name: 'Settings' }).click();
		const settings = page.getByRole('dialog', { name: 'Settings' });
		await settings.waitFor();
		const cookies = await ada.context.cookies();
		await fetch(`${ada.origin}/api/logout`, {
			headers: { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') },
		});
		await expectNotice(page, 'You are signed out');
		await gone(t, settings);

		const signedIn = await fetch(`${ada.origin}/api/login`, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ username: ada.username, password: 'correct horse' }),
		});
		const value = /=([^;]*)/.exec(signedIn.headers.get('set-cookie') ?? '')?.[1] ?? '';
		await ada.context.addCookies(cookies.map((each) => ({ ...each, value })));
		await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
		await page.getByRole('button', { name: ada.username }).waitFor();
		await page.getByRole('button', { name: 'Private Files' }).click();
		await rowOf(page, 'of-ada.txt').waitFor();
		await absent(t, settings);
		t.deepEqual(ada.faults, []);
	},
);

test.serial(
	'a name that is being typed is kept when the session ends in another tab, and used after a sign-in',
	async (t) => {
		const ada = await fixture.enter(t);
		await writeFiles(ada.home, { 'docs/letter.txt': 'a' });
		const page = await ada.open('/browser/docs?type=private');
		const listed: string[] = [];
		page.on('request', (request) => {
			if (request.url().includes('/api/browsePublic')) listed.push(request.url());
		});
		await rowOf(page, 'letter.txt').focus();
		await page.getByRole('button', { name: 'Actions', exact: true }).click();
		await page.getByRole('menuitem', { name: 'Create Folder' }).click();
		const dialog = page.getByRole('dialog', { name: 'Create Folder' });
		await dialog.getByLabel('Folder name').fill('holiday by the sea');
		const cookies = await ada.context.cookies();
		await fetch(`${ada.origin}/api/logout`, {
			headers: { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; ') },
		});
		await expectNotice(page, 'You are signed out');
		await dialog.getByRole('alert').filter({ hasText: 'Your session has ended.' }).waitFor();
		await dialog.getByRole('button', { name: 'Sign In' }).click();
		const account = page.getByRole('dialog', { name: 'Sign In' });
		await account.getByLabel('Username').fill(ada.username);
		await account.getByLabel('Password').fill('correct horse');
		await account.getByRole('button', { name: 'Sign In' }).click();
		await gone(t, dialog.getByRole('alert'));
		await dialog.getByRole('button', { name: 'Create' }).click();
		await rowOf(page, 'holiday by the sea').waitFor();
		t.deepEqual(listed, [], 'the public folder on the same path');
		t.deepEqual(ada.faults, []);
	},
);

/** A session that ends and another user who signs in, both in another window, of which the page hears the end alone. */
async function replaceUser(t: ExecutionContext, page: Page, { context, origin }: FileManager, next: FileManager) {
	const own = await context.cookies();
	await fetch(`${origin}/api/logout`, {
		headers: { cookie: own.map(({ name, value }) => `${name}=${value}`).join('; ') },
	});
	await expectNotice(page, 'You are signed out');
	const [cookie] = await next.context.cookies();
	await context.addCookies(own.map((each) => ({ ...each, value: cookie?.value ?? '' })));
	t.teardown(() => context.addCookies(own));
}

test.serial(
	'what was chosen in a dialog is not done to the files of another user after the session has ended',
	async (t) => {
		const ada = await fixture.enter(t);
		const bob = await fixture.enter(t);
		for (const { home } of [ada, bob]) await writeFiles(home, { 'same.txt': 'a' });
		const page = await ada.open('/browser?type=private');
		await rowOf(page, 'same.txt').click({ modifiers: ['Control'] });
		await page.keyboard.press('Delete');
		const dialog = page.getByRole('dialog', { name: 'Delete' });
		await dialog.getByText('Delete forever').click();
		await replaceUser(t, page, ada, bob);
		await gone(t, dialog);
		await eventually(t, async () => page.url().endsWith('/browser?type=public'), true);
		t.deepEqual(await readdir(bob.home), ['Public', 'same.txt']);
		t.deepEqual(ada.faults, []);
	},
);

test.serial('a name that was typed for the files of one user is not sent under another one', async (t) => {
	const ada = await fixture.enter(t);
	const bob = await fixture.enter(t);
	for (const { home } of [ada, bob]) await writeFiles(home, { 'same.txt': 'a' });
	const page = await ada.open('/browser?type=private');
	await rowOf(page, 'same.txt').click({ modifiers: ['Control'] });
	await page.keyboard.press('F2');
	const dialog = page.getByRole('dialog', { name: 'Rename' });
	await dialog.getByLabel('New name').fill('other.txt');
	await replaceUser(t, page, ada, bob);
	await dialog.getByRole('alert').filter({ hasText: 'Your session has ended.' }).waitFor();
	const sent: string[] = [];
	page.on('request', (request) => {
		if (request.method() !== 'GET') sent.push(request.url());
	});
	await dialog.getByRole('button', { name: 'Rename' }).click();
	await page.getByRole('dialog', { name: 'Sign In' }).waitFor();
	t.deepEqual(sent, []);
	t.deepEqual(await readdir(bob.home), ['Public', 'same.txt']);
	t.deepEqual(ada.faults, []);
});

/** Another user signs in in another window, of which the page hears nothing yet. */
async function signInElsewhere(t: ExecutionContext, { context }: FileManager, next: FileManager) {
	const own = await context.cookies();
	const [cookie] = await next.context.cookies();
	await context.addCookies(own.map((each) => ({ ...each, value: cookie?.value ?? '' })));
	t.teardown(() => context.addCookies(own));
}

/** The addresses of the page's requests that change something, from now on. */
function changesOf(page: Page): string[] {
	const sent: string[] = [];
	page.on('request', (request) => {
		if (request.method() !== 'GET') sent.push(request.url());
	});
	return sent;
}

test.serial('two-factor sign-in is not turned on for another user who has signed in in another window', async (t) => {
	const ada = await fixture.enter(t);
	const bob = await fixture.enter(t);
	const page = await ada.open('/browser?type=private');
	await page.getByRole('button', { name: ada.username }).click();
	await page.getByRole('menuitem', { name: 'Settings' }).click();
	const settings = page.getByRole('dialog', { name: 'Settings' });
	const section = settings.getByRole('region', { name: 'Two-factor sign-in' });
	await section.getByRole('button', { name: 'Turn On' }).waitFor();
	const sent = changesOf(page);
	await signInElsewhere(t, ada, bob);
	await section.getByRole('button', { name: 'Turn On' }).click();
	await page.getByRole('button', { name: bob.username }).waitFor();
	await gone(t, settings);
	t.deepEqual(sent, []);
	t.deepEqual(ada.faults, []);
});

test.serial(
	'neither the trash nor a file of another user is removed for good who has signed in in another window',
	async (t) => {
		const ada = await fixture.enter(t);
		const bob = await fixture.enter(t);
		for (const { home, origin, context } of [ada, bob]) {
			await writeFiles(home, { 'same.txt': 'a', 'deleted.txt': 'a' });
			const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
			const deleted = await fetch(`${origin}/api/deleteItem`, {
				method: 'DELETE',
				headers: { cookie, 'content-type': 'application/json' },
				body: JSON.stringify({ filePath: 'deleted.txt', type: 'private' }),
			});
			t.true(deleted.ok);
		}
		const own = await ada.context.cookies();
		const page = await ada.open('/browser?type=private');
		await rowOf(page, 'same.txt').click({ modifiers: ['Control'] });
		await page.keyboard.press('Delete');
		const deletion = page.getByRole('dialog', { name: 'Delete' });
		await deletion.getByText('Delete forever').click();
		const sent = changesOf(page);
		await signInElsewhere(t, ada, bob);
		await deletion.getByRole('button', { name: /^Delete/ }).click();
		await page.getByRole('button', { name: bob.username }).waitFor();

		await ada.context.addCookies(own);
		await page.goto(new URL('/trash', page.url()).href);
		await rowOf(page, 'deleted.txt').waitFor();
		await page.getByRole('button', { name: 'Empty Trash' }).click();
		await signInElsewhere(t, ada, bob);
		await page.getByRole('dialog', { name: 'Empty Trash' }).getByRole('button', { name: 'Empty Trash' }).click();
		await page.getByRole('button', { name: bob.username }).waitFor();
		await rowOf(page, 'deleted.txt').waitFor();
		t.deepEqual(sent, []);
		t.deepEqual(await readdir(bob.home), ['Public', 'same.txt']);
		t.deepEqual(ada.faults, []);
	},
);

test.serial('no file of another user is replaced who has signed in in another window', async (t) => {
	const ada = await fixture.enter(t);
	const bob = await fixture.enter(t);
	const files = { 'same.txt': 'new', 'docs/same.txt': 'a', 'Public/same.txt': 'b', 'Public/docs/same.txt': 'c' };
	for (const { home } of [ada, bob]) await writeFiles(home, files);
	const own = await ada.context.cookies();
	const page = await ada.open('/browser?type=private');
	const sent = changesOf(page);
	const replaceAsBob = async (questions: number) => {
		const question = page.getByRole('dialog', { name: 'Already there' });
		await question.waitFor();
		await signInElsewhere(t, ada, bob);
		for (let left = questions; left > 0; left--) {
			await question.getByRole('button', { name: 'Replace' }).click();
		}
		await page.getByRole('button', { name: bob.username }).waitFor();
		t.deepEqual(sent, []);
	};
	await nameIn(page, 'same.txt').dragTo(rowOf(page, 'docs'));
	await replaceAsBob(1);

	await ada.context.addCookies(own);
	// Items of several folders are moved one by one.
	await page.goto(new URL('/browser?type=private&search=same.txt', page.url()).href);
	const hit = (name: RegExp) => page.getByRole('row', { name });
	await hit(/^same\.txt, text file, in docs/).click({ modifiers: ['Control'] });
	await hit(/^same\.txt, text file, (?!in )/).click({ modifiers: ['Control'] });
	await hit(/^same\.txt, text file, in docs/).click({ button: 'right' });
	await page.getByRole('menuitem', { name: 'Move to Public' }).click();
	const move = page.getByRole('dialog', { name: 'Move to Public' });
	await move.getByRole('button', { name: 'Move', exact: true }).click();
	await replaceAsBob(2);
	const contents = Object.keys(files).map((name) => readFile(path.join(bob.home, name), 'utf8'));
	t.deepEqual(await Promise.all(contents), Object.values(files));
	t.deepEqual(ada.faults, []);
});

test.serial('no session is ended once another user has signed in in another window', async (t) => {
	const ada = await fixture.enter(t);
	const bob = await fixture.enter(t);
	const headers = { 'content-type': 'application/json', 'user-agent': 'curl/8' };
	const body = JSON.stringify({ username: ada.username, password: 'correct horse' });
	t.true((await fetch(`${ada.origin}/api/login`, { method: 'POST', headers, body })).ok);
	const page = await ada.open('/browser?type=private');
	await page.getByRole('button', { name: ada.username }).click();
	await page.getByRole('menuitem', { name: 'Settings' }).click();
	const settings = page.getByRole('dialog', { name: 'Settings' });
	const end = settings.getByRole('button', { name: 'End session: curl' });
	await end.waitFor();
	const sent = changesOf(page);
	await signInElsewhere(t, ada, bob);
	await end.click();
	await page.getByRole('button', { name: bob.username }).waitFor();
	await gone(t, settings);
	t.deepEqual(sent, []);
	t.deepEqual(ada.faults, []);
});

test.serial('a chosen logout is not reported as a session that ended', async (t) => {
	const ada = await fixture.enter(t);
	const page = await ada.open('/browser?type=private');
	await page.getByRole('button', { name: ada.username }).click();
	await page.getByRole('menuitem', { name: 'Logout' }).click();
	await page.getByRole('button', { name: 'Sign In' }).waitFor();
	await page.getByRole('grid', { name: 'Files' }).and(page.locator('[aria-busy=false]')).waitFor();
	await absent(t, page.getByText('You are signed out'));
	t.deepEqual(ada.faults, []);
});

test.serial(
	'a page that is opened while the server is away shows the folder that was asked for once it answers',
	async (t) => {
		const ada = await fixture.enter(t);
		await writeFiles(ada.home, { 'docs/letter.txt': 'a' });
		const page = await ada.open('/browser?type=private');
		let isAway = true;
		await ada.context.route('**/api/checkLoginStatus', (route) => (isAway ? route.abort() : route.fallback()));
		t.teardown(() => ada.context.unroute('**/api/checkLoginStatus'));
		await page.goto(new URL('/browser/docs?type=private', page.url()).href);
		await eventually(t, async () => page.url().endsWith('/browser/docs?type=public'), true, 'as for a visitor');
		isAway = false;
		await rowOf(page, 'letter.txt').waitFor();
		await eventually(t, async () => page.url().endsWith('/browser/docs?type=private'), true);
		t.deepEqual(
			ada.faults.filter((fault) => !/ERR_FAILED|Failed to fetch|404/.test(fault)),
			[],
		);
	},
);

test.serial('a page whose code could not be fetched is fetched again, and nothing else is lost for it', async (t) => {
	const ada = await fixture.enter(t);
	await ada.context.route('**/assets/TrashPage-*.js', (route) => route.abort());
	t.teardown(() => ada.context.unroute('**/assets/TrashPage-*.js'));
	const page = await ada.open('/browser?type=private');
	const openTrash = async () => {
		await page.getByRole('button', { name: ada.username }).click();
		await page.getByRole('menuitem', { name: 'Trash' }).click();
	};
	const failed = page.getByRole('heading', { name: 'This page could not be shown.' });
	await openTrash();
	await failed.waitFor();
	await ada.context.unroute('**/assets/TrashPage-*.js');
	await page.getByRole('button', { name: 'Try Again' }).click();
	await page.getByRole('heading', { name: 'Trash', level: 1 }).waitFor();
	await gone(t, failed);
	t.deepEqual(
		ada.faults.filter((fault) => !/ERR_FAILED|Failed to fetch|404/.test(fault)),
		[],
	);
});
