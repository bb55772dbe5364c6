import { randomBytes } from 'node:crypto';
import { Failure } from '@stowage/rules';
import test from 'ava';
import { endFailedRequest } from '../../src/http/connections/endFailedRequest.js';
import { createLog, withPriorities } from '../../src/log.js';
import { codeAt } from '../authenticator.js';
import { auditText, Client, file, json, testApp } from '../testApp.js';
import { begin, head, patch, remove } from '../tusClient.js';

/** A log of all levels, and its lines. */
function recordingLog() {
	const lines: string[] = [];
	return { log: createLog('trace', { write: (line) => void lines.push(line) }), lines };
}

test('the log and the audit log never contain a token, a ticket, an upload id, a cookie, a password or a secret or code of the second factor, also when requests fail', async (t) => {
	const { log, lines } = recordingLog();
	const app = await testApp(t, { '--audit-record': 'all' }, { log });
	const { database, roots } = app.services;
	const { storage } = roots.first;
	const ada = await new Client(app).register('ada', 'very secret horse');
	const other = new Client(app);
	await other.post('/api/login', { username: 'ada', password: 'wrong secret horse' });
	await other.post('/api/login', { username: 'typed secret horse', password: 'x' });
	await ada.upload('/api/upload', [file('a.txt', 'twelve bytes')]);
	const { token } = json(await ada.post('/api/generateTempLink', { filePath: 'a.txt', expiration: '1d' }));
	const { ticket } = json(
		await ada.post('/api/downloadTickets', { type: 'private', directory: '', files: [{ path: 'a.txt' }] }),
	);
	const sharing = { items: [{ path: 'a.txt' }], mode: 'view', password: 'shared secret horse' };
	const share = json(await ada.post('/api/shares', sharing))
		.url.split('/')
		.at(-1) as string;
	const opened = await other.post(`/api/share/${share}/open`, { password: 'shared secret horse' });
	const [shareCookie = ''] = opened.headers['set-cookie']?.[0]?.split(';') ?? [];
	const upload = await begin(ada, 12, { filename: 'b.txt' });
	const guess = randomBytes(32).toString('base64url');
	const key = randomBytes(32).toString('base64url');
	const follow = async () => {
		const asGuest = { cookie: shareCookie };
		for (const below of ['', '/browse', '/download/a.txt', '/thumbnail/a.txt?size=256']) {
			await other.get(`/api/share/${share}${below}`);
			await other.get(`/api/share/${share}${below}`, asGuest);
			await other.get(`/api/share/${guess}${below}`);
		}
		await other.post(`/api/share/${share}/open`, { password: 'wrong secret horse' });
		for (const url of [`/api/temp/${token}`, `/api/temp/${guess}`, `/api/downloadTickets/${ticket}`]) {
			await other.get(url);
			await other.get(url, { range: 'bytes=0-1', accept: 'text/html' });
			await other.call('HEAD', url);
			await other.call('POST', url);
		}
		await patch(ada, upload, 0, 'twelve');
		await head(ada, upload);
		await patch(other, upload, 0, 'twelve');
		await ada.get(`/api/uploads/${guess}`);
		await ada.upload('/api/upload', [file('c.txt', 'C')], { 'stowage-upload-key': key });
	};
	await follow();

	// The database is unavailable, then has an unexpected error: lines of refusals, then of stacks.
	const { find: findLink } = database.links;
	const { find: findShare } = database.shares;
	const { find: findTicket } = database.tickets;
	const { find: findUpload } = database.uploads;
	for (const error of [new Failure('unavailable', 'The database is unavailable.'), new Error('a fault')]) {
		const fail = () => Promise.reject(error);
		Object.assign(database.links, { find: fail });
		Object.assign(database.shares, { find: fail });
		Object.assign(database.tickets, { find: fail });
		Object.assign(database.uploads, { find: fail });
		await follow();
	}
	Object.assign(database.links, { find: findLink });
	Object.assign(database.shares, { find: findShare });
	Object.assign(database.tickets, { find: findTicket });
	Object.assign(database.uploads, { find: findUpload });

	// Reading the file fails while its link is used.
	const open = storage.open.bind(storage);
	storage.open = async (...place) => {
		const opened = await open(...place);
		return {
			...{ item: opened.item, isChanged: () => opened.isChanged(), close: () => opened.close() },
			async *read() {
				yield Buffer.from('tw');
				throw new Error('the disk is broken');
			},
		};
	};
	for (const url of [`/api/temp/${token}`, `/api/downloadTickets/${ticket}`])
		await t.throwsAsync(other.get(url), undefined, 'the download is aborted');
	const shared = `/api/share/${share}/download/a.txt`;
	await t.throwsAsync(other.get(shared, { cookie: shareCookie }), undefined, 'the download is aborted');
	storage.open = open;
	await remove(ada, upload);
	const passwords = { currentPassword: 'very secret horse', newPassword: 'new secret horse' };
	await ada.post('/api/password', { ...passwords, newPasswordConfirm: 'new secret horse' });
	const { secret, recoveryCodes } = json(await ada.post('/api/totp', {}));
	const code = codeAt(secret);
	t.is((await ada.post('/api/totp/confirm', { code })).statusCode, 200);
	const signIn = { username: 'ada', password: 'new secret horse' };
	const entered = 'WRON-GCOD-EWRO-NGCO';
	for (const each of [code, entered, recoveryCodes[0]]) await other.post('/api/login', { ...signIn, code: each });
	const { find } = database.secondFactors;
	Object.assign(database.secondFactors, { find: () => Promise.reject(new Error('a fault')) });
	await other.post('/api/login', { ...signIn, code: recoveryCodes[1] });
	Object.assign(database.secondFactors, { find });
	await ada.call('DELETE', '/api/totp', { currentPassword: 'wrong secret horse' });
	const turnOff = { currentPassword: 'new secret horse', code: recoveryCodes[2] };
	t.is((await ada.call('DELETE', '/api/totp', turnOff)).statusCode, 200);
	await ada.get('/api/logout');
	await app.services.audit.close();

	lines.push(await auditText(app));
	const text = lines.join('');
	t.true(
		text.includes('a fault') && text.includes('the disk is broken') && text.includes('The database is unavailable.'),
	);
	const id = upload.split('/').at(-1) ?? '';
	const cookies = [ada.cookie, ada.device].map((cookie) => cookie?.split('=', 2)[1] ?? '');
	const secrets = {
		totp: secret,
		entered,
		recoveryCode: recoveryCodes[0],
		otherCode: recoveryCodes[1],
		token,
		share,
		shareCookie: shareCookie.slice('share='.length),
		ticket,
		id,
		guess,
		key,
		device: cookies[1] ?? '',
		password: 'secret horse',
		cookie: 'Fe26.2*',
	};
	for (const [name, secret] of Object.entries(secrets)) {
		t.true(secret.length > 6, name);
		t.false(text.includes(secret), name);
	}
});

test('an unexpected error beside a request is logged with the route, never with the token in its address', async (t) => {
	for (const basePath of ['', '/files']) {
		const { log, lines } = recordingLog();
		const app = await testApp(t, { '--base-path': basePath }, { log });
		app.server.ext('onPreResponse', (_request, h) => {
			endFailedRequest(new Error('a fault'), log);
			return h.continue;
		});
		const token = randomBytes(32).toString('base64url');
		const places = [
			'/s/',
			'/s/of%2F',
			'/api/temp/',
			'/api/share/',
			'/api/downloadTickets/',
			'/api/uploads/',
			'/',
			'/no/',
		];
		for (const place of places) {
			await t.throwsAsync(new Client(app).get(`${basePath}${place}${token}`), undefined, 'its connection is closed');
			await t.throwsAsync(new Client(app).get(`http://nas${basePath}${place}${token}?of=${token}`), undefined, place);
		}
		const faults = lines.map((line) => JSON.parse(line)).filter(({ err }) => err?.message === 'a fault');
		t.is(faults.length, 2 * places.length);
		t.false(lines.join('').includes(token));
		t.like(faults[4], { method: 'GET', path: `${basePath}/api/temp/{token}` });
	}
});

test('log lines of a request contain its id and its user', async (t) => {
	const { log, lines } = recordingLog();
	const app = await testApp(t, {}, { log });
	const ada = await new Client(app).register('ada');
	app.services.database.users.settings = () => Promise.reject(new Error('a fault'));
	const { requestId } = json(await ada.get('/api/checkLoginStatus'));
	const [line] = lines.map((each) => JSON.parse(each)).filter(({ msg }) => msg === 'unexpected error');
	t.is(line.requestId, requestId);
	t.is(line.user, 'ada');
	await ada.get('/api/logout');
});

test('each log line for the journal begins with its priority', (t) => {
	const lines: string[] = [];
	const log = createLog('trace', withPriorities({ write: (line) => void lines.push(line) }));
	for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const) log[level]('a line');
	t.deepEqual(
		lines.map((line) => line.slice(0, 12)),
		['<7>{"level":', '<7>{"level":', '<6>{"level":', '<4>{"level":', '<3>{"level":', '<2>{"level":'],
	);
});

test('a line of the log contains nothing that a terminal obeys, and its values are exact, also of a plugin', (t) => {
	const { log, lines } = recordingLog();
	const name = 'a\u202Egpj.\u2066exe\u009B31m\u001B[2J\u2028';
	log.warn({ name, err: new Error(name) }, `failed: ${name}`);
	log.child({ plugin: name }).info('done');
	t.is(lines.length, 2);
	for (const line of lines) t.regex(line, /^[\x20-\x7e]*\n$/);
	t.like(JSON.parse(lines[0] ?? ''), { name, msg: `failed: ${name}`, err: { message: name } });
	t.is(JSON.parse(lines[1] ?? '').plugin, name);
});
