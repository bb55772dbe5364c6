import { readdir } from 'node:fs/promises';
import { request } from 'node:http';
import path from 'node:path';
import test from 'ava';
import { Client, testApp } from '../../packages/core/test/testApp.js';
import { until } from '../../packages/core/test/until.js';
import { resolveId } from '../src/commandLine/resolveId.js';
import { run } from './program.js';

const tus = { 'tus-resumable': '1.0.0' };

async function begin(client: Client, type: string, name: string): Promise<string> {
	const text = (word: string) => Buffer.from(word).toString('base64');
	const answer = await client.call('POST', '/api/uploads', undefined, {
		...tus,
		'upload-length': '5000000',
		'upload-metadata': `filename ${text(name)},type ${text(type)}`,
	});
	return new URL(String(answer.headers.location), 'http://127.0.0.1').pathname;
}

test('unfinished uploads are listed and removed by user, visitors, root, age or id, beside a server and without', async (t) => {
	const app = await testApp(t);
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const ada = await new Client(app).register('ada');
	const visitor = new Client(app);
	const before = Date.now();
	const places = [await begin(ada, 'private', 'a.bin'), await begin(visitor, 'public', 'v.bin')];
	await ada.call('PATCH', places[0] ?? '', Buffer.alloc(2048), {
		...tus,
		'upload-offset': '0',
		'content-type': 'application/offset+octet-stream',
	});
	const names = async (...words: string[]) => {
		const { stdout } = await run(['upload', 'list', '--json', ...words, ...flags]);
		return JSON.parse(stdout).map(({ name }: { name: string }) => name);
	};
	t.deepEqual((await names()).sort(), ['a.bin', 'v.bin']);
	t.deepEqual(await names('--user', 'ada'), ['a.bin']);
	t.deepEqual(await names('--visitors'), ['v.bin']);
	t.deepEqual((await names('--root', 'local')).length, 2);
	t.deepEqual(await names('--older-than', '1m'), []);
	for (const words of [
		['--root', 'nowhere'],
		['--user', 'ada', '--visitors'],
	])
		t.is((await run(['upload', 'list', ...words, ...flags])).code, 1);
	const { stdout } = await run(['upload', 'list', '--user', 'ada', ...flags]);
	const [id = '', ...row] = stdout.split('\t');
	t.deepEqual([row.slice(0, 5), row.at(-1)], [['ada', 'local', 'private', '2048', '5000000'], 'a.bin']);
	const [ofAda] = JSON.parse((await run(['upload', 'list', '--user', 'ada', '--json', ...flags])).stdout);
	const [startedAt, touchedAt, expiresAt] = [ofAda.startedAt, ofAda.touchedAt, ofAda.expiresAt].map(Date.parse);
	t.true((startedAt ?? 0) >= before && (startedAt ?? 0) < (touchedAt ?? 0));
	t.true((expiresAt ?? 0) > (touchedAt ?? 0));
	t.regex(
		(await run(['upload', 'list', '--user', 'ada', ...flags], '', { columns: 200 })).stdout,
		/^ID .* SO FAR +TOTAL +BEGAN +LAST BYTES +EXPIRES +PATH\n.* 2\.0 KB +4\.8 MB( +\d{4}-\d\d-\d\d \d\d:\d\d){3} +a\.bin$/,
	);
	for (const [words, message] of [
		[[], /^Name uploads by their ids/],
		[[id, '--visitors'], /^Name uploads by their ids/],
		[['--visitors'], /Say so with --yes/],
		[[id.slice(0, 3)], /^Type at least the first 4 characters/],
		[['zzzz'], /^That upload is not known/],
	] as const)
		t.regex((await run(['upload', 'remove', ...words, ...flags])).stderr, message);

	t.like(await run(['upload', 'remove', id.slice(0, 6), ...flags]), { code: 0, stdout: 'Removed 1 upload.' });
	t.is((await ada.call('HEAD', places[0] ?? '', undefined, tus)).statusCode, 404);
	await app.stop();
	t.like(await run(['upload', 'remove', '--visitors', '--yes', ...flags]), { code: 0, stdout: 'Removed 1 upload.' });
	t.deepEqual(await names(), []);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('an upload is removed while its client sends bytes, whose request ends and whose upload is gone', async (t) => {
	const app = await testApp(t, { '--port': '0' });
	const url = await app.start();
	const place = await begin(new Client(app), 'public', 'v.bin');
	const sending = request(new URL(place, url), {
		method: 'PATCH',
		headers: {
			...tus,
			'upload-offset': '0',
			'content-type': 'application/offset+octet-stream',
			'content-length': '5000000',
			'x-requested-with': 'stowage',
		},
	});
	// By an answer or by its connection.
	const ended = new Promise<void>((resolve) => sending.once('close', resolve));
	sending.on('error', () => undefined).on('response', (response) => response.resume());
	// Bytes go on arriving, so that the connection never counts as dead.
	const timer = setInterval(() => sending.write(Buffer.alloc(1000)), 50);
	t.teardown(() => clearInterval(timer));
	const flags = ['--data-dir', app.dataDir, '--log-level', 'error'];
	const staging = path.join(app.filesDir, '.stowage/staging');
	await until('bytes have arrived', async () => (await readdir(staging)).length > 0);
	t.like(await run(['upload', 'remove', '--visitors', '--yes', ...flags]), { code: 0, stdout: 'Removed 1 upload.' });
	await ended;
	clearInterval(timer);
	const head = await fetch(new URL(place, url), { method: 'HEAD', headers: tus });
	t.is(head.status, 404);
	await until('the bytes are removed', async () => (await readdir(staging)).length === 0);
});

test('the beginning of an id names it, unless it is short or that of several', async (t) => {
	const ids = ['abcd1111', 'abcd2222', 'ef001111'];
	t.is(await resolveId('ef00', ids), 'ef001111');
	t.is(await resolveId('abcd1', ids), 'abcd1111');
	t.is(await resolveId('abcd', ['abcd', ...ids]), 'abcd', 'a whole id');
	t.is(await resolveId('unknown', ids), 'unknown');
	await t.throwsAsync(resolveId('abcd', ids), {
		message: '2 ids begin with abcd: abcd1111, abcd2222. Type more of it.',
	});
	await t.throwsAsync(resolveId('ef0', ids), { message: /^Type at least the first 4/ });
});
