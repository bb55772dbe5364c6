import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import type { ExecutionContext } from 'ava';
import test from 'ava';
import { openEvents } from '../openEvents.js';
import { addressOf } from '../rawRequest.js';
import { Client, file, json, testApp } from '../testApp.js';
import { begin, create, patch } from '../tusClient.js';
import { until } from '../until.js';

const failure = { code: 'NOT_SIGNED_IN', error: 'You must be logged in to do that.' };

/** A server with a public file of Ada's and one of a visitor, before visitors may do less. */
async function setUp(t: ExecutionContext) {
	const app = await testApp(t);
	const visitor = new Client(app);
	const ada = await new Client(app).register('ada');
	t.is((await ada.upload('/api/upload/public', [file('hers.txt', 'hers')])).statusCode, 200);
	t.is((await visitor.upload('/api/upload/public', [file('shown.txt', 'shown')])).statusCode, 200);
	await writeFile(path.join(app.filesDir, 'users/ada/private.txt'), 'private');
	return { app, visitor, ada, config: app.services.config as { visitors: string } };
}

/** What a visitor reads: each call with its status while they may. */
const reads = [
	['GET', '/api/browse/public', undefined],
	['GET', '/api/browse/public?search=shown', undefined],
	['GET', '/api/download/shown.txt?type=public&owner=anonymous', undefined],
	['GET', '/api/download/hers.txt?type=public&owner=ada', undefined],
	['GET', '/api/thumbnail/shown.txt?type=public&owner=anonymous&size=256', undefined],
	['POST', '/api/downloadZip', { files: [{ path: 'shown.txt', owner: 'anonymous' }], type: 'public', directory: '' }],
	[
		'POST',
		'/api/downloadTickets',
		{ files: [{ path: 'shown.txt', owner: 'anonymous' }], type: 'public', directory: '' },
	],
] as const;

test('a visitor of a server where visitors read can do that, and upload nothing', async (t) => {
	const { visitor, ada, config } = await setUp(t);
	const location = await begin(visitor, 8, { filename: 'late.txt' });
	config.visitors = 'read';
	t.is(json(await visitor.get('/api/capabilities')).visitors, 'read');
	for (const [method, url, payload] of reads)
		t.not((await visitor.call(method, url, payload)).statusCode, 401, `${method} ${url}`);
	const form = await visitor.upload('/api/upload/public', [file('no.txt', 'no')]);
	t.is(form.statusCode, 401);
	t.like(json(form), failure);
	t.is((await create(visitor, 2, { filename: 'no.txt' })).statusCode, 401);
	t.is((await patch(visitor, location, 0, 'too late')).statusCode, 401, 'also an upload that was begun before');
	t.is((await ada.upload('/api/upload/public', [file('more.txt', 'more')])).statusCode, 200);
	config.visitors = 'upload';
	t.is((await patch(visitor, location, 0, 'in time.')).statusCode, 204);
});

test('a visitor of a server where visitors are off gets nothing but temporary links', async (t) => {
	const { visitor, ada, config } = await setUp(t);
	const link = json(await ada.post('/api/generateTempLink', { filePath: 'private.txt', expiration: '1h' }));
	const ticket = json(await visitor.call(...reads[6])).url;
	config.visitors = 'off';
	for (const [method, url, payload] of reads) {
		const answer = await visitor.call(method, url, payload);
		t.is(answer.statusCode, 401, `${method} ${url}`);
		t.is(json(answer).code, 'NOT_SIGNED_IN', `${method} ${url}`);
		t.false(/shown|hers/.test(answer.payload.replace(url, '')), `${method} ${url}`);
	}
	t.is((await visitor.get(ticket)).statusCode, 401, 'a ticket from before');
	t.is((await visitor.upload('/api/upload/public', [file('no.txt', 'no')])).statusCode, 401);
	t.is((await create(visitor, 2, { filename: 'no.txt' })).statusCode, 401);
	t.is((await visitor.get(`/api/temp/${link.token}`)).payload, 'private');
	const names = ({ entries }: { entries: { name: string }[] }) => entries.map(({ name }) => name).sort();
	t.deepEqual(names(json(await ada.get('/api/browse?type=public'))), ['hers.txt', 'shown.txt']);
	t.deepEqual(names(json(await ada.get('/api/browse/public'))), ['shown.txt'], 'as visitors would see it');
	t.is((await ada.get('/api/download/shown.txt?type=public&owner=anonymous')).payload, 'shown');
});

test('what visitors may do also applies to a form that is still arriving', async (t) => {
	const { app, config } = await setUp(t);
	const form = request({
		...addressOf(app),
		method: 'POST',
		path: '/api/upload/public',
		headers: { 'content-type': 'multipart/form-data; boundary=b' },
	});
	form.write('--b\r\ncontent-disposition: form-data; name="file"; filename="slow.txt"\r\n\r\nslow');
	await until('its first bytes', async () => (await readdir(path.join(app.filesDir, '.stowage/staging'))).length > 0);
	config.visitors = 'read';
	form.end('\r\n--b--\r\n');
	const [answer] = (await once(form, 'response')) as [IncomingMessage];
	t.is(answer.statusCode, 401);
	answer.resume();
	t.deepEqual(await readdir(path.join(app.filesDir, 'users/anonymous/Public')), ['shown.txt']);
});

test('the event stream of a visitor ends with the first change that they may not see', async (t) => {
	const { app, visitor, config } = await setUp(t);
	const stream = await openEvents(app, '?type=public&directory=');
	t.is(stream.status, 200);
	await stream.quiet();
	const before = stream.events.length;
	config.visitors = 'off';
	await writeFile(path.join(app.filesDir, 'users/anonymous/Public/late.txt'), 'late');
	await stream.ended();
	t.is(stream.events.length, before);
	t.is((await visitor.get('/api/events?type=public&directory=')).statusCode, 401);
});
