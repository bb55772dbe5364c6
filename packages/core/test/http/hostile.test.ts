import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseInput, z } from '@stowage/plugin-api';
import test from 'ava';
import { Client, field, file, json, type TestApp, testApp } from '../testApp.js';

const canary = 'the canary sings';

/** Paths that leave the area, are absolute, or contain a NUL, a backslash or another invalid name. */
const escapes = [
	'..',
	'../',
	'../canary',
	'../../canary',
	'../../../canary',
	'../bob/canary',
	'docs/../../bob/canary',
	'./canary',
	'docs/./a.txt',
	'docs//a.txt',
	'/canary',
	'//canary',
	'/etc/passwd',
	'..\\canary',
	'..\\..\\canary',
	'docs\\a.txt',
	'a\0b',
	'a\nb',
	'a\u0085b',
	'\u007f',
	'docs/',
	'/docs',
	'.stowage/../canary',
	`${'x'.repeat(256)}`,
	`${'é'.repeat(128)}`,
	'\ud800',
	'....//....//canary',
];

const encodings: ((text: string) => string)[] = [
	(text) => text,
	(text) => encodeURIComponent(text.replace(/\ud800/g, '')),
	(text) => text.replace(/\./g, '%2e').replace(/\//g, '%2f').replace(/\\/g, '%5c'),
	(text) => text.replace(/\./g, '%2E').replace(/\\/g, '%5C').replace(/\0/g, '%00'),
	(text) => text.replace(/\./g, '%252e').replace(/\//g, '%252f'),
	(text) => text.replace(/\./g, '%c0%ae').replace(/\//g, '%c0%af'),
	(text) => text.replace(/\./g, '\uff0e'),
];

async function planted(t: import('ava').ExecutionContext): Promise<{ app: TestApp; ada: Client }> {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	await new Client(app).register('bob');
	for (const place of [
		'canary',
		'files/canary',
		'files/users/canary',
		'files/users/bob/canary',
		'files/.stowage/canary',
	]) {
		await writeFile(path.join(app.dataDir, place), canary);
	}
	await mkdir(path.join(app.filesDir, 'users/ada/docs'));
	await writeFile(path.join(app.filesDir, 'users/ada/docs/a.txt'), 'A');
	return { app, ada };
}

async function untouched(t: import('ava').ExecutionContext, app: TestApp): Promise<void> {
	for (const place of [
		'canary',
		'files/canary',
		'files/users/canary',
		'files/users/bob/canary',
		'files/.stowage/canary',
	]) {
		t.is(await readFile(path.join(app.dataDir, place), 'utf8'), canary);
	}
	t.deepEqual((await readdir(path.join(app.filesDir, 'users'))).sort(), ['ada', 'anonymous', 'bob', 'canary']);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/bob')), ['Public', 'canary']);
	t.deepEqual((await readdir(app.filesDir)).sort(), ['.stowage', 'Public', 'canary', 'users']);
}

test('no encoding of a path in a URL reads a file outside the area', async (t) => {
	const { app, ada } = await planted(t);
	let tried = 0;
	for (const bad of escapes) {
		for (const encode of encodings) {
			const encoded = encode(bad);
			// Paths that no client can put into a request line are tried in the fields below.
			if (/[^\x21-\x7e]/.test(encoded) || encoded.includes('#')) continue;
			for (const type of ['private', 'public']) {
				for (const url of [
					`/api/download/${encoded}?type=${type}`,
					`/api/download/docs/${encoded}?type=${type}`,
					`/assets/${encoded}`,
					`/api/temp/${encoded}`,
				]) {
					const answer = await ada.get(url);
					tried++;
					t.true(answer.statusCode >= 400 && answer.statusCode < 504, `${url}: ${answer.statusCode}`);
					t.not(answer.statusCode, 500, url);
					t.false(answer.payload.includes(canary), url);
				}
			}
		}
	}
	t.true(tried > 500, `${tried} requests`);
	await untouched(t, app);
});

test('no path in any field reads or changes a file outside the area', async (t) => {
	const { app, ada } = await planted(t);
	const own = 'docs/a.txt';
	for (const bad of [...escapes, ...escapes.map(encodedOnceMore)]) {
		const query = new URLSearchParams({ type: 'private', directory: bad }).toString();
		const calls = [
			ada.get(`/api/browse?${query}`),
			ada.get(`/api/browse/public?${query}`),
			ada.post('/api/createFolder', { directory: bad, folderName: 'x', type: 'private' }),
			ada.post('/api/createFolder', { directory: '', folderName: bad, type: 'private' }),
			ada.call('DELETE', '/api/deleteItem', { filePath: bad, type: 'private' }),
			ada.post('/api/moveItem', { fromPath: bad, toPath: 'moved', type: 'private' }),
			ada.post('/api/moveItem', { fromPath: own, toPath: bad, type: 'private' }),
			ada.post('/api/copyItem', { fromPath: bad, toPath: 'copied', type: 'private' }),
			ada.post('/api/copyItem', { fromPath: own, toPath: bad, type: 'private' }),
			ada.post('/api/renameItem', { oldPath: bad, newName: 'x', type: 'private' }),
			ada.post('/api/renameItem', { oldPath: own, newName: bad, type: 'private' }),
			ada.post('/api/downloadZip', { files: [{ path: bad }], type: 'private', directory: '' }),
			ada.upload('/api/upload', [field('directory', bad), file('x.txt', 'x')]),
			ada.upload('/api/upload', [field('fileName', bad), file('x.txt', 'x')]),
		];
		for (const answer of await Promise.all(calls)) {
			t.false(answer.payload.includes(canary), bad);
			t.false(answer.payload.includes(app.dataDir), bad);
			if (answer.statusCode >= 500) t.is(json(answer).code, 'UNAVAILABLE', `${bad}: ${answer.payload}`);
		}
		await writeFile(path.join(app.filesDir, 'users/ada/docs/a.txt'), 'A');
	}
	await untouched(t, app);
});

/** Percent-encoded once more: fields are never decoded. */
function encodedOnceMore(text: string): string {
	return text.replace(/[./\\]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
}

test('a user or folder whose name begins with another one’s does not share its files', async (t) => {
	const { app } = await planted(t);
	await new Client(app).register('ada2');
	await writeFile(path.join(app.filesDir, 'users/ada2/Public/x.txt'), 'X2');
	await mkdir(path.join(app.filesDir, 'users/ada/PublicX'));
	await writeFile(path.join(app.filesDir, 'users/ada/PublicX/secret.txt'), canary);
	const visitor = new Client(app);
	t.is((await visitor.get('/api/download/x.txt?owner=ada')).statusCode, 404);
	t.is((await visitor.get('/api/download/x.txt?owner=ada2')).payload, 'X2');
	for (const name of ['X/secret.txt', '../PublicX/secret.txt', 'secret.txt']) {
		t.false((await visitor.get(`/api/download/${encodeURIComponent(name)}?owner=ada`)).payload.includes(canary));
	}
});

test('a field with an object, a list, a number or null is refused with its name', async (t) => {
	const { app, ada } = await planted(t);
	const bodies: [string, string, Record<string, unknown>][] = [
		['POST', '/api/login', { username: 'ada', password: 'x' }],
		['POST', '/api/createFolder', { directory: '', folderName: 'x', type: 'private' }],
		['DELETE', '/api/deleteItem', { filePath: 'docs', type: 'private' }],
		['POST', '/api/moveItem', { fromPath: 'docs', toPath: 'x/docs', type: 'private' }],
		['POST', '/api/copyItem', { fromPath: 'docs', toPath: 'x', type: 'private' }],
		['POST', '/api/renameItem', { oldPath: 'docs', newName: 'x', type: 'private' }],
		['PUT', '/api/settings', { settings: { promptBeforeDownload: true } }],
	];
	for (const [method, url, body] of bodies) {
		for (const name of Object.keys(body)) {
			for (const value of [{ a: 1 }, ['x'], 7, null, { constructor: { prototype: { a: 1 } } }]) {
				const answer = await ada.call(method, url, { ...body, [name]: value });
				t.is(answer.statusCode, 400, `${url} ${name} ${JSON.stringify(value)}`);
				t.true(json(answer).message.includes(name), json(answer).message);
			}
		}
	}
	await untouched(t, app);
});

test('an answer repeats few of the unknown fields of a body, and none that is long', (t) => {
	const schema = z.strictObject({});
	const refusal = (body: object) => t.throws(() => parseInput(schema, body)).message;
	t.is(refusal({ a: 1, b: 2 }), 'Unknown field: a, b');
	const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`field${n}`, 0]));
	t.is(refusal(many), 'Unknown field: field0, field1, field2, field3, field4, ...');
	t.true(refusal({ ['k'.repeat(1_000_000)]: 1 }).length < 200);
});
