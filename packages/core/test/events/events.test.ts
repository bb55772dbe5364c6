import { appendFile, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { heldKind } from '../jobs/testJobs.js';
import { isChange, openEvents, type PageEvent } from '../openEvents.js';
import { scheduledTime, waitScheduled } from '../scheduledTime.js';
import { Client, json, testApp } from '../testApp.js';
import { until } from '../until.js';

/** Long enough ago that opening a stream sends no event. */
const longAgo = new Date('2020-01-01');

async function settle(...folders: string[]): Promise<void> {
	for (const folder of folders) await utimes(folder, longAgo, longAgo);
}

test('an event stream sends changes by other programs within two seconds', async (t) => {
	const app = await testApp(t);
	const { cookie } = await new Client(app).register('ada');
	const folder = path.join(app.filesDir, 'users/ada/docs');
	await mkdir(path.join(folder, 'below'), { recursive: true });
	await writeFile(path.join(folder, 'old.txt'), '1');
	await settle(path.join(folder, 'old.txt'), path.join(folder, 'below'), folder);
	const stream = await openEvents(app, '?type=private&directory=docs', cookie);
	t.is(stream.status, 200);
	t.is(stream.headers['content-type'], 'text/event-stream; charset=utf-8');
	t.is(stream.headers['cache-control'], 'private, no-store');
	t.is(stream.headers['x-accel-buffering'], 'no');
	t.is(stream.headers['content-encoding'], undefined);
	await stream.quiet();
	t.regex(stream.text(), /^retry: \d+\n\n(:\n\n)*$/, 'nothing has changed yet');

	const steps: [string, () => Promise<unknown>][] = [
		['a file is created', () => writeFile(path.join(folder, 'new.txt'), 'hello')],
		['a file grows', () => appendFile(path.join(folder, 'old.txt'), 'more')],
		['the time of a file changes', () => utimes(path.join(folder, 'new.txt'), 1, 1)],
		['a file is renamed', () => rename(path.join(folder, 'new.txt'), path.join(folder, 'renamed.txt'))],
		['a file is deleted', () => rm(path.join(folder, 'renamed.txt'))],
		['a folder in it gets a child', () => writeFile(path.join(folder, 'below/child'), '')],
	];
	for (const [what, step] of steps) {
		await stream.quiet();
		const started = scheduledTime();
		await step();
		const done = scheduledTime();
		const { data, at } = await stream.next((event) => isChange(event) && event.at >= started);
		t.deepEqual(data, { type: 'private', directory: 'docs' }, what);
		t.true(at - done < 2000, `${what}: ${at - done} ms`);
	}
	stream.close();
});

test('many changes a second send at most two events a second, and the last change is sent', async (t) => {
	const app = await testApp(t);
	const { cookie } = await new Client(app).register('ada');
	const folder = path.join(app.filesDir, 'users/ada/busy');
	await mkdir(folder);
	await settle(folder);
	const stream = await openEvents(app, '?type=private&directory=busy', cookie);
	const started = performance.now();
	let made = 0;
	// However busy this machine is.
	while (stream.events.length < 4 || made < 100) {
		await writeFile(path.join(folder, `file ${made++}`), '');
		await wait(8);
	}
	const sent = stream.events.length;
	const seconds = (performance.now() - started) / 1000;
	t.true(sent <= 2 * seconds + 1 && sent < made, `${sent} events for ${made} changes in ${seconds} s`);
	await stream.quiet();
	const last = scheduledTime();
	await writeFile(path.join(folder, 'last'), '');
	await stream.next((event) => event.at >= last);
	stream.close();
});

test('an event stream follows a folder that is renamed, deleted and created again', async (t) => {
	const app = await testApp(t);
	const { cookie } = await new Client(app).register('ada');
	const home = path.join(app.filesDir, 'users/ada');
	await mkdir(path.join(home, 'above/docs'), { recursive: true });
	await settle(path.join(home, 'above/docs'));
	const stream = await openEvents(app, '?type=private&directory=above/docs', cookie);
	const expectChange = async (what: string, step: () => Promise<unknown>) => {
		const started = scheduledTime();
		await step();
		const done = scheduledTime();
		const { at } = await stream.next((event) => isChange(event) && event.at >= started);
		t.true(at - done < 2000, `${what}: ${at - done} ms`);
		// Until the folder is watched at its present path, and all events of this step have arrived.
		await stream.quiet();
	};
	await expectChange('renamed above it', () => rename(path.join(home, 'above'), path.join(home, 'elsewhere')));
	await expectChange('renamed back', () => rename(path.join(home, 'elsewhere'), path.join(home, 'above')));
	await expectChange('a file is created', () => writeFile(path.join(home, 'above/docs/a'), ''));
	await expectChange('deleted', () => rm(path.join(home, 'above/docs'), { recursive: true }));
	await expectChange('created again', () => mkdir(path.join(home, 'above/docs')));
	await expectChange('a file is created again', () => writeFile(path.join(home, 'above/docs/a'), ''));
	stream.close();
});

test('a visitor’s event stream of a public folder sends changes by users, also in a tree that has the folder later', async (t) => {
	const app = await testApp(t, { '--public-listing': 'everyone' });
	const ada = await new Client(app).register('ada');
	const publicFolder = path.join(app.filesDir, 'Public/shared');
	await mkdir(publicFolder);
	await settle(publicFolder);
	const stream = await openEvents(app, '?directory=shared');
	t.is(stream.status, 200);
	await ada.post('/api/createFolder', { directory: '', folderName: 'shared', type: 'public' });
	await stream.next(isChange);
	await stream.quiet();
	await ada.upload('/api/upload', [
		{ name: 'directory', value: 'shared' },
		{ name: 'type', value: 'public' },
		{ name: 'file', value: 'hello', fileName: 'a.txt' },
	]);
	await stream.next(isChange);
	// Changes in a private home send no event to a visitor.
	await stream.quiet();
	const before = stream.events.length;
	await writeFile(path.join(app.filesDir, 'users/ada/private.txt'), '');
	await stream.quiet();
	t.is(stream.events.length, before);
	// A user whose tree did not exist when the stream was opened.
	const bob = await new Client(app).register('bob');
	await stream.quiet();
	const made = scheduledTime();
	await bob.post('/api/createFolder', { directory: '', folderName: 'shared', type: 'public' });
	await stream.next((event) => isChange(event) && event.at >= made);
	stream.close();
});

test('a change just before an event stream is opened is sent at once', async (t) => {
	const app = await testApp(t);
	const { cookie } = await new Client(app).register('ada');
	await writeFile(path.join(app.filesDir, 'users/ada/fresh.txt'), '');
	const stream = await openEvents(app, '?type=private', cookie);
	t.deepEqual((await stream.next(isChange)).data, { type: 'private', directory: '' });
	stream.close();
});

test('an event stream of a folder needs the permission to list it', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	t.is((await new Client(app).get('/api/events?type=private')).statusCode, 401);
	t.is((await new Client(app).get('/api/events?type=private&directory=nowhere')).statusCode, 401);
	t.is((await ada.get('/api/events?type=private&directory=nowhere')).statusCode, 404);
	t.is((await ada.get('/api/events?directory=nowhere')).statusCode, 404);
	t.is((await ada.get('/api/events?directory=../etc')).statusCode, 400);
	t.is((await ada.get('/api/events?type=else')).statusCode, 400);
	t.is((await ada.call('HEAD', '/api/events?type=private')).statusCode, 200);
});

test('signing out ends the event streams of that session and of no other', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const elsewhere = new Client(app);
	await elsewhere.post('/api/login', { username: 'ada', password: 'correct horse' });
	const stream = await openEvents(app, '?type=private', ada.cookie);
	const other = await openEvents(app, '?type=private', elsewhere.cookie);
	let hasOtherEnded = false;
	void other.ended().then(
		() => {
			hasOtherEnded = true;
		},
		() => {},
	);
	t.is((await ada.get('/api/logout')).statusCode, 200);
	await stream.ended();
	await waitScheduled(1200);
	t.false(hasOtherEnded);
	other.close();
});

test('events of tickets and jobs are sent only to their owner and to clients that have the ticket', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	const [owner, otherUser, ticketHolder, visitor] = await Promise.all([
		openEvents(app, '?type=private', ada.cookie),
		openEvents(app, '?type=private', bob.cookie),
		openEvents(app, '?ticket=secret1&ticket=secret2'),
		openEvents(app, ''),
	]);
	const user = await app.services.database.users.find('ada');
	const userId = user?.id ?? '';
	const ticket = { kind: 'ticket', ticket: 'secret2', sent: 5, size: 10, state: 'sending' } as const;
	app.services.notifications.publish({ ticket: 'secret2' }, ticket);
	app.services.notifications.publish({ userId }, { ...ticket, ticket: 'hers' });
	t.deepEqual((await ticketHolder.next(({ event }) => event === 'ticket')).data, {
		ticket: 'secret2',
		sent: 5,
		size: 10,
		state: 'sending',
	});
	t.is((await owner.next(({ event }) => event === 'ticket')).data.ticket, 'hers');
	const { kind, runs } = heldKind();
	const starter = app.services.jobs.define(kind);
	const { id } = await starter.start({ kind: 'user', id: userId, username: 'ada' }, 'x', 'Copy 2 items');
	const isRunning = ({ event, data }: PageEvent) =>
		event === 'job' && (data.job as { status: string }).status === 'processing';
	const { data } = await owner.next(isRunning);
	t.deepEqual(data, { job: json(await ada.get(`/api/jobs/${id}`)) });
	t.like(data.job, { id, kind: 'test', title: 'Copy 2 items', canCancel: true });
	for (const run of runs) run.finish();
	await Promise.all([otherUser.quiet(), visitor.quiet()]);
	for (const stream of [otherUser, visitor])
		t.deepEqual(
			stream.events.filter(({ event }) => event !== 'changed'),
			[],
		);
	for (const stream of [owner, otherUser, ticketHolder, visitor]) stream.close();
});

test('what one client deletes, restores or removes for good is an event for the pages of its user alone', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	const folder = path.join(app.filesDir, 'users/ada');
	const streams = await Promise.all([ada, bob].map(({ cookie }) => openEvents(app, '?type=private', cookie)));
	const [own, other] = streams as [(typeof streams)[0], (typeof streams)[0]];
	const remove = async (filePath: string) => {
		await writeFile(path.join(folder, filePath), filePath);
		return json(await ada.call('DELETE', '/api/deleteItem', { filePath, type: 'private' })).trashId as string;
	};
	const steps: [string, () => Promise<unknown>][] = [
		['one is deleted', () => remove('a')],
		['one is deleted whose path is too long for a name', () => remove('ü'.repeat(120))],
		['one is restored', async () => ada.post('/api/trash/restore', { ids: [await remove('b')] })],
		['one is removed for good', async () => ada.call('DELETE', `/api/trash/${await remove('c')}`)],
		['the trash is emptied', () => ada.call('DELETE', '/api/trash')],
	];
	for (const [what, step] of steps) {
		await own.quiet();
		const started = scheduledTime();
		await step();
		const { data } = await own.next(({ event, at }) => event === 'trash' && at >= started);
		t.deepEqual(data, {}, what);
	}
	t.deepEqual(
		other.events.filter(({ event }) => event === 'trash'),
		[],
	);
	for (const stream of streams) stream.close();
});

test('a user has at most 32 event streams, and a closed one makes room for another', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const open = await Promise.all(Array.from({ length: 32 }, () => openEvents(app, '?type=private', ada.cookie)));
	t.true(open.every(({ status }) => status === 200));
	const refused = await ada.get('/api/events?type=private');
	t.is(refused.statusCode, 429);
	t.is(json(refused).code, 'RATE_LIMITED');
	t.truthy(refused.headers['retry-after']);
	const visitor = await openEvents(app, '');
	t.is(visitor.status, 200);
	for (const stream of open) stream.close();
	await until('there is room again', async () => {
		const again = await openEvents(app, '?type=private', ada.cookie);
		again.close();
		return again.status === 200;
	});
	visitor.close();
});

test('a stopping server ends its event streams without waiting for them', async (t) => {
	const app = await testApp(t);
	const stream = await openEvents(app, '');
	const started = scheduledTime();
	await app.server.stop({ timeout: 60_000 });
	t.true(scheduledTime() - started < 10_000);
	await stream.ended();
});
