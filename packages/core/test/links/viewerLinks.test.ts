import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { Client, json, testApp } from '../testApp.js';

const on = { '--external-viewers': 'true', '--public-url': 'https://files.example.org' };

async function withAda(t: Parameters<typeof testApp>[0], flags: Record<string, string> = on) {
	let time = Date.now();
	const app = await testApp(t, flags, { now: () => time });
	const ada = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	writeFileSync(path.join(home, 'sheet 1.xlsx'), 'cells');
	return { app, ada, home, bearer: new Client(app), advance: (ms: number) => (time += ms), now: () => time };
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
