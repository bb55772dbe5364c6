import { once } from 'node:events';
import { appendFile, open, writeFile } from 'node:fs/promises';
import { get as httpGet, type IncomingMessage } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { shareFixture } from '../shares/shareFixture.js';
import { type Client, json } from '../testApp.js';

/** More than sockets hold. */
const size = 32 * 1024 * 1024;

async function overwrite(file: string): Promise<void> {
	const opened = await open(file, 'r+');
	await opened.write(Buffer.alloc(size, 'B'), 0, size, 0);
	await opened.close();
}

/** Has the file changed once its first bytes have arrived; resolves to how many come in all, and whether that was the end. */
async function download(app: Client['app'], at: string, headers: Record<string, string>, change: () => Promise<void>) {
	const sent = httpGet(new URL(at, app.server.info.uri), { headers, agent: false });
	const [response] = (await once(sent, 'response')) as [IncomingMessage];
	await once(response, 'readable');
	await change();
	let bytes = 0;
	try {
		for await (const chunk of response) bytes += (chunk as Buffer).length;
		return { status: response.statusCode, bytes, isWhole: true };
	} catch {
		return { status: response.statusCode, bytes, isWhole: false };
	}
}

async function setUp(t: ExecutionContext) {
	const fixture = await shareFixture(t);
	const file = fixture.home('docs/big');
	await writeFile(file, Buffer.alloc(size, 'A'));
	return { ...fixture, file, own: { cookie: String(fixture.ada.cookie) } };
}

test('a file that is written to in place while it is sent never ends as a whole one, nor does a part of it', async (t) => {
	const { app, ada, file, own, share } = await setUp(t);
	const { id, base, guest } = await share(['docs'], { maxDownloads: 1 });
	const range = { range: `bytes=0-${size - 2}` };
	for (const headers of [{}, range, { range: 'bytes=0-9,20-' }]) {
		await writeFile(file, Buffer.alloc(size, 'A'));
		const got = await download(app, '/api/download/docs/big?type=private', { ...own, ...headers }, () =>
			overwrite(file),
		);
		t.false(got.isWhole, JSON.stringify({ headers, got }));
		t.true(got.bytes < size);
	}
	await writeFile(file, Buffer.alloc(size, 'A'));
	await guest.get('');
	const shared = await download(app, `${base}/download/big`, { cookie: [...guest.cookies.values()].join('; ') }, () =>
		overwrite(file),
	);
	t.is(shared.status, 200);
	t.false(shared.isWhole);
	await app.services.shareUses.flush();
	t.is(json(await ada.get(`/api/shares/${id}`)).downloads, 0, 'it was no download');
	t.true((await guest.get('/download/big')).bytes.equals(Buffer.alloc(size, 'B')), 'and can be had as it is now');
});

test('a file that is written anew while it is sent, and becomes longer, never ends as a whole one, nor does a part of it', async (t) => {
	const { app, file, own } = await setUp(t);
	const longer = () => writeFile(file, Buffer.alloc(size + 1024 * 1024, 'B'));
	for (const range of [undefined, `bytes=100-${size - 2}`, 'bytes=0-9,20-']) {
		const headers: Record<string, string> = range === undefined ? {} : { range };
		await writeFile(file, Buffer.alloc(size, 'A'));
		const got = await download(app, '/api/download/docs/big?type=private', { ...own, ...headers }, longer);
		t.false(got.isWhole, JSON.stringify({ headers, got }));
	}
});

test('a file that only grows while it is sent, such as a log, is sent as it was', async (t) => {
	const { app, file, own } = await setUp(t);
	const got = await download(app, '/api/download/docs/big?type=private', own, () => appendFile(file, 'more'));
	t.deepEqual(got, { status: 200, bytes: size, isWhole: true });
	const range = { range: `bytes=5-9,20-${size - 1}` };
	const parts = await download(app, '/api/download/docs/big?type=private', { ...own, ...range }, () =>
		appendFile(file, 'more'),
	);
	t.true(parts.isWhole);
});
