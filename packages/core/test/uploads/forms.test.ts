import { readdir, readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { rawRequest } from '../rawRequest.js';
import { Client, field, file, json, testApp } from '../testApp.js';

/** A form of complete parts, each character of which is a byte. */
function rawForm(...parts: string[]): { body: Buffer; type: string } {
	const text = `${parts.map((part) => `--b\r\n${part}\r\n`).join('')}--b--\r\n`;
	return { body: Buffer.from(text, 'latin1'), type: 'multipart/form-data; boundary=b' };
}

const rawFile = (parameters: string, value = 'x') =>
	`Content-Disposition: form-data; ${parameters}\r\nContent-Type: application/octet-stream\r\n\r\n${value}`;
const rawField = (name: string, value: string, more = '') =>
	`Content-Disposition: form-data; name="${name}"\r\n${more}\r\n${value}`;
const bytes = (text: string) => Buffer.from(text).toString('latin1');

const refused = async (t: ExecutionContext, parts: string[], message: RegExp) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { body, type } = rawForm(...parts);
	const answer = await ada.call('POST', '/api/upload', body, { 'content-type': type });
	t.is(answer.statusCode, 400, answer.payload);
	t.regex(json(answer).message, message);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada')), ['Public']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
};
test('a name without quotes may end with any byte of UTF-8', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const names = ['voil\u00E0', '\u00E0-\u00E0.txt'];
	for (const name of names) {
		const { body, type } = rawForm(rawFile(`name=file; filename=${bytes(name)} \t`));
		const answer = await ada.call('POST', '/api/upload', body, { 'content-type': type });
		t.is(answer.statusCode, 200, answer.payload);
	}
	t.deepEqual((await readdir(path.join(app.filesDir, 'users/ada'))).sort(), ['Public', ...names].sort());
});
test('a file name that is not UTF-8 is refused', refused, [rawFile('name="file"; filename="caf\xe9.txt"')], /UTF-8/);
test(
	'an extended file name that is not UTF-8 is refused',
	refused,
	[rawFile("name=file; filename*=utf-8''caf%E9")],
	/UTF-8/,
);
test(
	'an extended file name of another character set is refused',
	refused,
	[rawFile("name=file; filename*=iso-8859-1''caf%E9")],
	/UTF-8/,
);
test(
	'a field value that is not UTF-8 is refused',
	refused,
	[rawField('fileName', 'caf\xe9'), rawFile('name=file')],
	/UTF-8/,
);
test('a field name that is not UTF-8 is refused', refused, [rawField('\xff', 'x')], /UTF-8/);
test(
	'two file names in one part are refused',
	refused,
	[rawFile('name="file"; filename="a.txt"; filename="b.txt"')],
	/two parameters filename/,
);
test(
	'a part with a plain and an extended file name is refused',
	refused,
	[rawFile(`name="file"; filename="a.txt"; FileName*=utf-8''b.txt`)],
	/two parameters filename/,
);
test(
	'two names in one part are refused',
	refused,
	[rawFile('name="file"; name="x"; filename="a"')],
	/two parameters name/,
);
test(
	'two Content-Disposition headers in one part are refused',
	refused,
	[`Content-Disposition: form-data; name="file"; filename="a"\r\n${rawFile('name="file"; filename="b"')}`],
	/Content-Disposition/,
);
test(
	'a part without Content-Disposition is refused, not skipped',
	refused,
	['Content-Type: text/plain\r\n\r\nx'],
	/Disposition/,
);
test('a part without a name is refused', refused, [rawFile('filename="a"')], /no name/);
test('an unterminated parameter is refused', refused, [rawFile('name="file"; filename="a')], /malformed/);

const fieldError = async (t: ExecutionContext, fields: [string, string][], message: string) => {
	const ada = await new Client(await testApp(t)).register('ada');
	const answer = await ada.upload('/api/upload', [
		...fields.map(([name, value]) => field(name, value)),
		file('a', 'x'),
	]);
	t.is(answer.statusCode, 400);
	t.is(json(answer).message, message);
};
test(
	'the error for an invalid path names its field',
	fieldError,
	[['directory', '../x']],
	'directory: is not a valid path',
);
test(
	'the error for an invalid time names its field',
	fieldError,
	[['lastModified', 'now']],
	'lastModified: must be milliseconds since the epoch',
);
test(
	'the error for a repeated field names it',
	fieldError,
	[
		['directory', 'a'],
		['directory', 'b'],
	],
	'directory: must be given once',
);

test('texts are read as UTF-8 whatever character set a part declares, and names are stored unchanged', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const send = (...parts: string[]) => {
		const { body, type } = rawForm(...parts);
		return ada.call('POST', '/api/upload', body, { 'content-type': type });
	};
	await send(
		rawField('fileName', bytes('naïve – 日本.txt'), 'Content-Type: text/plain; charset=utf-16le\r\n'),
		rawFile('name="file"; filename="x"'),
	);
	await send(rawFile(`name="file"; filename="${bytes('mark\uFEFFed 🎉.txt')}"`));
	await send(rawFile("name=file; filename*=UTF-8''caf%C3%A9.txt"));
	await send(rawFile('filename=plain.txt; name=file'));
	t.deepEqual(
		(await readdir(path.join(app.filesDir, 'users/ada'))).sort(),
		['naïve – 日本.txt', 'mark\uFEFFed 🎉.txt', 'café.txt', 'plain.txt', 'Public'].sort(),
	);
	t.is(await readFile(path.join(app.filesDir, 'users/ada/plain.txt'), 'utf8'), 'x');
});

const megabyte = 1024 ** 2;

const refusedEarly = async (t: ExecutionContext, begin: string, code: string) => {
	const app = await testApp(t);
	const head = `POST /api/upload/public HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 4000000000\r\n\r\n--b\r\n`;
	const sockets: Socket[] = [];
	app.server.listener.on('connection', (socket: Socket) => sockets.push(socket));
	const answer = await rawRequest(app, head + begin, { chunk: Buffer.alloc(64 * 1024), most: 256 * megabyte });
	t.is(answer.status, 400);
	const read = sockets[0]?.bytesRead ?? Number.NaN;
	t.true(read < 16 * megabyte, `${read} bytes were read`);
	t.true(answer.text.includes(`"code":"${code}"`), answer.text);
};
test(
	'a file with an invalid name is refused before its bytes are read',
	refusedEarly,
	rawFile('name="file"; filename="a/b.txt"'),
	'INVALID_NAME',
);
test(
	'a file in an unknown field is refused before its bytes are read',
	refusedEarly,
	rawFile('name="x"; filename="a"'),
	'INVALID',
);
test(
	'a part with a malformed header is refused before its bytes are read',
	refusedEarly,
	rawFile('name="file"; filename="a'),
	'INVALID',
);

test('a valid name in the field fileName replaces an invalid one of the file', async (t) => {
	const ada = await new Client(await testApp(t)).register('ada');
	const answer = await ada.upload('/api/upload', [field('fileName', 'a-b.txt'), file('a:b.txt', 'x')]);
	t.is(json(answer).entries[0].name, 'a-b.txt');
});

test('a file over the size limit is answered 413 whatever its size, and nothing is stored', async (t) => {
	const app = await testApp(t, { '--uploads-max-file-size': '100 KB' });
	const ada = await new Client(app).register('ada');
	for (const bytes of [102_401, 200_000, 700_000]) {
		const answer = await ada.upload('/api/upload', [file('a', 'small'), file('b', Buffer.alloc(bytes))]);
		t.is(answer.statusCode, 413, answer.payload);
		t.is(json(answer).code, 'TOO_LARGE');
	}
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/ada')), ['Public']);
	t.is((await ada.upload('/api/upload', [file('b', Buffer.alloc(102_400))])).statusCode, 200);
});

test('a form that ends early is refused and leaves no staged file', async (t) => {
	const app = await testApp(t);
	const body = '--B\r\nContent-Disposition: form-data; name="file"; filename="cut.txt"\r\n\r\nda';
	const answer = await new Client(app).call('POST', '/api/upload/public', body, {
		'content-type': 'multipart/form-data; boundary=B',
	});
	t.is(answer.statusCode, 400);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('a part is not lost where blanks follow the boundary before it', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const files = ['a', 'b'].map((name) => rawFile(`name=file; filename=${name}`, name));
	for (const ending of ['\r\n', '', ' \r\n', '\n']) {
		const body = `--b \r\n${files.join('\r\n--b\t \r\n')}\r\n--b--${ending}`;
		const answer = await ada.call('POST', '/api/upload', body, { 'content-type': 'multipart/form-data; boundary=b' });
		t.is(answer.statusCode, 200, answer.payload);
		t.deepEqual(
			json(answer).entries.map(({ size }: { size: number }) => size),
			[1, 1],
			JSON.stringify(ending),
		);
	}
});

for (const more of ['more', '-', '-x', '--x', '\rx', ' x', '\n']) {
	test(
		`a file in which a line begins with the boundary and ${JSON.stringify(more)} is refused, not cut there`,
		refused,
		[rawFile('name=file; filename=a', `begin\r\n--b${more}${more === '\n' ? '' : '\r\n'}end`)],
		/boundary/,
	);
}

test('an empty boundary is refused', async (t) => {
	const ada = await new Client(await testApp(t)).register('ada');
	const body = `--\r\n${rawFile('name=file; filename=a')}\r\n----\r\n`;
	const answer = await ada.call('POST', '/api/upload', body, { 'content-type': 'multipart/form-data; boundary=""' });
	t.is(answer.statusCode, 400);
	t.regex(json(answer).message, /boundary/);
});

test('a boundary has 70 characters at most', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const send = (boundary: string) => {
		const body = `--${boundary}\r\n${rawFile('name=file; filename=a.txt')}\r\n--${boundary}--\r\n`;
		return ada.call('POST', '/api/upload', body, { 'content-type': `multipart/form-data; boundary=${boundary}` });
	};
	t.is((await send('b'.repeat(70))).statusCode, 200);
	const refused = await send('b'.repeat(71));
	t.is(refused.statusCode, 400);
	t.regex(json(refused).message, /boundary/);
});

// Alone: what others in this process do meanwhile would count.
test.serial('thousands of parts behind one that is refused are not read', async (t) => {
	const app = await testApp(t);
	const visitor = new Client(app);
	const part = '--b\r\n\r\n\r\n';
	const ms = async (body: string) => {
		let least = Number.POSITIVE_INFINITY;
		for (let tries = 0; tries < 5; tries++) {
			const ms = await usualMs(async () => {
				const type = 'multipart/form-data; boundary=b';
				const { statusCode } = await visitor.call('POST', '/api/upload/public', body, { 'content-type': type });
				t.is(statusCode, 400);
			});
			least = Math.min(least, ms);
		}
		return least;
	};
	const ofOne = await ms(part + 'x'.repeat(60_000));
	const ofMany = await ms(part.repeat(6000));
	t.true(ofMany < 3 * ofOne + 10, `${ofMany} ms instead of ${ofOne} ms`);
});
