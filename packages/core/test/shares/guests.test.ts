import { EventEmitter, once } from 'node:events';
import { rename, truncate, writeFile } from 'node:fs/promises';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { Failure, isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { createGuests } from '../../src/shares/createGuests.js';
import { createGuestMemory } from '../../src/shares/guestMemory.js';
import { mostKept } from '../memory.js';
import { assertReadable, listWhole } from '../readZip.js';
import { Client, file, json, recordsOf } from '../testApp.js';
import { until } from '../until.js';
import { names, ShareGuest, shareFixture } from './shareFixture.js';

test('a shared folder is the root of its share: listed, searched, downloaded and zipped, and nothing else of the home is', async (t) => {
	const { home, share } = await shareFixture(t);
	await writeFile(home('docs/Public'), 'a file of that name');
	const { guest } = await share(['docs'], { title: 'Docs', message: 'Hello' });
	const looked = await guest.get('');
	t.like(json(looked), { title: 'Docs', message: 'Hello', from: 'ada', mode: 'view', expiresAt: null, askName: false });
	t.deepEqual(names(looked, 'items').sort(), ['Public', 'deep', 'fox.txt']);
	t.is(looked.headers['referrer-policy'], 'no-referrer');
	t.is(looked.headers['cache-control'], 'private, no-store');
	const listed = json(await guest.get('/browse')).entries;
	t.true(listed.every((entry: object) => !('owner' in entry) && !('protected' in entry)));
	t.deepEqual(names(await guest.get('/browse?directory=deep')), ['deep/low.txt']);
	t.deepEqual(names(await guest.get('/browse?search=low')), ['deep/low.txt']);
	t.deepEqual(names(await guest.get('/browse?search=secret')), []);
	t.deepEqual(names(await guest.get('/browse?kind=folder')), ['deep']);

	const whole = await guest.get('/download/fox.txt');
	t.is(whole.payload, 'The quick brown fox');
	t.like(whole.headers, {
		'content-disposition': `attachment; filename="fox.txt"; filename*=UTF-8''fox.txt`,
		'x-content-type-options': 'nosniff',
		'referrer-policy': 'no-referrer',
		vary: 'Cookie',
	});
	t.regex(String(whole.headers['content-security-policy']), /^sandbox; default-src 'none'/);
	const { etag = '' } = whole.headers;
	const part = await guest.get('/download/fox.txt', { range: 'bytes=4-8', 'if-range': etag });
	t.is(part.statusCode, 206);
	t.is(part.payload, 'quick');
	t.is((await guest.get('/download/fox.txt', { 'if-none-match': etag })).statusCode, 304);
	t.is((await guest.call('HEAD', '/download/fox.txt')).headers['content-length'], '19');
	t.regex(String((await guest.get('/download/fox.txt?inline=1')).headers['content-disposition']), /^inline/);
	const zip = await guest.get('/download');
	t.regex(String(zip.headers['content-disposition']), /docs_\d{4}-\d{2}-\d{2}\.zip/);
	await assertReadable(t, zip.bytes);
	t.deepEqual(await zipNames(t, zip.bytes), [
		'docs/',
		'docs/Public',
		'docs/deep/',
		'docs/deep/low.txt',
		'docs/fox.txt',
	]);
	t.is((await guest.get('/download/deep')).headers['content-type'], 'application/zip');
	for (const path of ['../secret.txt', '..%2Fsecret.txt', '%2e%2e/secret.txt', 'docs/fox.txt', 'secret.txt', 'none']) {
		for (const url of [`/download/${path}`, `/thumbnail/${path}?size=256`]) {
			const { statusCode, payload } = await guest.get(url);
			t.true([400, 404].includes(statusCode), `${url}: ${statusCode}`);
			t.notRegex(payload, /secret$|quick/);
		}
	}
	t.is((await guest.get('/browse?directory=../other')).statusCode, 400);
	t.is((await guest.get('/browse?directory=other')).statusCode, 404);
});

test('a search in a share asks the index, and finds nothing beside the share', async (t) => {
	const { app, home, share } = await shareFixture(t, { '--search-index': 'true' });
	await writeFile(home('secret fox.txt'), 'secret');
	const { guest } = await share(['docs']);
	const side = await share(['docs', 'other/fox.txt']);
	const search = () => guest.get('/browse?search=fox');
	await until('all is indexed', async () => {
		await app.services.searchIndex.settled();
		return json(await search()).indexedAt !== null;
	});
	const found = await search();
	t.deepEqual(names(found), ['fox.txt']);
	t.deepEqual(names(await guest.get('/browse?search=secret')), []);
	t.deepEqual(names(await side.guest.get('/browse?search=fox')).sort(), ['docs/fox.txt', 'fox.txt']);
});

test('wrong passwords of a share are in the audit log with the share', async (t) => {
	const { app, share } = await shareFixture(t);
	const { id, guest } = await share(['docs'], { password: 'very secret' });
	await guest.call('POST', '/open', { password: 'not that' });
	await guest.call('POST', '/open', { password: 'very secret' });
	await app.services.audit.close();
	t.like(
		(await recordsOf(app)).filter(({ action }) => action === 'openShare'),
		[
			{ share: id, owner: 'ada', user: null, outcome: 'refused', reason: 'badCredentials' },
			{ share: id, owner: 'ada', user: null, outcome: 'ok' },
		],
	);
});

test('chosen items lie beside each other, and equal names get numbers', async (t) => {
	const { ada, home, share } = await shareFixture(t);
	const { id, guest } = await share(['docs/fox.txt', 'other/fox.txt', 'docs/deep']);
	t.deepEqual(names(await guest.get(''), 'items').sort(), ['deep', 'fox (1).txt', 'fox.txt']);
	t.is(json(await guest.get('/browse')).entries.find(({ name }: { name: string }) => name === 'deep').count, 1);
	t.is((await guest.get('/download/fox.txt')).payload, 'The quick brown fox');
	const other = await guest.get('/download/fox%20(1).txt');
	t.is(other.payload, 'another fox');
	t.regex(String(other.headers['content-disposition']), /filename="fox \(1\)\.txt"/);
	t.is((await guest.get('/download/deep/low.txt')).payload, 'low');
	t.is((await guest.get('/download/docs/fox.txt')).statusCode, 404);
	t.deepEqual(names(await guest.get('/browse?directory=deep')), ['deep/low.txt']);
	t.deepEqual(names(await guest.get('/browse?search=fox')).sort(), ['fox (1).txt', 'fox.txt']);
	t.deepEqual(names(await guest.get('/browse?search=low')), ['deep/low.txt']);
	const zip = await guest.get('/download');
	t.deepEqual(await zipNames(t, zip.bytes), ['deep/', 'deep/low.txt', 'fox (1).txt', 'fox.txt']);

	// The items are those that were chosen, and no others that have their names.
	await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'papers', type: 'private' });
	t.is((await guest.get('/download/fox.txt')).payload, 'The quick brown fox');
	await rename(home('papers/fox.txt'), home('papers/old.txt'));
	await writeFile(home('papers/fox.txt'), 'not shared');
	t.is((await guest.get('/download/fox.txt')).statusCode, 404);
	t.deepEqual(names(await guest.get(''), 'items').sort(), ['deep', 'fox (1).txt']);
	await ada.call('DELETE', `/api/shares/${id}`);
	t.is((await guest.get('/download/fox%20(1).txt')).statusCode, 404);
});

test('a single shared file is the only entry of its share, and is downloaded as itself', async (t) => {
	const { share } = await shareFixture(t);
	const { guest } = await share(['docs/fox.txt']);
	t.deepEqual(names(await guest.get(''), 'items'), ['fox.txt']);
	t.is((await guest.get('/download')).payload, 'The quick brown fox');
});

/** Of the entries of an archive, in order. */
const zipNames = async (t: ExecutionContext, bytes: Buffer): Promise<string[]> =>
	(await listWhole(t, bytes)).map(([name]) => name).sort();

const deleteItem = (ada: Client, filePath: string) =>
	ada.call('DELETE', '/api/deleteItem', { filePath, type: 'private' });

test('a share that was paused, deleted, or whose item or owner is away answers as an unknown one, and one that has ended 410', async (t) => {
	let time = Date.now();
	const { app, ada, share, change } = await shareFixture(t, {}, { now: () => time, monotonic: () => time });
	const { accounts, config } = app.services;
	const { id, guest } = await share(['docs'], { expiresAt: time + 1000 * 60_000 });
	const unknown = new ShareGuest(app, `/api/share/${'A'.repeat(43)}`);
	const urls = ['', '/browse', '/browse?search=fox', '/download', '/download/fox.txt', '/thumbnail/fox.txt?size=256'];
	const statuses = async () => new Set(await Promise.all(urls.map(async (url) => (await guest.get(url)).statusCode)));
	const isUnknown = async (why: string) => {
		for (const url of urls) {
			const [one, other] = [await guest.get(url), await unknown.get(url)];
			t.is(one.statusCode, 404, `${why}: ${url}`);
			t.is(one.payload, other.payload, `${why}: ${url}`);
		}
	};
	t.true((await statuses()).has(200));
	await change(id, { isPaused: true });
	await isUnknown('paused');
	await change(id, { isPaused: false });
	await accounts.setDisabled('ada', true);
	await isUnknown('disabled owner');
	await accounts.setDisabled('ada', false);
	config.shares.enabled = false;
	await isUnknown('no shares');
	config.shares.enabled = true;
	const again = await new Client(app).post('/api/login', { username: 'ada', password: 'correct horse' });
	t.is(again.statusCode, 200);
	ada.cookie = String(again.headers['set-cookie']?.[0]?.split(';')[0]);
	const { trashId } = json(await deleteItem(ada, 'docs'));
	await isUnknown('in the trash');
	await ada.upload('/api/upload', [file('docs', 'another one')]);
	await isUnknown('another item of that name');
	await ada.post('/api/trash/restore', { ids: [trashId] });
	t.is((await guest.get('/download/fox.txt')).statusCode, 200, 'restored');
	await app.services.accounts.rename('ada', 'eve');
	t.is(json(await guest.get('')).from, 'eve');
	t.is((await guest.get('/download/fox.txt')).payload, 'The quick brown fox');
	time += 1000 * 60_000;
	t.deepEqual(await statuses(), new Set([410]));
	time -= 500 * 60_000;
	t.deepEqual(await statuses(), new Set([410]), 'the clock was set back');
	await app.services.accounts.remove('eve', { kind: 'keep' });
	await isUnknown('removed owner');
});

test('a share with a password opens for who knows it, for this client and this share alone, until it gets another one', async (t) => {
	const { app, share, change } = await shareFixture(t);
	const password = 'very secret';
	const { id, base, guest } = await share(['docs'], { password });
	const urls = ['', '/browse', '/download/fox.txt', '/download', '/thumbnail/fox.txt?size=256'];
	const codes = async (who: ShareGuest) => {
		const answers = await Promise.all(urls.map((url) => who.get(url)));
		return [...new Set(answers.map((answer) => (answer.statusCode === 401 ? json(answer).code : answer.statusCode)))];
	};
	t.deepEqual(await codes(guest), ['PASSWORD_REQUIRED']);
	t.is(guest.cookies.size, 0);
	const files = [{ path: 'fox.txt' }];
	t.is((await guest.call('POST', '/downloadTickets', { files })).statusCode, 401);
	const wrong = await guest.call('POST', '/open', { password: 'not that' });
	t.is(json(wrong).code, 'BAD_CREDENTIALS');
	t.is((await guest.call('POST', '/open', { password }, { origin: 'https://evil.example' })).statusCode, 403);
	const opened = await guest.call('POST', '/open', { password });
	t.is(opened.statusCode, 200);
	const [line = ''] = opened.headers['set-cookie'] ?? [];
	t.regex(line, new RegExp(`^share=[\\w.-]+; Max-Age=604800; Path=${base}; HttpOnly; SameSite=Lax$`));
	t.is((await guest.get('/download/fox.txt')).payload, 'The quick brown fox');
	t.deepEqual(await codes(new ShareGuest(app, base)), ['PASSWORD_REQUIRED'], 'another client');

	const [pair = ''] = guest.cookies.values();
	const other = await share(['docs'], { password });
	const open = await share(['docs']);
	await open.guest.get('');
	const [ofOpen = ''] = open.guest.cookies.values();
	for (const cookie of [pair, ofOpen, `${pair.slice(0, -4)}AAAA`, 'share=a.b.c'])
		t.is((await other.guest.get('/download/fox.txt', { cookie })).statusCode, 401, cookie);
	const ticket = json(await guest.call('POST', '/downloadTickets', { files }));
	t.is((await new Client(app).get(ticket.url)).payload, 'The quick brown fox');
	await change(id, { password: 'another secret' });
	t.deepEqual(await codes(guest), ['PASSWORD_REQUIRED']);
	t.is((await new Client(app).get(ticket.url)).statusCode, 410);
	await change(id, { password: null });
	t.is((await guest.get('/download/fox.txt')).statusCode, 200);
});

test('a share is open for who knows its password for a week, and not for longer where the clock was ahead then', async (t) => {
	let time = Date.now();
	const { share } = await shareFixture(t, {}, { now: () => time, monotonic: () => 0 });
	const day = 24 * 60 * 60_000;
	const password = 'very secret';
	const { guest } = await share(['docs'], { password });
	const status = async () => (await guest.get('/download/fox.txt')).statusCode;
	const open = () => guest.call('POST', '/open', { password });
	await open();
	time += 7 * day - 1;
	t.is(await status(), 200);
	time += 1;
	t.is(await status(), 401);
	await open();
	time -= day / 2;
	t.is(await status(), 200, 'the clock was corrected');
	time += 365 * day;
	await open();
	t.is(await status(), 200);
	time -= 365 * day;
	t.is(await status(), 401, 'it was a year ahead');
});

test('passwords of shares are guessed as slowly as those of accounts, by address and by share', async (t) => {
	const now = Date.now();
	const { share } = await shareFixture(t, { '--trusted-proxies': '127.0.0.1' }, { now: () => now });
	const { guest } = await share(['docs'], { password: 'very secret' });
	const from = (n: number) => ({ 'x-forwarded-for': `10.0.${n}.1` });
	const guess = async (n: number, password: string) =>
		(await guest.call('POST', '/open', { password }, from(n))).statusCode;
	const statuses = [];
	for (let n = 0; n < 12; n++) statuses.push(await guess(0, `wrong ${n}`));
	t.deepEqual([...new Set(statuses)], [401, 429]);
	t.is(statuses.filter((status) => status === 401).length, 10);
	t.is(await guess(0, 'very secret'), 429);
	t.is(await guess(1, 'very secret'), 200);
	const many = await Promise.all(Array.from({ length: 120 }, (_, n) => guess(2 + (n % 12), `wrong ${n}`)));
	t.true(many.filter((status) => status === 401).length <= 100 - 10);
	t.is(await guess(2, 'very secret'), 429);
	// Who comes from where nobody has failed is not kept out by others.
	t.is(await guess(200, 'very secret'), 200);
});

test('a ticket of a share keeps to its items, and ends with the share', async (t) => {
	const { app, ada, share, change } = await shareFixture(t);
	const { id, guest } = await share(['docs', 'other/fox.txt']);
	const ticketFor = async (files: object[]) => guest.call('POST', '/downloadTickets', { files });
	t.is((await ticketFor([])).statusCode, 400);
	t.is((await ticketFor([{ path: 'secret.txt' }])).statusCode, 404);
	t.is((await ticketFor([{ path: 'docs/fox.txt', owner: 'ada' }])).statusCode, 400);
	const one = json(await ticketFor([{ path: 'fox.txt' }]));
	t.like(one, { fileName: 'fox.txt', size: 11 });
	const anyone = new Client(app);
	t.is((await anyone.get(one.url)).payload, 'another fox');
	const whole = json(await ticketFor([{ path: '' }]));
	const archive = await anyone.get(whole.url);
	t.deepEqual(await zipNames(t, archive.bytes), [
		...['docs/', 'docs/deep/', 'docs/deep/low.txt', 'docs/fox.txt', 'fox.txt'],
	]);
	t.is((await anyone.get(whole.url, { range: 'bytes=0-9' })).statusCode, 206);
	await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'papers', type: 'private' });
	t.is((await anyone.get(one.url)).payload, 'another fox');
	await change(id, { isPaused: true });
	t.is((await anyone.get(one.url)).statusCode, 404);
	await change(id, { isPaused: false });
	t.is((await anyone.get(one.url)).statusCode, 200);
	await ada.call('DELETE', `/api/shares/${id}`);
	t.is((await anyone.get(one.url)).statusCode, 404);
	const folder = await share(['other']);
	const zip = json(await folder.guest.call('POST', '/downloadTickets', { files: [{ path: '' }] }));
	t.deepEqual(await zipNames(t, (await anyone.get(zip.url)).bytes), ['other/', 'other/fox.txt']);
});

type Fixture = Awaited<ReturnType<typeof shareFixture>>;
type End = (fixture: Fixture, id: string) => Promise<unknown>;

const endsTransfers = async (t: ExecutionContext, end: End) => {
	const fixture = await shareFixture(t);
	const { app, home, share } = fixture;
	await truncate(home('docs/fox.txt'), 256 * 1024 * 1024);
	const { id, base, guest } = await share(['docs']);
	const ticket = json(await guest.call('POST', '/downloadTickets', { files: [{ path: 'fox.txt' }] }));
	const ended: string[] = [];
	const responses: IncomingMessage[] = [];
	for (const url of [`${base}/download/fox.txt`, `${base}/download`, ticket.url]) {
		const [response] = (await once(httpGet(new URL(url, app.server.info.uri)), 'response')) as [IncomingMessage];
		t.is(response.statusCode, 200, url);
		response.once('error', () => ended.push(url)).pause();
		responses.push(response);
		t.teardown(async () => void response.destroy());
	}
	await end(fixture, id);
	await until('all of it has ended', () => {
		// The end is seen behind what has arrived before it.
		for (const response of responses) response.read();
		return ended.length === 3;
	});
	t.pass();
};
test('deleting a share ends what is being sent of it', endsTransfers, ({ ada }: Fixture, id: string) =>
	ada.call('DELETE', `/api/shares/${id}`),
);
test('pausing a share ends what is being sent of it', endsTransfers, ({ change }: Fixture, id: string) =>
	change(id, { isPaused: true }),
);
test('a new password of a share ends what is being sent of it', endsTransfers, ({ change }: Fixture, id: string) =>
	change(id, { password: 'very secret' }),
);
test('disabling the owner ends what is being sent of a share', endsTransfers, ({ app }: Fixture) =>
	app.services.accounts.setDisabled('ada', true),
);
test('deleting its item ends what is being sent of a share', endsTransfers, ({ ada }: Fixture) =>
	deleteItem(ada, 'docs'),
);

test('a guest gets thumbnails of what is shared, and they count as no download', async (t) => {
	const { app, ada, home, share } = await shareFixture(t);
	const bytes = Buffer.concat([Buffer.from('RIFF\0\0\0\0WEBPVP8 '), Buffer.alloc(100)]);
	bytes.writeUInt32LE(bytes.length - 8, 4);
	const owners: string[] = [];
	app.server.providers.renderer.register('fake', {
		version: '1',
		accepts: () => true,
		async render({ owner }) {
			owners.push(owner);
			return bytes;
		},
	});
	await writeFile(home('docs/toy.toy'), 'a toy');
	await writeFile(home('other/toy.toy'), 'another toy');
	const { id, guest } = await share(['docs/toy.toy', 'other/toy.toy']);
	const first = await guest.get('/thumbnail/toy.toy?size=256');
	t.is(first.statusCode, 200, first.payload);
	t.is(first.headers['content-type'], 'image/webp');
	t.is(first.headers['referrer-policy'], 'no-referrer');
	const second = await guest.get('/thumbnail/toy%20(1).toy?size=256');
	t.is(second.statusCode, 200);
	t.not(second.headers.etag, first.headers.etag);
	t.is((await guest.get('/thumbnail/toy.toy?size=256', { 'if-none-match': first.headers.etag ?? '' })).statusCode, 304);
	t.is(owners.length, 2);
	t.deepEqual(
		new Set(owners),
		new Set([JSON.stringify(`shares/${id}`)]),
		'no process of a renderer that has files of a folder gets them',
	);
	await app.services.shareUses.flush();
	t.like(json(await ada.get(`/api/shares/${id}`)), { downloads: 0, bytesSent: 0 });
});

test('a share that receives files shows nothing of its folder', async (t) => {
	const { share } = await shareFixture(t);
	const { guest } = await share(['docs'], { mode: 'upload', askName: true });
	t.like(json(await guest.get('')), { mode: 'upload', askName: true, items: [] });
	for (const path of ['fox.txt', 'none.txt']) {
		const urls = [`/download/${path}`, `/browse?search=${path}`, `/thumbnail/${path}?size=256`, '/download', '/browse'];
		for (const url of urls) t.is((await guest.get(url)).statusCode, 403, url);
		t.is((await guest.call('POST', '/downloadTickets', { files: [{ path }] })).statusCode, 403);
	}
});

test('where downloads are limited, nothing is viewed without counting', async (t) => {
	const { share } = await shareFixture(t);
	const { guest } = await share(['docs'], { maxDownloads: 2 });
	t.true(json(await guest.get('')).isLimited);
	t.is((await guest.get('/download/fox.txt?inline=1')).statusCode, 403);
	t.is((await guest.get('/thumbnail/fox.txt?size=2048')).statusCode, 403, 'as large as the picture itself');
	t.is((await guest.get('/thumbnail/fox.txt?size=256')).statusCode, 415);
	t.is((await guest.get('/download/fox.txt')).statusCode, 200);
});

test('hostile content of a share never runs in our origin', async (t) => {
	const { home, share } = await shareFixture(t);
	await writeFile(home('docs/evil.html'), '<script>alert(1)</script>');
	await writeFile(home('docs/evil.svg'), '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
	const { guest } = await share(['docs']);
	for (const name of ['evil.html', 'evil.svg']) {
		const { headers } = await guest.get(`/download/${name}?inline=1`);
		t.regex(String(headers['content-disposition']), /^attachment/, name);
		t.regex(String(headers['content-security-policy']), /^sandbox; default-src 'none'/, name);
		t.is(headers['x-content-type-options'], 'nosniff');
	}
});

test('others are served while a share of a thousand long names is visited', async (t) => {
	const path = (n: number) => `${n % 2}/${'ﷺ'.repeat(83)}${String(Math.floor(n / 2)).padStart(4, '0')}`;
	const items = Array.from({ length: 1000 }, (_, n) => ({ path: path(n), type: 'file', itemId: `${n}` }));
	const share = { id: 'a', owner: { id: 'b', username: 'ada' }, passwordSecret: null };
	const guests = createGuests({
		store: { findById: async () => share, itemsOf: async () => ({ items }) },
		states: { stateOf: async () => 'active', expiryOf: () => null },
		config: { shares: { enabled: true } },
		uses: { mayDownload: async () => true },
	} as never);
	let turns = 0;
	const turn = () => {
		turns++;
		next = setImmediate(turn);
	};
	let next = setImmediate(turn);
	const { guest } = await guests.visitAgain(guests.passOf(share as never), 'a client', {
		inTurn: (work) => work(),
		keep: () => {},
	});
	clearImmediate(next);
	t.is(guest.root.kind === 'items' ? new Set(guest.root.items.map(({ name }) => name)).size : 0, 1000);
	t.true(turns > 1, `${turns} turns of the event loop`);
});

/** The guests of a share with a thousand items, which are read by ten, and how often they were. */
function guestsOf(items: readonly { path: string; type: string; itemId: string }[]) {
	const head = { id: 'a', owner: { id: 'b', username: 'ada' }, passwordSecret: null };
	const read = { parts: 0, queued: 0, queuedMeanwhile: 0, isOwnerHeldUp: false };
	const guests = createGuests({
		store: {
			find: async () => head,
			findById: async () => head,
			itemsOf: async (_: object, after = -1) => {
				read.parts++;
				// Copies, as from a database: none of them shares its text with another one.
				const part = items
					.slice(after + 1, after + 11)
					.map((item) => ({ ...item, path: `${item.path}/`.slice(0, -1) }));
				return { items: part, last: after + 11 < items.length ? after + 10 : undefined };
			},
		},
		states: { stateOf: async () => 'active', expiryOf: () => null },
		config: { shares: { enabled: true } },
		uses: { mayDownload: async () => true },
		links: {
			async withoutMoves(_: string, work: () => Promise<unknown>) {
				read.isOwnerHeldUp = true;
				try {
					return await work();
				} finally {
					read.isOwnerHeldUp = false;
				}
			},
		},
	} as never);
	const inTurn = <T>(work: () => Promise<T>) => {
		read.queued++;
		read.queuedMeanwhile += Number(read.isOwnerHeldUp);
		return work();
	};
	const client = { hasOpened: () => true, nameFor: () => 'a client', inTurn };
	const visitWith = (keep: (bytes: number) => void, ...names: string[]) =>
		guests.visit('t'.repeat(43), { ...client, keep }, names.length === 0 ? undefined : new Set(names));
	const visit = (...names: string[]) => visitWith(() => {}, ...names);
	return { guests, visit, visitWith, read };
}

test('who is sent one of many items keeps none of the others, and has no more read than it takes to find it', async (t) => {
	const items = Array.from({ length: 1000 }, (_, n) => ({ path: `deep/${n}`, type: 'file', itemId: `${n}` }));
	const { guests, visit, read } = guestsOf(items);
	const { share, guest } = await visit('7');
	t.false('items' in share);
	t.deepEqual(guest.root, {
		kind: 'items',
		items: [{ name: '7', path: 'deep/7', type: 'file', itemId: '7' }],
	} as never);
	t.like(read, { parts: 1, queued: 0 });
	const two = await visit('25', '3');
	t.deepEqual(two.guest.root.kind === 'items' && two.guest.root.items.map(({ name }) => name), ['3', '25']);
	t.like(read, { parts: 4, queued: 2 }, 'each further part is read when it is the client’s turn');
	t.deepEqual((await visit('none')).guest.root, { kind: 'items', items: [] });
	t.true(await guests.isGood(guests.passOf(share)));
	t.is(read.parts, 105);
	items.splice(0, 1000, { path: ':trash/1', type: 'file', itemId: '1' });
	t.false(await guests.isGood(guests.passOf(share)));
});

test('the owner of a share moves items while a guest who misses one waits for a turn', async (t) => {
	const items = Array.from({ length: 100 }, (_, n) => ({ path: `deep/${n}`, type: 'file', itemId: `${n}` }));
	const { guests, visit, read } = guestsOf(items);
	let tries = 0;
	const missing = async () => {
		tries++;
		// It has been moved once.
		if (tries === 1) items.splice(99, 1, { path: 'other/99', type: 'file', itemId: '99' });
		throw new Failure('notFound', 'It is not there.');
	};
	const failure = await t.throwsAsync(guests.visiting(() => visit(), missing));
	t.true(isFailure(failure, 'notFound'));
	t.is(tries, 2);
	t.is(read.queued, 27);
	t.is(read.queuedMeanwhile, 0);
});

test('who looks at a thousand items at long paths keeps little of these for as long as it takes to send them', async (t) => {
	const folder = `${'d😀'.repeat(300)}/`.repeat(65);
	const items = Array.from({ length: 1000 }, (_, n) => ({
		...{ path: `${folder}${n % 7}/${'e'.repeat(n % 50)}/${n}`, type: 'file', itemId: `${n}` },
	}));
	const { visit } = guestsOf(items);
	let visits: unknown[] = [];
	const kept = await mostKept(async () => {
		visits = await Promise.all([visit(), visit()]);
		const [{ guest }] = visits as [Awaited<ReturnType<typeof visit>>];
		t.deepEqual(guest.root.kind === 'items' && guest.root.items.map((item) => ({ ...item })).at(-1), {
			...(items.at(-1) as object),
			name: '999',
		});
	});
	t.is(visits.length, 2);
	t.true(kept < 20_000_000, `${kept} bytes are kept`);
});

const waiting = () => {
	const res = Object.assign(new EventEmitter(), { closed: false });
	const viewer = { kind: 'anonymous', access: 'read' };
	return { res, request: { viewer, client: { address: '203.0.113.7' }, raw: { res } } as never };
};

test('what all keep of items whose paths have nothing in common is bounded, also while they wait', async (t) => {
	const items = Array.from({ length: 40 }, (_, n) => ({
		...{ path: `${`${n}${'d'.repeat(250)}/`.repeat(250)}${n}`, type: 'file', itemId: `${n}` },
	}));
	const { visitWith, read } = guestsOf(items);
	const guestMemory = createGuestMemory({ total: 9_000_000, perClient: 3_000_000 });
	const [first, last] = [waiting(), waiting()];
	const { guest } = await visitWith(guestMemory(first.request));
	t.is(guest.root.kind === 'items' && guest.root.items.length, 40, 'one has them all');
	read.parts = 0;
	for (let n = 0; n < 10; n++) {
		const { res, request } = waiting();
		t.true(isFailure(await t.throwsAsync(visitWith(guestMemory(request))), 'rateLimited'));
		res.emit('close');
	}
	t.true(read.parts <= 20, `${read.parts} parts are read for those that are refused`);
	first.res.emit('close');
	await t.notThrowsAsync(visitWith(guestMemory(last.request)), 'who is answered keeps none any longer');
});

test('a visitor has memory for the thousand items of a share at paths as long as any, and not twice', (t) => {
	const guestMemory = createGuestMemory();
	const most = 1000 * (2 ** 16 + 5000);
	guestMemory(waiting().request)(most);
	t.throws(() => guestMemory(waiting().request)(most), { message: /Too many shares/ });
});

test('items below one deep folder take the memory of its path once', async (t) => {
	const folder = `${'d'.repeat(250)}/`.repeat(250);
	const items = Array.from({ length: 30 }, (_, n) => ({ path: `${folder}${n}`, type: 'file', itemId: `${n}` }));
	const { visitWith } = guestsOf(items);
	let kept = 0;
	await visitWith((bytes) => {
		kept += bytes;
	});
	t.true(kept > 62_000 && kept < 100_000, `${kept} bytes`);
});
