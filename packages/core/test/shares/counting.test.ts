import { once } from 'node:events';
import { truncate, writeFile } from 'node:fs/promises';
import { get as httpGet, type IncomingMessage } from 'node:http';
import test from 'ava';
import { Client, json, recordsOf, type TestApp } from '../testApp.js';
import { until } from '../until.js';
import { ShareGuest, shareFixture } from './shareFixture.js';

const megabyte = 1024 * 1024;

type Fixture = Awaited<ReturnType<typeof shareFixture>>;

/** What the owner sees, once all is written. */
const countsOf = async ({ app, ada }: Fixture, id: string) => {
	await app.services.shareUses.flush();
	return json(await ada.get(`/api/shares/${id}`));
};

/** A client of its own. */
const newcomer = async (app: TestApp, base: string) => {
	const guest = new ShareGuest(app, base);
	await guest.get('');
	return guest;
};

/** Begins a download and reads so many bytes of it; `leave` breaks it off. */
async function beginDownload(app: TestApp, path: string, headers: Record<string, string>, bytes: number) {
	const [response] = (await once(httpGet(new URL(path, app.server.info.uri), { headers }), 'response')) as [
		IncomingMessage,
	];
	let read = 0;
	response.on('data', (chunk: Buffer) => {
		read += chunk.length;
		if (read >= bytes) response.pause();
	});
	response.on('error', () => {});
	await until('the bytes have arrived', () => read >= bytes || response.statusCode !== 200);
	return { response, leave: () => response.destroy() };
}

test('a download counts once all bytes of a file or an archive have gone to one client', async (t) => {
	const fixture = await shareFixture(t);
	const { app, share } = fixture;
	const before = Date.now();
	const { id, base, guest } = await share(['docs']);
	await guest.get('');
	const size = 'The quick brown fox'.length;
	await guest.get('/download/fox.txt');
	const first = await countsOf(fixture, id);
	t.like(first, { downloads: 1, bytesSent: size });
	t.true(first.lastUsedAt >= before);
	await guest.call('HEAD', '/download/fox.txt');
	await guest.get('/download/fox.txt?inline=1');
	await guest.get('/download/fox.txt', { range: 'bytes=-3' });
	t.like(await countsOf(fixture, id), { downloads: 1, bytesSent: 2 * size + 3 });
	await guest.get('/download/fox.txt', { range: 'bytes=5-' });
	await (await newcomer(app, base)).get('/download/fox.txt', { range: 'bytes=0-4' });
	t.is((await countsOf(fixture, id)).downloads, 1, 'the beginning has gone to another client');
	await guest.get('/download/fox.txt', { range: 'bytes=0-1,3-9' });
	t.is((await countsOf(fixture, id)).downloads, 1);
	await guest.get('/download/fox.txt', { range: 'bytes=2-2' });
	t.is((await countsOf(fixture, id)).downloads, 2);
	const whole = await guest.get('/download');
	await guest.get('/download', { range: 'bytes=0-99' });
	await guest.get('/download', { range: `bytes=100-${whole.bytes.length}` });
	t.is((await countsOf(fixture, id)).downloads, 4);
	const ticket = json(await guest.call('POST', '/downloadTickets', { files: [{ path: 'fox.txt' }] }));
	await new Client(app).get(ticket.url);
	t.is((await countsOf(fixture, id)).downloads, 5);
});

test('a content counts once its bytes have gone to one client, by whichever calls and names', async (t) => {
	const fixture = await shareFixture(t);
	const { app, share } = fixture;
	const { id, guest } = await share(['docs', 'docs/fox.txt']);
	await guest.get('');
	const byTicket = async (path: string) =>
		json(await guest.call('POST', '/downloadTickets', { files: [{ path }] })).url as string;
	const half = (range: string) => ({ range: `bytes=${range}` });
	const get = (url: string, range: string) => new Client(app).call('GET', url, undefined, half(range));
	await guest.get('/download/fox.txt', half('0-8'));
	t.is((await countsOf(fixture, id)).downloads, 0);
	t.is((await get(await byTicket('fox.txt'), '9-')).statusCode, 206);
	t.is((await countsOf(fixture, id)).downloads, 1);
	await guest.get('/download/fox.txt', half('0-8'));
	await guest.get('/download/docs/fox.txt', half('9-'));
	t.is((await countsOf(fixture, id)).downloads, 2);
	await guest.get('/download/docs', half('0-8'));
	await get(await byTicket('docs'), '9-');
	t.is((await countsOf(fixture, id)).downloads, 3);
	await guest.get('/download', half('0-8'));
	await get(await byTicket(''), '9-');
	t.is((await countsOf(fixture, id)).downloads, 4);
	await guest.get('/download/fox.txt', half('0-8'));
	await guest.get('/download/docs/deep/low.txt', half('9-'));
	t.is((await countsOf(fixture, id)).downloads, 4);
});

test('the audit log says of a ticket for a whole shared folder where that is', async (t) => {
	const { app, share } = await shareFixture(t);
	const { guest } = await share(['docs/deep']);
	await guest.get('');
	for (const path of ['', 'low.txt']) {
		const { url } = json(await guest.call('POST', '/downloadTickets', { files: [{ path }] }));
		t.is((await new Client(app).get(url)).statusCode, 200);
	}
	await app.services.audit.close();
	t.like(
		(await recordsOf(app)).filter(({ action }) => action === 'followShare'),
		[{ path: 'docs/deep' }, { path: 'docs/deep/low.txt' }],
	);
});

test('a file that a client gets in thousands of small ranges is a download, and uses up a limited one', async (t) => {
	const fixture = await shareFixture(t);
	const { home, share } = fixture;
	const pieces = 1_600;
	await writeFile(home('docs/fox.txt'), 'x'.repeat(2 * pieces));
	const { id, guest } = await share(['docs'], { maxDownloads: 1 });
	await guest.get('');
	const atOnce = 64;
	// Every other one first, so that none of them touch.
	for (const first of [0, 1]) {
		for (let at = 0; at < pieces; at += atOnce) {
			const ranges = Array.from({ length: atOnce }, (_, n) => 2 * (at + n) + first).map((byte) => `${byte}-${byte}`);
			t.is((await guest.get('/download/fox.txt', { range: `bytes=${ranges.join(',')}` })).statusCode, 206);
		}
		t.is((await countsOf(fixture, id)).downloads, first);
	}
	t.like(await countsOf(fixture, id), { downloads: 1, bytesSent: 2 * pieces, state: 'used' });
});

test('ranges of two versions of a file are no download', async (t) => {
	const fixture = await shareFixture(t);
	const { home, share } = fixture;
	const { id, guest } = await share(['docs']);
	await guest.get('');
	await guest.get('/download/fox.txt', { range: 'bytes=0-9' });
	await writeFile(home('docs/fox.txt'), 'Another quick brown fox');
	await guest.get('/download/fox.txt', { range: 'bytes=10-99' });
	t.is((await countsOf(fixture, id)).downloads, 0);
});

test('a download that breaks counts once it is resumed to its end', async (t) => {
	const fixture = await shareFixture(t);
	const { app, home, share } = fixture;
	await truncate(home('docs/fox.txt'), 64 * megabyte);
	const { id, base, guest } = await share(['docs']);
	await guest.get('');
	const [cookie = ''] = guest.cookies.values();
	const { leave } = await beginDownload(app, `${base}/download/fox.txt`, { cookie }, megabyte);
	leave();
	await until('the server has noticed', async () => (await countsOf(fixture, id)).bytesSent >= megabyte);
	t.is((await countsOf(fixture, id)).downloads, 0);
	await guest.get('/download/fox.txt', { range: `bytes=${megabyte}-` });
	t.is((await countsOf(fixture, id)).downloads, 1);
});

test('where 100 clients ask at once, exactly as many as there are downloads get one', async (t) => {
	const fixture = await shareFixture(t);
	const { app, share } = fixture;
	const { id, base } = await share(['docs'], { maxDownloads: 7 });
	const clients: ShareGuest[] = [];
	for (let n = 0; n < 100; n++) clients.push(await newcomer(app, base));
	const answers = await Promise.all(clients.map((guest) => guest.get('/download/fox.txt')));
	const count = (status: number) => answers.filter(({ statusCode }) => statusCode === status).length;
	const others = answers.filter(({ statusCode }) => statusCode !== 200 && statusCode !== 410);
	t.deepEqual(
		others.map(({ statusCode, payload }) => `${statusCode} ${payload}`),
		[],
	);
	t.deepEqual([count(200), count(410)], [7, 93]);
	await until('all have counted', async () => (await countsOf(fixture, id)).state === 'used');
	t.like(await countsOf(fixture, id), { downloads: 7 });
	const again = await Promise.all(clients.map((guest) => guest.get('/download/fox.txt')));
	t.true(again.every(({ statusCode }) => statusCode === 410));
});

test('a share with one download is given away once: its client may go on, a second one gets 410, and a preview uses up nothing', async (t) => {
	let time = Date.now();
	const fixture = await shareFixture(t, {}, { now: () => time, monotonic: () => time });
	const { app, home, share, change } = fixture;
	await truncate(home('docs/fox.txt'), 64 * megabyte);
	const { id, base } = await share(['docs'], { maxDownloads: 1 });
	const robot = await newcomer(app, base);
	await robot.call('HEAD', '/download/fox.txt');
	await robot.get('/browse');
	const { etag = '' } = (await robot.call('HEAD', '/download/fox.txt')).headers;
	t.is((await robot.get('/download/fox.txt', { 'if-none-match': String(etag) })).statusCode, 304);
	t.is((await robot.get('/download/fox.txt', { 'if-match': '"another"' })).statusCode, 412);
	t.is((await robot.get('/download/fox.txt', { range: `bytes=${99 * megabyte}-` })).statusCode, 416);
	const first = await newcomer(app, base);
	const second = await newcomer(app, base);
	const [cookie = ''] = first.cookies.values();
	const { leave } = await beginDownload(app, `${base}/download/fox.txt`, { cookie }, megabyte);
	for (const url of ['', '/download/fox.txt', '/download'])
		t.is((await second.get(url)).statusCode, 410, `the second client: ${url}`);
	leave();
	t.is((await countsOf(fixture, id)).state, 'active');
	t.is((await second.get('/download/fox.txt')).statusCode, 410, 'it may be resumed');
	t.is((await first.get('')).statusCode, 200);
	t.is((await first.get('/download/fox.txt', { range: `bytes=${56 * megabyte}-` })).statusCode, 206);
	t.is((await countsOf(fixture, id)).downloads, 0);
	t.is((await first.get('/download/fox.txt', { range: `bytes=0-${57 * megabyte}` })).statusCode, 206);
	await until('it has counted', async () => (await countsOf(fixture, id)).state === 'used');
	t.is((await first.get('/download/fox.txt')).statusCode, 410);

	await change(id, { maxDownloads: 2 });
	const third = await newcomer(app, base);
	t.is((await third.get('/download/fox.txt', { range: 'bytes=0-1' })).statusCode, 206);
	t.is((await second.get('/download/fox.txt')).statusCode, 410);
	time += 61 * 60_000;
	t.is((await second.get('/download/fox.txt')).statusCode, 200, 'what was left for an hour is free again');
	t.is((await third.get('/download/fox.txt')).statusCode, 410);
	await until('both have counted', async () => (await countsOf(fixture, id)).state === 'used');
	t.like(await countsOf(fixture, id), { downloads: 2 });
});

test('a download that becomes whole while it is sent, by what was sent before, leaves its place to nobody twice', async (t) => {
	const fixture = await shareFixture(t);
	const { app, home, share, change } = fixture;
	const { shareUses } = app.services;
	await truncate(home('docs/fox.txt'), 64 * megabyte);
	const { id, base } = await share(['docs'], { maxDownloads: 1 });
	const first = await newcomer(app, base);
	const [cookie = ''] = first.cookies.values();
	t.is((await first.get('/download/fox.txt', { range: `bytes=${40 * megabyte}-` })).statusCode, 206);
	await until('the end is saved', async () => {
		await shareUses.flush();
		return (await countsOf(fixture, id)).bytesSent === 24 * megabyte;
	});
	const { leave } = await beginDownload(app, `${base}/download/fox.txt`, { cookie }, 45 * megabyte);
	await shareUses.flush();
	await until('it has counted', async () => (await countsOf(fixture, id)).state === 'used');
	await change(id, { maxDownloads: 2 });
	const second = await newcomer(app, base);
	t.is((await second.get('/download/fox.txt', { range: 'bytes=0-1' })).statusCode, 206, 'one is left');
	leave();
});

test('a client without a cookie is its address', async (t) => {
	const fixture = await shareFixture(t, { '--trusted-proxies': '127.0.0.1' });
	const { id, guest } = await fixture.share(['docs'], { maxDownloads: 1 });
	const from = (address: string, more = {}) => guest.get('/download/fox.txt', { 'x-forwarded-for': address, ...more });
	t.is((await from('10.0.0.1', { range: 'bytes=0-4' })).statusCode, 206);
	t.is((await from('10.0.0.2')).statusCode, 410);
	t.is((await from('10.0.0.1', { range: 'bytes=5-' })).statusCode, 206);
	await until('it has counted', async () => (await countsOf(fixture, id)).state === 'used');
	t.like(await countsOf(fixture, id), { downloads: 1 });
});

test('many ranges are a few writes', async (t) => {
	const fixture = await shareFixture(t);
	const { app, home, share } = fixture;
	await truncate(home('docs/fox.txt'), megabyte);
	const { id, guest } = await share(['docs']);
	await guest.get('');
	const { shareUses } = app.services.database;
	let writes = 0;
	for (const call of ['saveParts', 'add', 'forget'] as const) {
		const original = shareUses[call] as (...given: unknown[]) => Promise<unknown>;
		Object.assign(shareUses, {
			[call]: (...given: unknown[]) => {
				writes++;
				return original(...given);
			},
		});
	}
	const startedAt = performance.now();
	for (let at = 0; at < megabyte; at += 8192)
		await guest.get('/download/fox.txt', { range: `bytes=${at}-${at + 8191}` });
	t.like(await countsOf(fixture, id), { downloads: 1, bytesSent: megabyte });
	const seconds = (performance.now() - startedAt) / 1000;
	t.true(writes <= 4 + 2 * seconds, `${writes} writes for 128 ranges in ${seconds} s`);
});
