import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { rootPath } from '@stowage/rules';
import test from 'ava';
import { renameUser } from '../../src/accounts/renameUser.js';
import { Client, file, form, json, type TestApp, testApp } from '../testApp.js';
import { until } from '../until.js';

const users = (app: TestApp) => readdir(path.join(app.filesDir, 'users')).then((names) => names.sort());

/** The named methods of `target` throw once `calls.left` calls, of all such targets together, have been answered. */
function crashing<T extends object>(target: T, calls: { left: number }, names: readonly (keyof T)[]): T {
	return new Proxy(target, {
		get(from, name) {
			const value: unknown = Reflect.get(from, name);
			if (typeof value !== 'function') return value;
			if (!names.includes(name as keyof T)) return value.bind(from);
			return (...values: unknown[]) => {
				if (calls.left-- <= 0) throw new Error('The process died.');
				return value.apply(from, values);
			};
		},
	});
}

test('a rename that is interrupted at any step is completed when it is run again, and the user can’t sign in meanwhile', async (t) => {
	const app = await testApp(t);
	const { database, storage, accounts, links } = app.services;
	const renames = database.keyValues('user-renames');
	for (let survived = 0; ; survived++) {
		const from = `ada${survived}`;
		const to = `Lovelace${survived}`;
		const ada = await new Client(app).register(from);
		await ada.upload('/api/upload', [file('a.txt', 'A')]);
		const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1d' }));
		const calls = { left: survived };
		const parts = {
			users: crashing(database.users, calls, ['rename', 'setDisabled']),
			renames: crashing(renames, calls, ['set', 'remove']),
			storage: crashing(storage, calls, ['move']),
		};
		const first = await renameUser(from, to, parts).then(
			() => undefined,
			(error: Error) => error,
		);
		if (first !== undefined) {
			t.is(first.message, 'The process died.');
			const [name = from] = [from, to].filter((each) => each === to && survived > 1);
			const answer = await new Client(app).post('/api/login', { username: name, password: 'correct horse' });
			// Before the name has changed, sign-ins by the old one still work; the user can’t sign in from then until
			// the account is enabled again.
			if (survived > 1 && survived < 4) t.is(answer.statusCode, 401, `after ${survived} steps`);
			await accounts.rename(from, to);
		}
		t.is(await database.users.find(from), undefined);
		t.like(await database.users.find(to), { username: to, isDisabled: false });
		t.is(await readFile(path.join(app.filesDir, 'users', to, 'a.txt'), 'utf8'), 'A');
		t.false((await users(app)).includes(from));
		t.is((await new Client(app).get(`/api/temp/${token}`)).payload, 'A', 'the link still works');
		for await (const { state } of links.list()) t.is(state, 'good');
		await t.throwsAsync(
			() => accounts.rename(from, to),
			{ message: `There is no user ${from}.` },
			'the rename has ended',
		);
		if (first === undefined) break;
		t.true(survived < 10);
	}
});

test('a rename to a taken, invalid or unchanged name is refused, and a disabled user stays disabled', async (t) => {
	const app = await testApp(t);
	const { accounts, database } = app.services;
	const ada = await new Client(app).register('ada');
	await new Client(app).register('bob');
	await new Client(app).register('gone');
	await accounts.remove('gone', { kind: 'keep' });
	for (const name of ['bob', 'BOB', 'gone', 'Gone']) {
		const error = await t.throwsAsync(() => accounts.rename('ada', name));
		t.is(error?.message, `This user name is already taken: ${name}`);
	}
	await t.throwsAsync(() => accounts.rename('ada', '../x'), { message: /^A user name has/ });
	await t.throwsAsync(() => accounts.rename('ada', 'ada'), { message: /already/ });
	t.true(json(await ada.get('/api/checkLoginStatus')).isLoggedIn, 'a refused rename ends no session');
	await accounts.rename('ada', 'Ada');
	t.like(await database.users.find('ada'), { username: 'Ada', isDisabled: false });
	t.deepEqual(await users(app), ['Ada', 'anonymous', 'bob', 'gone']);
	await accounts.setDisabled('bob', true);
	await accounts.rename('bob', 'Robert');
	t.like(await database.users.find('robert'), { isDisabled: true }, 'a disabled user stays disabled');
});

test('an upload that ends after its user was renamed is refused, and creates no home of the old name', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { body, type } = form([file('late.txt', 'late')]);
	const { hostname, port } = new URL(app.server.info.uri);
	const socket = connect(Number(port), hostname);
	const head = [
		'POST /api/upload HTTP/1.1',
		`Host: ${hostname}`,
		`Cookie: ${ada.cookie}`,
		`Content-Type: ${type}`,
		`Content-Length: ${body.length}`,
		'Connection: close',
	];
	socket.write(`${head.join('\r\n')}\r\n\r\n`);
	socket.write(body.subarray(0, -10));
	const staging = path.join(app.filesDir, '.stowage/staging');
	await until('a file is staged', async () => (await readdir(staging)).length > 0);
	await app.services.accounts.rename('ada', 'lovelace');
	socket.write(body.subarray(-10));
	// Its sessions have ended, so the connection is cut where a second passes before its last bytes.
	t.regex(await text(socket), /^(HTTP\/1\.1 401 [\s\S]*NOT_SIGNED_IN|$)/);
	// The same where the session was looked at just before.
	const { id } = await app.services.accounts.find('lovelace');
	const former = { kind: 'user', id, username: 'ada' } as const;
	const home = { area: 'private', path: rootPath } as const;
	await t.throwsAsync(() => app.services.files.createFolder(former, home, 'late'), {
		message: /^The account was changed/,
	});
	t.deepEqual(await users(app), ['anonymous', 'lovelace']);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/lovelace')), ['Public']);
});

test('the files of a removed user are kept, deleted or moved to another user', async (t) => {
	const app = await testApp(t);
	const { accounts, database } = app.services;
	for (const name of ['keep', 'delete', 'move', 'bob']) {
		const client = await new Client(app).register(name);
		await client.upload('/api/upload', [file(`${name}.txt`, name)]);
	}
	await writeFile(path.join(app.filesDir, 'users/bob/Files of move'), 'in the way');
	const bob = await accounts.find('bob');
	t.is(await accounts.remove('keep', { kind: 'keep' }), undefined);
	await accounts.remove('delete', { kind: 'delete' });
	await t.throwsAsync(() => accounts.remove('bob', { kind: 'move', to: bob }), { message: /only be moved to another/ });
	t.is(await accounts.remove('move', { kind: 'move', to: bob }), 'Files of move (1)');
	t.deepEqual(await users(app), ['anonymous', 'bob', 'keep']);
	t.is(await readFile(path.join(app.filesDir, 'users/bob/Files of move (1)/move.txt'), 'utf8'), 'move');
	t.deepEqual(
		(await database.users.list()).map(({ username }) => username),
		['bob'],
	);
	await new Client(app).register('later');
	await rm(path.join(app.filesDir, 'users/later'), { recursive: true });
	await accounts.remove('later', { kind: 'delete' });
	t.is(await database.users.find('later'), undefined, 'a user without a home can be removed');
});

test('a removed user’s files move to another disk only if all of them can be copied and none changes meanwhile', async (t) => {
	const app = await testApp(t);
	const { accounts, rootAdministration, storage } = app.services;
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	// The server still writes there for a moment.
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	const ada = await new Client(app).register('ada');
	await ada.upload('/api/upload', [file('photo.jpg', 'only copy')]);
	const home = path.join(app.filesDir, 'users/ada');
	await rootAdministration.add('big', 'local', path.join(disk, 'root'));
	await rootAdministration.setDefault('big');
	await new Client(app).register('bob');
	const there = path.join(disk, 'root/users/bob');
	const move = async () => accounts.remove('ada', { kind: 'move', to: await accounts.find('bob') });

	await symlink('/mnt/archive', path.join(home, 'archive'));
	await t.throwsAsync(move, { message: /a link, a special file.*"archive"/ });
	t.deepEqual(await readdir(there), ['Public']);
	await rm(path.join(home, 'archive'));

	const copy = storage.copy.bind(storage);
	storage.copy = async (...values) => {
		const made = await copy(...values);
		await writeFile(path.join(home, 'late.jpg'), 'late');
		return made;
	};
	await t.throwsAsync(move, { message: /Another program changed something in users\/ada/ });
	t.is(await readFile(path.join(home, 'photo.jpg'), 'utf8'), 'only copy');
	storage.copy = copy;

	// Written once all has been compared.
	const { storage: source } = await storage.home('ada').mount();
	const rename = source.move.bind(source);
	source.move = async (...values) => {
		source.move = rename;
		await writeFile(path.join(home, 'late.jpg'), 'later');
		return rename(...values);
	};
	await t.throwsAsync(move, { message: /Another program changed something in users\/ada/ });
	t.is(await readFile(path.join(home, 'late.jpg'), 'utf8'), 'later');
	t.deepEqual(await users(app), ['ada', 'anonymous']);
	source.move = () => Promise.reject(new Error('killed'));
	await t.throwsAsync(move, { message: 'killed' });
	source.move = rename;
	t.is(await move(), 'Files of ada (2)', 'what was copied before is found, and not copied again');
	t.deepEqual((await readdir(there)).sort(), ['Files of ada', 'Files of ada (1)', 'Files of ada (2)', 'Public']);
	t.is(await readFile(path.join(there, 'Files of ada (2)/photo.jpg'), 'utf8'), 'only copy');
	t.is(await readFile(path.join(there, 'Files of ada (2)/late.jpg'), 'utf8'), 'later');
	t.deepEqual(await users(app), ['anonymous']);
});
