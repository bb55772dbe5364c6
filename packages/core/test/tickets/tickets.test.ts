import { once } from 'node:events';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Notification } from '@stowage/plugin-api';
import test from 'ava';
import { assertReadable, listZip } from '../readZip.js';
import { Client, field, file, json, testApp } from '../testApp.js';
import { until } from '../until.js';

interface Made {
	ticket: string;
	url: string;
	fileName: string;
	size: number;
	skipped: number;
}

async function withAda(t: Parameters<typeof testApp>[0], options: Parameters<typeof testApp>[2] = {}) {
	const app = await testApp(t, {}, options);
	const ada = await new Client(app).register('ada');
	return { app, ada, home: path.join(app.filesDir, 'users/ada') };
}

async function ticketOf(client: Client, files: object[], type = 'private'): Promise<Made> {
	const answer = await client.post('/api/downloadTickets', { files, type, directory: '' });
	if (answer.statusCode !== 201) throw new Error(answer.payload);
	return json(answer);
}

/** Requests a URL; resolves to the response, unread. */
async function begin(client: Client, url: string): Promise<IncomingMessage> {
	const { hostname, port } = new URL(client.app.server.info.uri);
	const sent = request({ hostname, port, path: url, agent: false });
	sent.end();
	const [answer] = (await once(sent, 'response')) as [IncomingMessage];
	answer.on('error', () => {});
	return answer;
}

test.serial(
	'a ticket of several items serves their archive, whole or in ranges, any number of times and without a cookie',
	async (t) => {
		const { app, ada, home } = await withAda(t);
		mkdirSync(path.join(home, 'docs'));
		writeFileSync(path.join(home, 'docs/a.txt'), 'content');
		writeFileSync(path.join(home, 'b.bin'), Buffer.alloc(200_000, 7));
		const made = await ticketOf(ada, [{ path: 'docs' }, { path: 'b.bin', name: 'x' }]);
		t.regex(made.ticket, /^[\w-]{43}$/);
		t.regex(made.fileName, /^files_\d{4}-\d\d-\d\d\.zip$/);
		t.is(made.skipped, 0);
		const bearer = new Client(app);
		const head = await bearer.call('HEAD', made.url);
		t.is(head.statusCode, 200);
		t.is(Number(head.headers['content-length']), made.size);
		const whole = await bearer.get(made.url);
		t.is(whole.bytes.length, made.size);
		t.is(whole.headers['cache-control'], 'private, no-cache');
		t.true(whole.headers['content-disposition']?.startsWith(`attachment; filename="${made.fileName}"`));
		t.deepEqual(await listZip(await assertReadable(t, whole.bytes)), [
			['docs/', 0],
			['docs/a.txt', 7],
			['b.bin', 200_000],
		]);
		for (let n = 0; n < 3; n++) {
			const part = await bearer.get(made.url, { range: 'bytes=1000-' });
			t.is(part.statusCode, 206);
			t.true(part.bytes.equals(whole.bytes.subarray(1000)));
		}
	},
);

test.serial('a ticket of one file serves that file', async (t) => {
	const { app, ada, home } = await withAda(t);
	writeFileSync(path.join(home, 'a.txt'), '0123456789');
	const made = await ticketOf(ada, [{ path: 'a.txt' }]);
	t.is(made.fileName, 'a.txt');
	t.is(made.size, 10);
	const answer = await new Client(app).get(made.url, { range: 'bytes=2-3' });
	t.is(answer.payload, '23');
	t.is(answer.headers['content-type'], 'text/plain; charset=utf-8');
	t.is(answer.headers.etag, (await ada.get('/api/download/a.txt?type=private')).headers.etag);
	const page = await new Client(app).get(`${made.url}?inline=1`);
	t.true(page.headers['content-disposition']?.startsWith('attachment'));
});

test.serial(
	'a range request for a changed selection gets the whole new archive once, also without If-Range',
	async (t) => {
		const { app, ada, home } = await withAda(t);
		mkdirSync(path.join(home, 'docs'));
		writeFileSync(path.join(home, 'docs/a.txt'), 'content');
		const { url } = await ticketOf(ada, [{ path: 'docs' }]);
		const bearer = new Client(app);
		const before = await bearer.get(url);
		writeFileSync(path.join(home, 'docs/b.txt'), 'more');
		const after = await bearer.get(url, { range: 'bytes=10-' });
		t.is(after.statusCode, 200);
		t.not(after.headers.etag, before.headers.etag);
		t.is((await listZip(await assertReadable(t, after.bytes))).length, 3);
		const rest = await bearer.get(url, { range: 'bytes=10-' });
		t.is(rest.statusCode, 206);
		t.true(rest.bytes.equals(after.bytes.subarray(10)));
	},
);

test.serial('the items of a ticket are checked at each request: a deleted one is 404', async (t) => {
	const { app, ada, home } = await withAda(t);
	writeFileSync(path.join(home, 'a.txt'), 'content');
	const { url } = await ticketOf(ada, [{ path: 'a.txt' }]);
	await ada.call('DELETE', '/api/deleteItem', { filePath: 'a.txt', type: 'private' });
	t.is((await new Client(app).get(url)).statusCode, 404);
});

test.serial('an ended ticket is 410, an unknown one 404', async (t) => {
	const { app, ada, home } = await withAda(t);
	writeFileSync(path.join(home, 'a.txt'), 'content');
	const { url, ticket } = await ticketOf(ada, [{ path: 'a.txt' }]);
	const bearer = new Client(app);
	t.is((await bearer.call('DELETE', url)).statusCode, 200);
	for (const method of ['GET', 'HEAD', 'DELETE']) t.is((await bearer.call(method, url)).statusCode, 410, method);
	for (const wrong of [`${ticket}x`, ticket.slice(1), 'x', '%00'])
		t.is((await bearer.get(`/api/downloadTickets/${wrong}`)).statusCode, 404, wrong);
});

test.serial('a ticket ends with the session that created it, and not with another session of its user', async (t) => {
	const { app, ada, home } = await withAda(t);
	writeFileSync(path.join(home, 'a.txt'), 'content');
	const other = new Client(app);
	await other.post('/api/login', { username: 'ada', password: 'correct horse' });
	const mine = await ticketOf(ada, [{ path: 'a.txt' }]);
	const others = await ticketOf(other, [{ path: 'a.txt' }]);
	await ada.get('/api/logout');
	t.is((await new Client(app).get(mine.url)).statusCode, 410);
	t.is((await new Client(app).get(others.url)).statusCode, 200);
});

test.serial('a ticket works for 11 hours and has expired after 13', async (t) => {
	let now = Date.now();
	const { app, ada, home } = await withAda(t, { now: () => now });
	writeFileSync(path.join(home, 'a.txt'), 'content');
	const { url } = await ticketOf(ada, [{ path: 'a.txt' }]);
	now += 11 * 60 * 60_000;
	t.is((await new Client(app).get(url)).statusCode, 200);
	now += 2 * 60 * 60_000;
	t.is((await new Client(app).get(url)).statusCode, 410);
});

test.serial('a visitor gets tickets of public items only', async (t) => {
	const { app, ada } = await withAda(t);
	await ada.upload('/api/upload', [field('type', 'public'), file('public.txt', 'for all')]);
	await ada.upload('/api/upload', [field('type', 'private'), file('secret.txt', 'secret')]);
	const visitor = new Client(app);
	const { url } = await ticketOf(visitor, [{ path: 'public.txt', owner: 'ada' }], 'public');
	t.is((await visitor.get(url)).payload, 'for all');
	const ask = (files: object[], type: string) => visitor.post('/api/downloadTickets', { files, type, directory: '' });
	t.is((await ask([{ path: 'secret.txt' }], 'private')).statusCode, 401);
	t.is((await ask([{ path: 'secret.txt', owner: 'ada' }], 'public')).statusCode, 404);
	t.is((await ask([{ path: '', owner: 'ada' }], 'public')).statusCode, 400);
	t.is((await ask([], 'public')).statusCode, 400);
});

test.serial(
	'progress is published to the holder of a ticket and to its user, at most four times a second',
	async (t) => {
		const { app, ada, home } = await withAda(t);
		writeFileSync(path.join(home, 'large'), '');
		truncateSync(path.join(home, 'large'), 64 * 1024 * 1024);
		const { url, ticket, size } = await ticketOf(ada, [{ path: 'large' }]);
		const events: { item: Notification; at: number }[] = [];
		let receivedByUser = 0;
		const { notifications, database } = app.services;
		notifications.subscribe({ ticket }, (item) => events.push({ item, at: performance.now() }));
		const user = await database.users.find('ada');
		notifications.subscribe({ userId: user?.id ?? '' }, () => receivedByUser++);
		const begun = performance.now();
		const answer = await begin(new Client(app), url);
		for await (const chunk of answer) if (Buffer.from(chunk).length > 0) await wait(1);
		const states = () => events.map(({ item }) => (item.kind === 'ticket' ? item.state : ''));
		await until('the end is published', () => states().includes('done'));
		t.is(states()[0], 'sending');
		t.is(states().at(-1), 'done');
		t.like(events.at(-1)?.item, { kind: 'ticket', ticket, sent: size, size });
		// One that comes late, as from another process that is busy, may come right before the next one.
		for (const [n, { at }] of events.entries()) t.true(at - begun > n * 240, `${n} before it within ${at - begun} ms`);
		t.is(receivedByUser, events.length);
	},
);

test.serial(
	'of an archive in which a file is changed while it is sent the events say so, and it can be had anew',
	async (t) => {
		const { app, ada, home } = await withAda(t);
		mkdirSync(path.join(home, 'docs'));
		const large = path.join(home, 'docs/large');
		writeFileSync(large, '');
		truncateSync(large, 256 * 1024 * 1024);
		const { url, ticket } = await ticketOf(ada, [{ path: 'docs' }]);
		const states: string[] = [];
		app.services.notifications.subscribe({ ticket }, (item) => item.kind === 'ticket' && states.push(item.state));
		const answer = await begin(new Client(app), url);
		await once(answer, 'readable');
		truncateSync(large, 1024 * 1024);
		await t.throwsAsync(async () => {
			for await (const chunk of answer) t.true(chunk.length > 0);
		});
		await until('the change is published', () => states.at(-1) === 'changed');
		await assertReadable(t, (await new Client(app).get(url)).bytes);
		await until('the end is published', () => states.at(-1) === 'done');
	},
);

const abortsDownload = test.macro(async (t, endIt: (ada: Client, url: string) => Promise<unknown>) => {
	const { app, ada, home } = await withAda(t);
	mkdirSync(path.join(home, 'docs'));
	writeFileSync(path.join(home, 'docs/large'), '');
	truncateSync(path.join(home, 'docs/large'), 1024 ** 3);
	const { url, ticket } = await ticketOf(ada, [{ path: 'docs' }]);
	const events: string[] = [];
	app.services.notifications.subscribe({ ticket }, (item) => events.push(item.kind === 'ticket' ? item.state : ''));
	const answer = await begin(new Client(app), url);
	await once(answer, 'readable');
	await endIt(ada, url);
	let received = 0;
	await t.throwsAsync(async () => {
		for await (const chunk of answer) received += chunk.length;
	});
	t.true(received < 1024 ** 3);
	await until('the end is published', () => events.at(-1) === 'ended');
});
test.serial('ending a ticket aborts its running download', abortsDownload, (ada, url) => ada.call('DELETE', url));
test.serial('signing out aborts the running download of a ticket', abortsDownload, (ada) => ada.get('/api/logout'));

test.serial('a user who creates too many tickets is answered 429 with Retry-After', async (t) => {
	const { app, ada, home } = await withAda(t);
	writeFileSync(path.join(home, 'a.txt'), 'content');
	const user = await app.services.database.users.find('ada');
	for (let n = 0; n < 1000; n++) {
		await app.services.database.limits.hit(`tickets:user ${user?.id}`, 600_000, Date.now());
		// SQLite answers synchronously: without a yield to the event loop the server would find itself overloaded.
		if (n % 50 === 0) await wait(1);
	}
	const answer = await ada.post('/api/downloadTickets', { files: [{ path: 'a.txt' }], type: 'private', directory: '' });
	t.is(answer.statusCode, 429);
	t.true(Number(answer.headers['retry-after']) > 0);
});
