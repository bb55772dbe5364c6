import { randomBytes } from 'node:crypto';
import { readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import type { StagedFile } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { Client, field, file, json, type TestApp, testApp } from '../testApp.js';
import { create, uploadState } from '../tusClient.js';

const newKey = () => ({ 'stowage-upload-key': randomBytes(16).toString('hex') });

async function setUp(t: ExecutionContext) {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	return { app, ada, home: path.join(app.filesDir, 'users/ada') };
}

test('an upload that is retried with its key returns what the first attempt published', async (t) => {
	const { app, ada, home } = await setUp(t);
	const key = newKey();
	const send = (client: Client, headers: Record<string, string>) =>
		client.upload('/api/upload', [file('a.txt', 'same'), field('lastModified', '1700000000000')], headers);
	const first = await send(ada, key);
	t.deepEqual(json(await send(ada, key)), json(first));
	t.deepEqual(await readdir(home), ['Public', 'a.txt']);
	t.is(json(await send(ada, newKey())).entries[0].name, 'a (1).txt');
	t.is(json(await send(ada, {})).entries[0].name, 'a (2).txt');
	// The first name may be free again meanwhile.
	const other = newKey();
	await rm(path.join(home, 'a (1).txt'));
	t.is(json(await send(ada, other)).entries[0].name, 'a (1).txt');
	await rm(path.join(home, 'a.txt'));
	t.is(json(await send(ada, other)).entries[0].name, 'a (1).txt');
	t.deepEqual(await readdir(home), ['Public', 'a (1).txt', 'a (2).txt']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('the same key used by two users and by visitors makes one upload for each of them', async (t) => {
	const { app, ada } = await setUp(t);
	const bob = await new Client(app).register('bob');
	const visitor = new Client(app);
	const key = newKey();
	for (const client of [ada, bob, visitor, visitor]) {
		t.is((await client.upload('/api/upload/public', [file('a.txt', 'same')], key)).statusCode, 200);
	}
	for (const owner of ['ada', 'bob', 'anonymous']) {
		t.deepEqual(await readdir(path.join(app.filesDir, 'users', owner, 'Public')), ['a.txt'], owner);
	}
});

test('concurrent uploads with the same key publish their files once', async (t) => {
	const { ada, home } = await setUp(t);
	const key = newKey();
	const answers = await Promise.all(
		Array.from({ length: 6 }, () => ada.upload('/api/upload', [file('a', 'one'), file('b', 'two')], key)),
	);
	for (const answer of answers) t.deepEqual(json(answer), json(answers[0] as never));
	t.deepEqual(await readdir(home), ['Public', 'a', 'b']);
});

test('a retry with the same key publishes the files of the form that are missing', async (t) => {
	const { app, ada, home } = await setUp(t);
	const key = newKey();
	const send = () => ada.upload('/api/upload', [file('a', 'one'), file('b', 'two')], key);
	await send();
	await rm(path.join(home, 'b'));
	const again = json(await send());
	t.deepEqual(
		again.entries.map((entry: { name: string }) => entry.name),
		['a', 'b'],
	);
	t.deepEqual(await readdir(home), ['Public', 'a', 'b']);
	t.is(await readFile(path.join(home, 'b'), 'utf8'), 'two');
	await rename(path.join(home, 'a'), path.join(home, 'moved away'));
	t.is(json(await send()).entries.length, 2);
	t.deepEqual(await readdir(home), ['Public', 'a', 'b', 'moved away']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

/** Calls `before` ahead of each commit of a staged file. */
function onCommit(
	{
		services: {
			roots: {
				first: { storage },
			},
		},
	}: TestApp,
	before: (staged: StagedFile, nth: number) => Promise<void>,
) {
	const { stage } = storage;
	let commits = 0;
	storage.stage = async (...args) => {
		const staged = await stage.apply(storage, args);
		const { commit } = staged;
		staged.commit = async (...place) => {
			await before(staged, commits++);
			return commit.apply(staged, place);
		};
		return staged;
	};
}

/** `opened` resolves once `open` is called. */
function gate() {
	let open = () => {};
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { open, opened };
}

test('an attempt whose files another process takes over while it publishes them returns the entries of the other', async (t) => {
	const { app, ada, home } = await setUp(t);
	const other = await testApp(t, { '--data-dir': app.dataDir });
	const atOther = new Client(other);
	atOther.cookie = ada.cookie;
	const key = newKey();
	const send = (client: Client) => client.upload('/api/upload', [file('a', 'one'), file('b', 'two')], key);
	const arrived = gate();
	const held = gate();
	// The first file is published, the second one is about to be.
	onCommit(app, async (_, nth) => {
		if (nth !== 1) return;
		arrived.open();
		await held.opened;
	});
	const first = send(ada);
	await arrived.opened;
	const second = await send(atOther);
	t.is(second.statusCode, 200, second.payload);
	held.open();
	t.deepEqual(json(await first), json(second));
	t.deepEqual(json(await send(ada)), json(second));
	t.deepEqual(await readdir(home), ['Public', 'a', 'b']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('an attempt whose files were taken over before it read its record returns the entries of the other', async (t) => {
	const { app, ada, home } = await setUp(t);
	const other = await testApp(t, { '--data-dir': app.dataDir });
	const atOther = new Client(other);
	atOther.cookie = ada.cookie;
	const key = newKey();
	const send = (client: Client) => client.upload('/api/upload', [file('a', 'one')], key);
	const arrived = gate();
	const held = gate();
	onCommit(other, async () => {
		arrived.open();
		await held.opened;
	});
	const { idempotency } = app.services.database;
	const { putIfAbsent } = idempotency;
	let second: ReturnType<typeof send> | undefined;
	idempotency.putIfAbsent = async (keyHash, record) => {
		if (second !== undefined) held.open();
		else {
			await putIfAbsent(keyHash, record);
			// Its files were in the record, and are not any more when it reads the record.
			second = send(atOther);
			await arrived.opened;
		}
		return putIfAbsent(keyHash, record);
	};
	const first = await send(ada);
	t.is(first.statusCode, 200, first.payload);
	t.deepEqual(json(first), json(await (second as ReturnType<typeof send>)));
	t.deepEqual(await readdir(home), ['Public', 'a']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('the files of an attempt whose process died are taken over by the next one, and its published file is found', async (t) => {
	const { app, ada, home } = await setUp(t);
	const key = newKey();
	const send = () => ada.upload('/api/upload', [file('a', 'one'), file('b', 'two')], key);
	const { idempotency } = app.services.database;
	const { replace } = idempotency;
	// From the second file on it is as if the process had died.
	onCommit(app, async (staged, nth) => {
		if (nth !== 1) return;
		const dead = async () => {
			throw new Failure('unavailable', 'Dead processes do nothing.');
		};
		staged.discard = dead;
		idempotency.replace = dead;
		await dead();
	});
	t.is((await send()).statusCode, 503);
	t.deepEqual(await readdir(home), ['Public', 'a']);
	t.is((await readdir(path.join(app.filesDir, '.stowage/staging'))).length, 1);
	idempotency.replace = replace;
	t.is(json(await send()).entries.length, 2);
	t.deepEqual(await readdir(home), ['Public', 'a', 'b']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('a key is refused for another file, place or sender than it was used for', async (t) => {
	const { ada } = await setUp(t);
	const key = newKey();
	const fields = { filename: 'a', lastModified: '1' };
	const first = await create(ada, 3, fields, key);
	t.is((await create(ada, 3, fields, key)).headers.location, first.headers.location);
	const others = [{ ...fields, filename: 'b' }, { ...fields, type: 'public' }, { ...fields, lastModified: '2' }, {}];
	for (const other of others) {
		const refused = await create(ada, 3, other, key);
		t.deepEqual([refused.statusCode, json(refused).code], [409, 'CONFLICT']);
		t.is(json(refused).message, 'Stowage-Upload-Key: was used for another upload');
	}
	t.is((await create(ada, 4, fields, key)).statusCode, 409);
	t.is((await create(ada, 4, fields, key, 'abcd')).statusCode, 409);
});

test('a key that is too short, too long or not ASCII is refused', async (t) => {
	const { ada, home } = await setUp(t);
	for (const key of ['short', '', 'ä'.repeat(30), 'k'.repeat(201)]) {
		const answer = await ada.upload('/api/upload', [file('a', 'one')], {
			'stowage-upload-key': Buffer.from(key).toString('latin1'),
		});
		t.is(answer.statusCode, 400, key);
	}
	t.deepEqual(await readdir(home), ['Public']);
});

test('concurrent creations with the same key make one resumable upload; those that are locked can be retried', async (t) => {
	const { ada, home } = await setUp(t);
	const key = newKey();
	const begin = () => create(ada, 4, { filename: 'a' }, key, 'same');
	for (const answer of await Promise.all(Array.from({ length: 10 }, begin))) {
		t.true([201, 423].includes(answer.statusCode), answer.payload);
	}
	t.deepEqual(uploadState(await begin()), [201, 4, 'a']);
	t.deepEqual(await readdir(home), ['Public', 'a']);
});
