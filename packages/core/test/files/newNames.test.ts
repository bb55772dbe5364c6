import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { invalidNameMessage } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { type Answer, Client, field, file, json, testApp } from '../testApp.js';
import { create, patch } from '../tusClient.js';

type Home = { ada: Client; folder: string; names: () => Promise<string[]> };

/** Gives the name to an item and resolves to the server’s answer. */
type Give = (home: Home, name: string) => Promise<Answer>;

/** Every call that takes a new name. Items that it needs have names that begin with `before`. */
const calls: Record<string, Give> = {
	createFolder: ({ ada }, folderName) => ada.post('/api/createFolder', { directory: '', folderName, type: 'private' }),
	renameItem: async ({ ada }, newName) => {
		await ada.upload('/api/upload', [file('before', 'x')]);
		return ada.post('/api/renameItem', { oldPath: 'before', newName, type: 'private' });
	},
	moveItem: async ({ ada }, name) => {
		await ada.upload('/api/upload', [field('isPublic', 'true'), file('before', 'x')]);
		return ada.post('/api/moveItem', { fromPath: 'Public/before', toPath: name, type: 'private' });
	},
	copyItem: async ({ ada }, name) => {
		await ada.upload('/api/upload', [field('isPublic', 'true'), file('before', 'x')]);
		const copy = { fromPath: 'before', fromType: 'public', toPath: name, type: 'private' };
		return ada.post('/api/copyItem', copy);
	},
	'the name of a part': ({ ada }, name) => ada.upload('/api/upload', [file(name, 'x')]),
	fileName: ({ ada }, name) => ada.upload('/api/upload', [field('fileName', name), file('before', 'x')]),
	'the filename of Upload-Metadata': async ({ ada }, name) => {
		const created = await create(ada, 1, { filename: name });
		return created.statusCode === 201 ? patch(ada, String(created.headers.location), 0, 'x') : created;
	},
};

async function createHome(t: ExecutionContext): Promise<Home> {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const folder = path.join(app.filesDir, 'users/ada');
	const names = async () => (await readdir(folder)).filter((name) => name !== 'Public' && !name.startsWith('before'));
	await ada.get('/api/browse?type=private');
	return { ada, folder, names };
}

for (const [call, give] of Object.entries(calls)) {
	test(`${call}: Unicode white space around a given name is trimmed`, async (t) => {
		const home = await createHome(t);
		const answer = await give(home, ' \u00A0\u3000new\u00A0name\u2028\uFEFF ');
		t.true(answer.statusCode < 300, answer.payload);
		t.deepEqual(await home.names(), ['new\u00A0name']);
	});

	test(`${call}: a given name that is invalid without the white space around it is refused`, async (t) => {
		const home = await createHome(t);
		for (const name of ['\uFEFF..\u00A0', ' .\u3000', '\u00A0a:b', `\u00A0${'a'.repeat(256)}`]) {
			const answer = await give(home, name);
			t.is(answer.statusCode, 400, JSON.stringify(name));
			t.is(
				json(answer).message,
				json(answer).code === 'INVALID_NAME' ? invalidNameMessage : 'toPath: is not a valid path',
			);
		}
		t.deepEqual(await home.names(), []);
	});

	test(`${call}: a given name of white space only is refused`, async (t) => {
		const home = await createHome(t);
		const answer = await give(home, '\u00A0 \uFEFF');
		t.is(answer.statusCode, 400);
		t.is(json(answer).message, call === 'createFolder' ? 'Please enter a folder name' : invalidNameMessage);
		t.deepEqual(await home.names(), []);
	});
}

test('the white space in the path of an existing entry is kept', async (t) => {
	const { ada, folder, names } = await createHome(t);
	const old = '\u00A0old\uFEFF';
	await mkdir(path.join(folder, `${old}/in`), { recursive: true });
	await writeFile(path.join(folder, old, `${old}.txt`), 'x');
	const listing = json(await ada.get(`/api/browse?type=private&directory=${encodeURIComponent(old)}`));
	t.deepEqual(listing.entries.map(({ name }: { name: string }) => name).sort(), [`${old}.txt`, 'in'].sort());

	const from = `${old}/${old}.txt`;
	const call = async (name: string, payload: object) => json(await ada.post(name, { type: 'private', ...payload }));
	// An entry that keeps its name is not trimmed, and neither is an existing folder of the target path.
	const moved = await call('/api/moveItem', { fromPath: from, toPath: `${old}/in/${old}.txt` });
	t.is(moved.entry?.path, `${old}/in/${old}.txt`, moved.message);
	const copied = await call('/api/copyItem', { fromPath: `${old}/in/${old}.txt`, toPath: from });
	t.is(copied.entry?.path, from, copied.message);
	// A missing folder of the target path would be created with this name.
	t.is((await call('/api/moveItem', { fromPath: from, toPath: `new\u00A0/a.txt` })).code, 'INVALID_NAME');

	t.is((await call('/api/renameItem', { oldPath: old, newName: old })).entry.path, old, 'the name that it already has');
	t.is((await call('/api/renameItem', { oldPath: old, newName: '\u00A0new' })).entry.path, 'new');
	t.deepEqual(await names(), ['new']);
});

test('existing names that are not valid for new entries are kept by moves and renames', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	await mkdir(path.join(home, 'odd: folder'));
	await mkdir(path.join(home, 'docs'));
	for (const name of ['a:b.txt', ' spaced ', 'odd: folder/what?.txt']) await writeFile(path.join(home, name), name);
	const move = (fromPath: string, toPath: string) => ada.post('/api/moveItem', { fromPath, toPath, type: 'private' });
	t.is(json(await move('a:b.txt', 'docs/a:b.txt')).entry.path, 'docs/a:b.txt');
	t.is(json(await move(' spaced ', 'docs/ spaced ')).entry.path, 'docs/ spaced ');
	t.is(
		json(await move('odd: folder/what?.txt', 'Public/odd: folder/what?.txt')).entry.path,
		'Public/odd: folder/what?.txt',
	);
	t.is(
		(await ada.post('/api/renameItem', { oldPath: 'docs/a:b.txt', newName: 'a:b.txt', type: 'private' })).statusCode,
		200,
	);
	t.is((await move('docs/a:b.txt', 'new:folder/a:b.txt')).statusCode, 400, 'the name of a new folder must be valid');
	t.is((await move('docs/a:b.txt', 'c:d.txt')).statusCode, 400, 'a new name must be valid');
});
