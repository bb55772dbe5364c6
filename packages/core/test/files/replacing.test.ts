import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Answer, Client, field, file, json, type Part, type TestApp, testApp } from '../testApp.js';

interface Fixture {
	app: TestApp;
	ada: Client;
	/** The folder of the home. */
	home: string;
	/** Writes files as another program would. */
	put(files: Record<string, string>): Promise<void>;
	/** The content of a file of the home. */
	read(name: string): Promise<string>;
	/** The ETag of a file of the private area. */
	etag(name: string): Promise<string>;
	/** Sends one file to the root of the home. */
	send(name: string, content: string, fields: Record<string, string>): Promise<Answer>;
	/** Nothing is left in staging. */
	assertStagingEmpty(): Promise<void>;
}

async function fixture(t: ExecutionContext, app: TestApp): Promise<Fixture> {
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	return {
		app,
		ada,
		home,
		async put(files) {
			for (const [name, content] of Object.entries(files)) {
				await mkdir(path.dirname(path.join(home, name)), { recursive: true });
				await writeFile(path.join(home, name), content);
			}
		},
		read: (name) => readFile(path.join(home, name), 'utf8'),
		async etag(name) {
			const answer = await ada.call('HEAD', `/api/download/${name}?type=private`);
			t.is(answer.statusCode, 200);
			return String(answer.headers.etag);
		},
		send: (name, content, fields) => ada.upload('/api/upload', [...fieldsOf(fields), file(name, content)]),
		async assertStagingEmpty() {
			t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
		},
	};
}

const setUp = async (t: ExecutionContext, flags: Record<string, string> = {}) => fixture(t, await testApp(t, flags));

const fieldsOf = (fields: Record<string, string>): Part[] =>
	Object.entries(fields).map(([name, value]) => field(name, value));

const refusal = (answer: Answer) => [answer.statusCode, json(answer).code];
const taken = [409, 'ALREADY_EXISTS'];
const changed = [412, 'PRECONDITION_FAILED'];

test('an upload replaces the file of its name if it is to, and fails if that is wished', async (t) => {
	const { home, put, read, send, assertStagingEmpty } = await setUp(t);
	await put({ 'a.txt': 'old' });
	t.deepEqual(refusal(await send('a.txt', 'other', { onConflict: 'fail' })), taken);
	t.is(await read('a.txt'), 'old');
	await assertStagingEmpty();

	const replaced = await send('a.txt', 'new one', { onConflict: 'replace' });
	t.is(replaced.statusCode, 200);
	t.like(json(replaced).entries, [{ path: 'a.txt', size: 7 }]);
	t.is(await read('a.txt'), 'new one');

	t.is(json(await send('b.txt', 'b', { onConflict: 'replace' })).entries[0].path, 'b.txt', 'there was none');
	t.is(json(await send('c.txt', 'c', { onConflict: 'fail' })).entries[0].path, 'c.txt');
	t.is(json(await send('a.txt', 'third', { onConflict: 'rename' })).entries[0].path, 'a (1).txt');
	t.deepEqual(await readdir(home), ['Public', 'a (1).txt', 'a.txt', 'b.txt', 'c.txt']);
	await assertStagingEmpty();
});

test('with ifMatch a file is replaced only as its ETag has it', async (t) => {
	const { put, read, send, etag, assertStagingEmpty } = await setUp(t);
	await put({ 'a.txt': 'old' });
	const seen = await etag('a.txt');
	const save = (content: string, ifMatch: string) => send('a.txt', content, { onConflict: 'replace', ifMatch });
	t.is((await save('first', seen)).statusCode, 200);
	t.deepEqual(refusal(await save('second', seen)), changed, 'it has another version by now');
	t.is(await read('a.txt'), 'first');
	await put({ 'a.txt': 'by another program' });
	t.deepEqual(refusal(await save('second', seen)), changed);
	t.is((await save('second', `"none", W/${await etag('a.txt')}`)).statusCode, 200, 'a proxy has made it weak');
	t.is((await save('third', '*')).statusCode, 200);
	t.is(await read('a.txt'), 'third');

	const other = await send('b.txt', 'b', { onConflict: 'replace', ifMatch: '*' });
	t.deepEqual(refusal(other), changed, 'there is no such file');
	t.deepEqual(refusal(await send('a.txt', 'x', { ifMatch: seen })), [400, 'INVALID'], 'it is to be renamed');
	t.deepEqual(refusal(await send('a.txt', 'x', { onConflict: 'fail', ifMatch: seen })), [400, 'INVALID']);
	for (const ifMatch of ['', 'unquoted', '"a" "b"', seen.slice(1)])
		t.deepEqual(refusal(await save('x', ifMatch)), [400, 'INVALID'], ifMatch);
	t.deepEqual(refusal(await send('a.txt', 'x', { onConflict: 'overwrite' })), [400, 'INVALID']);
	t.is(await read('a.txt'), 'third');
	await assertStagingEmpty();
});
