import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Answer, Client, field, file, json, testApp } from '../testApp.js';

const digestOf = (text: string) => ({
	'stowage-file-digest': `sha-256=:${createHash('sha256').update(text).digest('base64')}:`,
});

async function setUp(t: ExecutionContext) {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const assertNothingStored = async () => {
		t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada')), ['Public']);
		t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
	};
	return { app, ada, home: path.join(app.filesDir, 'users/ada'), assertNothingStored };
}

function refused(t: ExecutionContext, answer: Answer, status: number, code: string): void {
	t.is(answer.statusCode, status);
	t.is(json(answer).code, code);
}

test('a file that matches its digest is uploaded, also if it is empty or followed by a field', async (t) => {
	const { app, ada, home } = await setUp(t);
	const large = 'x'.repeat(900_000);
	for (const [name, text] of Object.entries({ 'a.txt': 'one', 'empty.txt': '', 'large.txt': large })) {
		const parts = [file(name, text), field('directory', '')];
		t.is((await ada.upload('/api/upload', parts, digestOf(text))).statusCode, 200, name);
		t.is(await readFile(path.join(home, name), 'utf8'), text);
	}
	const visitor = new Client(app);
	t.is((await visitor.upload('/api/upload/public', [file('a.txt', 'one')], digestOf('one'))).statusCode, 200);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/anonymous/Public')), ['a.txt']);
});

test('a file that does not match its digest is not stored, and its upload key can be used again', async (t) => {
	const { app, ada, home, assertNothingStored } = await setUp(t);
	const headers = { ...digestOf('one'), 'stowage-upload-key': 'k'.repeat(22) };
	for (const text of ['onE', 'one more', '']) {
		refused(t, await ada.upload('/api/upload', [file('a.txt', text)], headers), 460, 'CHECKSUM_MISMATCH');
	}
	await assertNothingStored();
	const visitor = new Client(app);
	const answer = await visitor.upload('/api/upload/public', [file('a.txt', 'onE')], digestOf('one'));
	refused(t, answer, 460, 'CHECKSUM_MISMATCH');
	await assertNothingStored();
	t.is((await ada.upload('/api/upload', [file('a.txt', 'one')], headers)).statusCode, 200);
	t.deepEqual(await readdir(home), ['Public', 'a.txt']);
});

test('a digest with several files or none is refused', async (t) => {
	const { ada, assertNothingStored } = await setUp(t);
	const parts = [file('a.txt', 'one'), file('b.txt', 'one')];
	refused(t, await ada.upload('/api/upload', parts, digestOf('one')), 400, 'INVALID');
	refused(t, await ada.upload('/api/upload', [field('directory', '')], digestOf('')), 400, 'INVALID');
	await assertNothingStored();
});

test('a malformed digest is refused', async (t) => {
	const { ada, assertNothingStored } = await setUp(t);
	const { 'stowage-file-digest': right } = digestOf('one');
	const hex = createHash('sha256').update('one').digest('hex');
	const wrong = ['', hex, right.slice(0, -1), right.replace('256', '512'), `${right}, ${right}`, 'sha-256=:b25l:'];
	for (const digest of wrong) {
		const answer = await ada.upload('/api/upload', [file('a.txt', 'one')], { 'stowage-file-digest': digest });
		refused(t, answer, 400, 'INVALID');
	}
	await assertNothingStored();
});
