import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { Client, json, testApp } from '../testApp.js';
import { until } from '../until.js';

const on = { '--external-viewers': 'true', '--public-url': 'https://files.example.org' };

async function withAda(t: Parameters<typeof testApp>[0], flags: Record<string, string> = on) {
	let time = Date.now();
	let passed = 1000;
	const app = await testApp(t, flags, { now: () => time, monotonic: () => passed });
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	writeFileSync(path.join(home, 'sheet 1.xlsx'), 'cells');
	const correct = (ms: number) => (time += ms);
	const advance = (ms: number) => {
		time += ms;
		passed += ms;
	};
	return { app, ada, home, bearer: new Client(app), advance, correct, now: () => time };
}

const local = (url: string) => url.replace('https://files.example.org', '');

test('an external viewer can fetch the document without a session, for ten minutes', async (t) => {
	const { ada, bearer, advance, now } = await withAda(t);
	const made = await ada.post('/api/viewerLink', { path: 'sheet 1.xlsx', type: 'private' });
	t.is(made.statusCode, 201);
	const { url, expiresAt } = json(made);
	t.regex(url, /^https:\/\/files\.example\.org\/api\/viewerLink\/[\w-]{43}\/sheet%201\.xlsx$/);
	t.is(expiresAt, now() + 10 * 60_000);
	const answer = await bearer.get(local(url));
	t.is(answer.payload, 'cells');
	t.is(answer.headers['cache-control'], 'private, no-store');
	t.regex(String(answer.headers['content-disposition']), /^attachment/);
	t.is((await bearer.get(local(url), { range: 'bytes=1-2' })).payload, 'el');
	t.is((await bearer.call('HEAD', local(url))).statusCode, 200);
	t.deepEqual(json(await ada.get('/api/links')), [], 'it is not listed as a temporary link');
	advance(10 * 60_000);
	t.is((await bearer.get(local(url))).statusCode, 410);
});

test('the URL for an external viewer ends after ten minutes, also where the clock was ahead as it was made or is set back since', async (t) => {
	const { app, ada, bearer, advance, correct } = await withAda(t);
	writeFileSync(path.join(app.filesDir, 'Public/slides.odp'), 'slides');
	const made = async (who: Client, at: object) => local(json(await who.post('/api/viewerLink', at)).url);
	const ofVisitor = () => made(bearer, { path: 'slides.odp', type: 'public' });
	const status = async (url: string) => (await bearer.get(url)).statusCode;
	const urls = [await made(ada, { path: 'sheet 1.xlsx', type: 'private' }), await ofVisitor()];
	correct(-60 * 60_000);
	for (const url of urls) t.is(await status(url), 200, 'a correction ends none');
	advance(10 * 60_000);
	for (const url of urls) t.is(await status(url), 410, 'nor does it lengthen any');

	const year = 365 * 24 * 60 * 60_000;
	correct(year);
	// Nobody's session ends with it, and no process knows when it was made.
	const ahead = await ofVisitor();
	const { app: next } = await withAda(t);
	const token = ahead.split('/').at(-2) ?? '';
	const row = await app.services.database.keyValues('viewer-links').get(token);
	await next.services.database.keyValues('viewer-links').set(token, row, 2 * year);
	writeFileSync(path.join(next.filesDir, 'Public/slides.odp'), 'slides');
	t.is((await new Client(next).get(ahead)).statusCode, 410, 'one of the future was made while the clock was wrong');
});

test('the URL for an external viewer serves only that file, and no other one of its name', async (t) => {
	const { ada, home, bearer } = await withAda(t);
	const { url } = json(await ada.post('/api/viewerLink', { path: 'sheet 1.xlsx', type: 'private' }));
	t.true((await bearer.get(`${local(url)}/../../../b.txt`)).statusCode >= 400);
	t.is((await bearer.get(local(url).replace(/[\w-]{43}/, 'A'.repeat(43)))).statusCode, 404);
	writeFileSync(path.join(home, 'other'), 'secret');
	renameSync(path.join(home, 'other'), path.join(home, 'sheet 1.xlsx'));
	t.is((await bearer.get(local(url))).statusCode, 404);
	rmSync(path.join(home, 'sheet 1.xlsx'));
	t.is((await bearer.get(local(url))).statusCode, 404);
});

test('a URL for an external viewer is refused for files that the caller may not see or that are not documents', async (t) => {
	const { app, home, ada } = await withAda(t);
	const bob = await new Client(app).register('bob');
	t.is((await bob.post('/api/viewerLink', { path: 'sheet 1.xlsx', type: 'private' })).statusCode, 404);
	const visitor = new Client(app);
	t.is((await visitor.post('/api/viewerLink', { path: 'sheet 1.xlsx', type: 'private' })).statusCode, 401);
	writeFileSync(path.join(home, 'key.pem'), 'secret');
	mkdirSync(path.join(home, 'folder.odt'));
	t.is((await ada.post('/api/viewerLink', { path: 'key.pem', type: 'private' })).statusCode, 400);
	t.true((await ada.post('/api/viewerLink', { path: 'folder.odt', type: 'private' })).statusCode >= 400);
	writeFileSync(path.join(app.filesDir, 'Public/slides.odp'), 'slides');
	const made = await visitor.post('/api/viewerLink', { path: 'slides.odp', type: 'public' });
	t.is((await visitor.get(local(json(made).url))).payload, 'slides');
});

test('a URL for an external viewer is refused unless the setting is on and the public URL is https', async (t) => {
	for (const flags of [{}, { '--external-viewers': 'true' }, { ...on, '--public-url': 'http://files.example.org' }]) {
		const { ada } = await withAda(t, flags as Record<string, string>);
		const answer = await ada.post('/api/viewerLink', { path: 'sheet 1.xlsx', type: 'private' });
		t.is(answer.statusCode, 403);
		t.is(json(answer).code, 'FORBIDDEN');
	}
});

const password = 'correct horse';
const newPassword = 'another horse';

const endings: Record<string, (s: Awaited<ReturnType<typeof withAda>>) => Promise<unknown>> = {
	'the sign-out': ({ ada }) => ada.get('/api/logout'),
	'its end by another session': async ({ app }) => {
		const phone = new Client(app);
		await phone.post('/api/login', { username: 'ada', password });
		return phone.call('DELETE', '/api/sessions');
	},
	'a new password': ({ ada }) =>
		ada.post('/api/password', { currentPassword: password, newPassword, newPasswordConfirm: newPassword }),
	'a new name': ({ app }) => app.services.accounts.rename('ada', 'lovelace'),
	'a disabled account': ({ app }) => app.services.accounts.setDisabled('ada', true),
	'a removed account': ({ app }) => app.services.accounts.remove('ada', { kind: 'keep' }),
};

for (const [ending, end] of Object.entries(endings)) {
	test(`the URLs for an external viewer end with their session: by ${ending}`, async (t) => {
		const setting = await withAda(t);
		const { app, ada, home, bearer } = setting;
		writeFileSync(path.join(home, 'Public/open.xlsx'), 'cells');
		writeFileSync(path.join(app.filesDir, 'Public/slides.odp'), 'slides');
		const urls: string[] = [];
		for (const item of [
			{ path: 'sheet 1.xlsx', type: 'private' },
			{ path: 'open.xlsx', type: 'public' },
			{ path: 'slides.odp', type: 'public', owner: null },
		]) {
			const made = await ada.post('/api/viewerLink', item);
			t.is(made.statusCode, 201, made.payload);
			urls.push(local(json(made).url));
		}
		for (const url of urls) t.is((await bearer.get(url)).statusCode, 200);
		await end(setting);
		for (const url of urls) t.is((await bearer.get(url)).statusCode, 404, url);
	});
}

test('a session that ends breaks off what is sent to an external viewer', async (t) => {
	const { app, ada, home } = await withAda(t);
	writeFileSync(path.join(home, 'large.odt'), Buffer.alloc(32 * 1024 * 1024));
	const { url } = json(await ada.post('/api/viewerLink', { path: 'large.odt', type: 'private' }));
	const { hostname, port } = new URL(app.server.info.uri);
	const sent = request({ hostname, port, path: local(url), agent: false });
	sent.end();
	const [answer] = (await once(sent, 'response')) as [IncomingMessage];
	// Not read before the server has closed its end, or it would be complete by then.
	const closed = new Promise((resolve) => answer.on('close', resolve));
	answer.on('error', () => {});
	await ada.get('/api/logout');
	const connections = promisify(app.server.listener.getConnections.bind(app.server.listener));
	await until('the server has closed the connection', async () => (await connections()) === 0);
	answer.resume();
	await closed;
	t.false(answer.complete);
});
