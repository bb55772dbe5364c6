import { mkdir, mkdtemp, readdir, rename, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Failure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { Client, field, file, json, testApp } from '../testApp.js';

/** A server with ada's home on the root `big`, and bob's on the first one. */
async function setUp(t: ExecutionContext) {
	const app = await testApp(t);
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-removals-'));
	t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));
	const { accounts, rootAdministration } = app.services;
	const big = path.join(folder, 'big');
	await rootAdministration.add('big', 'local', big);
	await accounts.create('ada', 'correct horse', { root: 'big' });
	const bob = await accounts.create('bob', 'correct horse');
	const ada = new Client(app);
	const signIn = async () =>
		(await ada.post('/api/login', { username: 'ada', password: 'correct horse' })).statusCode === 200;
	await signIn();
	await ada.upload('/api/upload', [field('directory', ''), file('a.txt', 'A')]);
	const isSignedIn = async () => json(await ada.get('/api/checkLoginStatus')).isLoggedIn as boolean;
	const isDisabled = async () => (await accounts.find('ada')).isDisabled;
	const refused = async (kind: 'delete' | 'move', message: RegExp) =>
		t.regex(
			String(await t.throwsAsync(accounts.remove('ada', kind === 'move' ? { kind, to: bob } : { kind }))),
			message,
		);
	return { app, big, accounts, bob, signIn, isSignedIn, isDisabled, refused };
}

test('a removal that can’t be made is refused before it changes anything: the user goes on working', async (t) => {
	const { app, big, accounts, bob, isSignedIn, isDisabled, refused } = await setUp(t);
	const untouched = async (message: string) => {
		t.is(await isDisabled(), false, message);
		t.true(await isSignedIn(), message);
	};
	await rename(big, `${big}-gone`);
	await mkdir(big);
	for (const kind of ['delete', 'move'] as const) {
		await refused(kind, /root big can’t be used/);
		await untouched(`${kind} while the disk is away`);
	}
	await rm(big, { recursive: true });
	await rename(`${big}-gone`, big);

	await symlink('/etc/hostname', path.join(big, 'users/ada/link'));
	await refused('move', /can’t be moved.*"link"/);
	await untouched('a link in the home');
	await rm(path.join(big, 'users/ada/link'));

	const { storage: first } = app.services.roots.first;
	const freeSpace = first.freeSpace.bind(first);
	Object.assign(first, { freeSpace: async () => 0 });
	await refused('move', /The home of ada has 1 B.*on local there is room for 0 B/);
	await untouched('no room');
	Object.assign(first, { freeSpace });

	t.is(await accounts.remove('ada', { kind: 'move', to: bob }), 'Files of ada');
	t.deepEqual((await readdir(path.join(app.filesDir, 'users/bob/Files of ada'))).sort(), ['Public', 'a.txt']);
});

test('a removal that fails later leaves the account enabled where the home is whole, and else says that it stays disabled', async (t) => {
	const { app, accounts, signIn, isDisabled, refused } = await setUp(t);
	const { storage } = app.services;
	const { copy, remove } = storage;
	const full = async () => {
		throw new Failure('storageFull', 'The disk is full.');
	};
	storage.copy = full;
	await refused('move', /The disk is full\. ada can sign in again\.$/);
	t.true(await signIn());
	await accounts.setDisabled('ada', true);
	await refused('move', /The disk is full\.$/);
	t.true(await isDisabled(), 'it was before');
	storage.copy = copy;

	await accounts.setDisabled('ada', false);
	storage.remove = full;
	await refused(
		'delete',
		/The disk is full\. ada stays disabled, since part of the files may be gone already: run the/,
	);
	t.true(await isDisabled());
	storage.remove = remove;
	await accounts.remove('ada', { kind: 'delete' });
	t.deepEqual(
		(await accounts.list()).map(({ username }) => username),
		['bob'],
	);
});
