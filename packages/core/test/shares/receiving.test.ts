import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { Failure } from '@stowage/rules';
import test from 'ava';
import { Client, field, file, json, recordsOf } from '../testApp.js';
import { metadata } from '../tusClient.js';
import { until } from '../until.js';
import { ShareGuest, shareFixture } from './shareFixture.js';

const tus = { 'tus-resumable': '1.0.0' };
const chunk = { ...tus, 'content-type': 'application/offset+octet-stream' };

/** Begins an upload; with a body it is sent as a whole. */
const create = (
	guest: ShareGuest,
	length: number,
	fields: Record<string, string>,
	body?: string,
	headers: Record<string, string> = {},
) =>
	guest.call('POST', '/uploads', body, {
		...(body === undefined ? tus : chunk),
		...{ 'upload-length': String(length), 'upload-metadata': metadata(fields) },
		...headers,
	});

const send = (guest: ShareGuest, name: string, text: string, fields: Record<string, string> = {}) =>
	create(guest, text.length, { filename: name, ...fields }, text);

/** Below the share. */
const locationOf = ({ headers }: { headers: { location?: string | undefined } }) =>
	String(headers.location).replace(/^\/api\/share\/[\w-]+/, '');

const patch = (guest: ShareGuest, location: string, offset: number, body: string) =>
	guest.call('PATCH', location, body, { ...chunk, 'upload-offset': String(offset) });

type Fixture = Awaited<ReturnType<typeof shareFixture>>;
const received = async ({ ada }: Fixture, id: string) => json(await ada.get(`/api/shares/${id}`));

test('files are received into the shared folder, resumable, never over a taken name, and counted', async (t) => {
	const fixture = await shareFixture(t);
	const { ada, home, share } = fixture;
	const { id, guest } = await share(['docs'], { mode: 'both' });
	await guest.get('');
	const begun = await create(guest, 10, { filename: 'new.txt', lastModified: '1000000000000' });
	t.is(begun.statusCode, 201, begun.payload);
	const location = locationOf(begun);
	t.is((await patch(guest, location, 0, 'hello')).headers['upload-offset'], '5');
	t.is((await guest.call('HEAD', location, undefined, tus)).headers['upload-offset'], '5');
	t.is((await received(fixture, id)).uploads, 0);
	const done = await patch(guest, location, 5, ' you!');
	t.is(done.headers['stowage-entry-path'], 'new.txt');
	t.is(await readFile(home('docs/new.txt'), 'utf8'), 'hello you!');
	const taken = await send(guest, 'fox.txt', 'mine');
	t.is(taken.headers['stowage-entry-path'], 'fox%20(1).txt');
	t.is(await readFile(home('docs/fox.txt'), 'utf8'), 'The quick brown fox');
	t.like(await received(fixture, id), { uploads: 2, bytesReceived: 14, downloads: 0 });
	t.true((await received(fixture, id)).lastUsedAt > 0);

	// Of no other calls, and nobody else's.
	const upload = `/api${location}`;
	for (const client of [ada, new Client(fixture.app)])
		t.is((await client.call('HEAD', upload, undefined, tus)).statusCode, 404);
	const other = await share(['other'], { mode: 'upload' });
	t.is((await other.guest.call('HEAD', location, undefined, tus)).statusCode, 404);
	const view = await share(['docs']);
	t.is((await send(view.guest, 'a.txt', 'a')).statusCode, 403);
	t.is((await guest.call('POST', '/uploads', undefined, { 'upload-length': '1' })).statusCode, 412);
	t.is((await guest.call('OPTIONS', '/uploads')).headers['tus-version'], '1.0.0');
	const overridden = await guest.call('POST', location, undefined, { ...tus, 'x-http-method-override': 'DELETE' });
	t.is(overridden.statusCode, 204);
});

test('a guest chooses neither another folder nor what is replaced', async (t) => {
	const { home, share } = await shareFixture(t);
	const { guest } = await share(['docs'], { mode: 'upload' });
	for (const fields of [
		{ directory: 'deep' },
		{ directory: '../other' },
		{ onConflict: 'replace' },
		{ onConflict: 'fail' },
		{ onConflict: 'replace', ifMatch: '*' },
	] as Record<string, string>[])
		t.is((await send(guest, 'fox.txt', 'x', fields)).statusCode, 400, JSON.stringify(fields));
	t.is((await send(guest, '../fox.txt', 'x')).statusCode, 400);
	t.is((await send(guest, 'a.txt', 'x', { type: 'public' })).headers['stowage-entry-path'], 'a.txt');
	t.deepEqual((await readdir(home('docs'))).sort(), ['a.txt', 'deep', 'fox.txt']);
});

test('a share that shows nothing tells no taken names', async (t) => {
	const { home, share } = await shareFixture(t);
	const { guest } = await share(['docs'], { mode: 'upload', askName: true });
	await writeFile(home('docs/Eve'), 'a file of that name');
	await mkdir(home('docs/Bob'));
	await writeFile(home('docs/Bob/fox.txt'), 'taken');
	t.is(json(await send(guest, 'fox.txt', 'x')).message, 'Please enter your name');
	t.is((await send(guest, 'fox.txt', 'x', { sender: ' ' })).statusCode, 400);
	t.is((await send(guest, 'fox.txt', 'x', { sender: '../other' })).statusCode, 400);
	for (const sender of ['Bob', ' Bob ', 'Eve', 'Eve', 'Ada'])
		t.is(
			(await send(guest, 'fox.txt', sender, { sender })).headers['stowage-entry-path'],
			`${sender.trim()}/fox.txt`,
			sender,
		);
	t.deepEqual((await readdir(home('docs'))).sort(), ['Ada', 'Bob', 'Eve', 'Eve (1)', 'deep', 'fox.txt']);
	t.deepEqual((await readdir(home('docs/Bob'))).sort(), ['fox (1).txt', 'fox (2).txt', 'fox.txt']);
	t.deepEqual((await readdir(home('docs/Eve (1)'))).sort(), ['fox (1).txt', 'fox.txt']);
	await create(guest, 5, { filename: 'never.txt', sender: 'Nobody' });
	t.false((await readdir(home('docs'))).includes('Nobody'), 'a folder is made with its first file');
});

test('however often a name is taken, the next file of it is received, so that nothing is learned of it or kept away', async (t) => {
	const { home, share } = await shareFixture(t);
	const { guest } = await share(['docs'], { mode: 'upload' });
	const taken = ['a.txt', ...Array.from({ length: 999 }, (_, n) => `a (${n + 1}).txt`), 'a (copy).txt'];
	await Promise.all(taken.map((name) => writeFile(home(`docs/${name}`), '')));
	for (const text of ['one', 'another']) {
		const sent = await send(guest, 'a.txt', text);
		t.is(sent.statusCode, 201);
		t.is(sent.headers['stowage-entry-path'], 'a.txt');
	}
	const others = (await readdir(home('docs'))).filter((name) => /^a \([0-9a-f]{8}\)\.txt$/.test(name));
	t.deepEqual((await Promise.all(others.map((name) => readFile(home(`docs/${name}`), 'utf8')))).sort(), [
		'another',
		'one',
	]);
});

test('a share receives as many bytes as it may, also when many are announced at once', async (t) => {
	let time = Date.now();
	const fixture = await shareFixture(t, {}, { now: () => time });
	const { id, guest } = await fixture.share(['docs'], { mode: 'upload', maxUploadBytes: 1000 });
	t.is((await send(guest, 'a.bin', 'x'.repeat(300))).statusCode, 201);
	const tooMuch = await create(guest, 701, { filename: 'b.bin' });
	t.is(tooMuch.statusCode, 413);
	t.regex(json(tooMuch).message, /700 B/);
	const many = await Promise.all(Array.from({ length: 8 }, (_, n) => create(guest, 200, { filename: `${n}.bin` })));
	const begun = many.filter(({ statusCode }) => statusCode === 201);
	t.is(begun.length, 3);
	t.true(many.every(({ statusCode }) => [201, 413].includes(statusCode)));
	t.is((await patch(guest, locationOf(begun[0] as never), 0, 'x'.repeat(200))).statusCode, 204);
	t.like(await received(fixture, id), { uploads: 2, bytesReceived: 500, maxUploadBytes: 1000 });
	t.is((await create(guest, 200, { filename: 'c.bin' })).statusCode, 413);
	await guest.call('DELETE', locationOf(begun[1] as never), undefined, tus);
	t.is((await create(guest, 200, { filename: 'c.bin' })).statusCode, 201);
	time += 3 * 60_000;
	const late = await create(guest, 500, { filename: 'd.bin' });
	t.is(late.statusCode, 201, 'what nobody sends takes nothing for long');
	const resumed = await patch(guest, locationOf(begun[2] as never), 0, 'x'.repeat(200));
	t.is(resumed.statusCode, 413, 'and finds no room where others have taken it meanwhile');
	t.is((await patch(guest, locationOf(late), 0, 'x'.repeat(500))).statusCode, 204);
	t.like(await received(fixture, id), { uploads: 3, bytesReceived: 1000 });
	t.is((await patch(guest, locationOf(begun[2] as never), 0, 'x'.repeat(200))).statusCode, 413);
});

test('an upload that loses its room while it stalls is not received above what the share may', async (t) => {
	let time = Date.now();
	const fixture = await shareFixture(t, {}, { now: () => time });
	const { app, share } = fixture;
	const { id, base, guest } = await share(['docs'], { mode: 'upload', maxUploadBytes: 1000 });
	// With a checksum nothing is written of what has arrived before all has.
	const checksum = createHash('sha256').update('x'.repeat(900)).digest('base64');
	const slow = request(new URL(`${base}/uploads`, app.server.info.uri), {
		method: 'POST',
		headers: {
			...{ ...chunk, 'upload-checksum': `sha256 ${checksum}` },
			...{ 'upload-length': '900', 'content-length': '900', 'upload-metadata': metadata({ filename: 'slow.bin' }) },
		},
	});
	const answered = once(slow, 'response');
	slow.write('x'.repeat(100));
	const isBegun = async () => (await app.services.resumableUploads.listUnfinished()).length === 1;
	await until('it has begun', isBegun);
	// Its room is claimed when its body begins, which may be after its row is there.
	await until('its room is free', async () => {
		time += 3 * 60_000;
		return (await send(guest, 'fast.bin', 'x'.repeat(800))).statusCode === 201;
	});
	slow.end('x'.repeat(800));
	const [answer] = await answered;
	t.is(answer.statusCode, 413);
	answer.resume();
	t.like(await received(fixture, id), { uploads: 1, bytesReceived: 800 });
});

test('a sender takes a file back for an hour from the same client, as long as it is where it was put', async (t) => {
	let time = Date.now();
	const fixture = await shareFixture(t, {}, { now: () => time });
	const { app, ada, home, share } = fixture;
	const { id, base, guest } = await share(['docs'], { mode: 'upload' });
	await guest.get('');
	const sent = async (name: string) => locationOf(await send(guest, name, name));
	const take = async (who: ShareGuest, location: string) =>
		(await who.call('DELETE', location, undefined, tus)).statusCode;
	const one = await sent('one.txt');
	const other = new ShareGuest(app, base);
	await other.get('');
	t.is(await take(other, one), 404);
	t.is(await take(new ShareGuest(app, base), one), 404);
	t.is(await take(guest, one), 204);
	t.false((await readdir(home('docs'))).includes('one.txt'));
	t.deepEqual(json(await ada.get('/api/trash')).entries, []);
	t.like(await received(fixture, id), { uploads: 0, bytesReceived: 0 });
	t.is(await take(guest, one), 404);

	const two = await sent('two.txt');
	await rename(home('docs/two.txt'), home('docs/kept.txt'));
	await writeFile(home('docs/two.txt'), 'not sent');
	t.is(await take(guest, two), 404);
	t.is(await readFile(home('docs/two.txt'), 'utf8'), 'not sent');
	const edited = await sent('edited.txt');
	await writeFile(home('docs/edited.txt'), 'its owner has gone on with it');
	t.is(await take(guest, edited), 404);
	t.is(await readFile(home('docs/edited.txt'), 'utf8'), 'its owner has gone on with it');
	const three = await sent('three.txt');
	time += 60 * 60_000;
	t.is(await take(guest, three), 410);
	t.true((await readdir(home('docs'))).includes('three.txt'));
});

test('what its owner saves, or writes into it, while a sender takes a file back stays', async (t) => {
	const fixture = await shareFixture(t);
	const { app, ada, home, share } = fixture;
	const { guest } = await share(['docs'], { mode: 'upload' });
	await guest.get('');
	const { uploads } = app.services.database;
	const { beginTakeBack } = uploads;
	const take = async (name: string, change: () => Promise<unknown>) => {
		const location = locationOf(await send(guest, name, name));
		uploads.beginTakeBack = async (idHash) => {
			await change();
			return beginTakeBack(idHash);
		};
		return (await guest.call('DELETE', location, undefined, tus)).statusCode;
	};
	const replacing = [field('directory', 'docs'), field('onConflict', 'replace'), file('one.txt', 'its owner’s')];
	t.is(await take('one.txt', () => ada.upload('/api/upload', replacing)), 404);
	t.is(await readFile(home('docs/one.txt'), 'utf8'), 'its owner’s');
	t.is(json(await ada.get('/api/versions/docs/one.txt?type=private')).versions.length, 1);
	t.is(await take('two.txt', () => writeFile(home('docs/two.txt'), 'written by another program')), 404);
	t.is(await readFile(home('docs/two.txt'), 'utf8'), 'written by another program');
	t.is(await take('three.txt', () => rm(home('docs/three.txt'))), 404);
	t.is(await take('four.txt', async () => {}), 204);
	t.deepEqual(json(await ada.get('/api/trash')).entries, []);
});

test('what is sent counts in the quota of the owner and in the limits of visitors, and says nothing of the quota', async (t) => {
	const fixture = await shareFixture(t, { '--uploads-anonymous-files-per-hour': '3' });
	const { app, share } = fixture;
	const { guest } = await share(['docs'], { mode: 'upload' });
	await app.services.accounts.setQuota('ada', { bytes: 2000, entries: null });
	await until('the quota holds', async () => (await create(guest, 5000, { filename: 'a.bin' })).statusCode === 507);
	t.is(json(await create(guest, 5000, { filename: 'a.bin' })).message, 'There is not enough room for this here.');
	const statuses = [];
	for (let n = 0; n < 5; n++) statuses.push((await send(guest, `${n}.txt`, 'x')).statusCode);
	t.true(statuses.includes(201) && statuses.at(-1) === 429, statuses.join());
});

test('what visitors upload keeps no guest of a share from sending', async (t) => {
	const { app, share } = await shareFixture(t, { '--uploads-anonymous-total-files-per-hour': '2' });
	const { guest } = await share(['docs'], { mode: 'upload' });
	const visitor = new Client(app);
	const statuses = [];
	for (let n = 0; n < 3; n++) statuses.push((await visitor.upload('/api/upload/public', [file('a', 'x')])).statusCode);
	t.deepEqual(statuses, [200, 200, 429]);
	t.is((await send(guest, 'a.txt', 'x')).statusCode, 201);
	t.is((await send(guest, 'b.txt', 'x')).statusCode, 201);
	t.is((await send(guest, 'c.txt', 'x')).statusCode, 429);
});

test('a share receives where its owner has moved the folder, and nothing any more once it has ended', async (t) => {
	const { app, ada, home, share, change } = await shareFixture(t);
	const { id, guest } = await share(['docs'], { mode: 'both' });
	const location = locationOf(await create(guest, 4, { filename: 'new.txt' }));
	await patch(guest, location, 0, 'a');
	await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'papers', type: 'private' });
	await mkdir(home('docs'));
	t.is((await patch(guest, location, 1, 'bcd')).headers['stowage-entry-path'], 'new.txt');
	t.is(await readFile(home('papers/new.txt'), 'utf8'), 'abcd');
	t.deepEqual(await readdir(home('docs')), []);

	const second = locationOf(await create(guest, 4, { filename: 'second.txt' }));
	await change(id, { isPaused: true });
	t.is((await patch(guest, second, 0, 'abcd')).statusCode, 404);
	t.is((await send(guest, 'x.txt', 'x')).statusCode, 404);
	await change(id, { isPaused: false, password: 'very secret' });
	t.is((await patch(guest, second, 0, 'abcd')).statusCode, 401);
	await change(id, { password: null });
	await rename(home('papers'), home('aside'));
	await mkdir(home('papers'));
	t.is((await patch(guest, second, 0, 'abcd')).statusCode, 404, 'another folder of that name');
	t.deepEqual(await readdir(home('papers')), []);
	await ada.call('DELETE', `/api/shares/${id}`);
	t.is((await patch(guest, second, 0, 'abcd')).statusCode, 404);
	const records = await app.services.database.uploads.listAllUnfinished();
	t.is(records.length, 1);
});

test('a share receives what arrives while its owner moves the folder', async (t) => {
	const { app, ada, home, share } = await shareFixture(t);
	const { guest } = await share(['docs'], { mode: 'upload' });
	const { shares } = app.services.database;
	const findById = shares.findById.bind(shares);
	// Just after the row was read.
	shares.findById = async (...words) => {
		shares.findById = findById;
		const row = await findById(...words);
		await ada.post('/api/renameItem', { oldPath: 'docs', newName: 'papers', type: 'private' });
		return row;
	};
	const location = locationOf(await create(guest, 4, { filename: 'new.txt' }));
	t.is((await patch(guest, location, 0, 'abcd')).statusCode, 204);
	t.is(await readFile(home('papers/new.txt'), 'utf8'), 'abcd');
});

test('what is being sent to a share ends with it', async (t) => {
	const { app, share, change } = await shareFixture(t);
	const { id, base, guest } = await share(['docs'], { mode: 'upload' });
	const location = locationOf(await create(guest, 1_000_000, { filename: 'big.bin' }));
	const { hostname, port } = new URL(app.server.info.uri);
	const headers = { ...chunk, 'upload-offset': '0', 'content-length': '1000000' };
	const sending = request({ hostname, port, path: `${base}${location}`, method: 'PATCH', headers });
	const ended = new Promise((resolve) => sending.on('close', resolve));
	sending.on('error', () => {});
	const writing = setInterval(() => sending.write('x'.repeat(1000)), 20);
	t.teardown(async () => clearInterval(writing));
	await once(sending, 'socket');
	await change(id, { isPaused: true });
	await ended;
	clearInterval(writing);
	await change(id, { isPaused: false });
	const { headers: kept } = await guest.call('HEAD', location, undefined, tus);
	t.true(Number(kept['upload-offset']) < 1_000_000);
});

test('the owner reads who has sent how much to which share, also once the share is gone', async (t) => {
	const { app, ada, share } = await shareFixture(t);
	const { id, guest } = await share(['docs'], { mode: 'upload', askName: true });
	await guest.get('');
	await send(guest, 'a.txt', 'abc', { sender: 'Grace' });
	const second = locationOf(await send(guest, 'b.txt', 'defgh', { sender: 'Grace' }));
	const other = await share(['other'], { mode: 'both', title: 'For all' });
	await send(other.guest, 'c.txt', 'x');
	const received = async () =>
		json(await ada.get('/api/shares/received')).received.map(
			({ share: of, title, sender, files, bytes }: Record<string, unknown>) => [of, title, sender, files, bytes],
		);
	const lines = [
		[other.id, 'For all', null, 1, 1],
		[id, 'docs', 'Grace', 2, 8],
	];
	t.deepEqual(await received(), lines);
	await guest.call('DELETE', second, undefined, tus);
	t.deepEqual((await received())[1], [id, 'docs', 'Grace', 1, 3], 'what was taken back is not counted');
	await ada.call('DELETE', `/api/shares/${id}`);
	t.is((await received()).length, 2);
	const bob = await new Client(app).register('bob');
	t.deepEqual(json(await bob.get('/api/shares/received')), { received: [] });
	t.is((await new Client(app).get('/api/shares/received')).statusCode, 401);
});

test('what is taken back on a full database is counted no more once the call is repeated, and stays where it could not begin', async (t) => {
	const fixture = await shareFixture(t);
	const { share, home } = fixture;
	const { id, guest } = await share(['docs'], { mode: 'upload' });
	await guest.get('');
	const location = locationOf(await send(guest, 'new.txt', 'abc'));
	const { uploads } = fixture.app.services.database;
	const { beginTakeBack, takeBack } = uploads;
	const full = () => Promise.reject(new Failure('storageFull', 'The disk of the database is full.'));
	uploads.beginTakeBack = full;
	t.is((await guest.call('DELETE', location, undefined, tus)).statusCode, 507);
	t.is(await readFile(home('docs/new.txt'), 'utf8'), 'abc');
	Object.assign(uploads, { beginTakeBack, takeBack: full });
	t.is((await guest.call('DELETE', location, undefined, tus)).statusCode, 507);
	await t.throwsAsync(readFile(home('docs/new.txt')));
	t.like(await received(fixture, id), { uploads: 1, bytesReceived: 3 });
	Object.assign(uploads, { takeBack });
	t.is((await guest.call('DELETE', location, undefined, tus)).statusCode, 204);
	t.like(await received(fixture, id), { uploads: 0, bytesReceived: 0 });
	t.is((await guest.call('DELETE', location, undefined, tus)).statusCode, 404);
});

test('the audit log says that a visitor sent something to a share', async (t) => {
	const { app, share } = await shareFixture(t);
	const { id, guest } = await share(['docs'], { mode: 'upload', askName: true });
	await send(guest, 'a.txt', 'a', { sender: 'Bob' });
	await app.services.audit.close();
	const lines = (await recordsOf(app)).filter(({ action }) => ['upload', 'createFolder'].includes(action));
	t.is(lines.length, 2);
	for (const line of lines) t.like(line, { user: null, share: id, owner: 'ada', area: 'private', outcome: 'ok' });
	t.is(lines.find(({ action }) => action === 'upload')?.path, 'docs/Bob/a.txt');
});
