import test from 'ava';
import { openEvents } from '../openEvents.js';
import { Client, json, testApp } from '../testApp.js';
import { until } from '../until.js';
import { heldKind } from './testJobs.js';

test('a user lists, reads, cancels and retries their jobs, and each change is published to their pages', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const stream = await openEvents(app, '?type=private', ada.cookie);
	const isJob = (status: string) => (event: { event: string; data: Record<string, unknown> }) =>
		event.event === 'job' && (event.data.job as { status: string }).status === status;
	const { kind, runs } = heldKind();
	const starter = app.services.jobs.define(kind);
	const user = await app.services.database.users.find('ada');
	const owner = { kind: 'user', id: user?.id ?? '', username: 'ada' } as const;
	const { id } = await starter.start(owner, 'x', 'Copy 3 items');
	await until('the job runs', () => runs.length === 1);
	await stream.next(isJob('processing'));
	const listed = json(await ada.get('/api/jobs'));
	t.is(listed.length, 1);
	t.deepEqual(Object.keys(listed[0]).sort(), [
		...[
			'canCancel',
			'canRetry',
			'createdAt',
			'detail',
			'done',
			'endTime',
			'error',
			'hold',
			'id',
			'kind',
			'speed',
			'startTime',
			'status',
		],
		...['timeLeft', 'title', 'total', 'unit'],
	]);
	t.like(listed[0], { id, kind: 'test', status: 'processing', title: 'Copy 3 items', speed: null });
	t.deepEqual(json(await ada.get(`/api/jobs/${id}`)), listed[0]);
	t.is((await ada.post(`/api/jobs/${id}/retry`, undefined)).statusCode, 409);
	runs[0]?.context.progress({ done: 1, total: 3, unit: 'items' });
	t.like((await stream.next(isJob('processing'))).data.job, { done: 1, total: 3 });
	t.is((await ada.call('DELETE', `/api/jobs/${id}`)).statusCode, 200);
	await stream.next(isJob('cancelled'));
	t.like(json(await ada.get(`/api/jobs/${id}`)), { status: 'cancelled', canRetry: true });
	t.is((await ada.call('DELETE', `/api/jobs/${id}`)).statusCode, 200, 'cancelling an ended job changes nothing');
	t.like(json(await ada.post(`/api/jobs/${id}/retry`, undefined)), { id, status: 'queued' });
	await until('the job runs again', () => runs.length === 2);
	runs[1]?.finish({ copied: 3 });
	t.like((await stream.next(isJob('completed'))).data.job, { id, detail: { copied: 3 } });
	stream.close();
});

test('another user’s job is answered like an unknown id, and a visitor gets 401', async (t) => {
	const app = await testApp(t);
	await new Client(app).register('ada');
	const bob = await new Client(app).register('bob');
	const { kind, runs } = heldKind();
	const starter = app.services.jobs.define(kind);
	const user = await app.services.database.users.find('ada');
	const { id } = await starter.start({ kind: 'user', id: user?.id ?? '', username: 'ada' }, 'x', 'secret plans');
	await until('the job runs', () => runs.length === 1);
	const calls = (jobId: string) =>
		[
			['GET', `/api/jobs/${jobId}`],
			['DELETE', `/api/jobs/${jobId}`],
			['POST', `/api/jobs/${jobId}/retry`],
		] as const;
	const unknown = 'f'.repeat(32);
	for (const [index, [method, url]] of calls(id).entries()) {
		const answer = await bob.call(method, url);
		t.is(answer.statusCode, 404, `${method} ${url}`);
		// The same message as for an unknown id.
		const [, other = ''] = calls(unknown)[index] ?? [];
		t.is(answer.payload.replaceAll(id, unknown), (await bob.call(method, other)).payload);
		t.is((await new Client(app).call(method, url)).statusCode, 401);
	}
	for (const wrong of [
		'%00',
		'x'.repeat(300),
		'%F0%9F%98%80',
		`${id}%20`,
		id.toUpperCase(),
		'__proto__',
		'%27%20or%201=1',
	]) {
		t.is((await bob.get(`/api/jobs/${wrong}`)).statusCode, 404, wrong);
	}
	t.is((await new Client(app).get('/api/jobs')).statusCode, 401);
	t.deepEqual(json(await bob.get('/api/jobs')), []);
	t.false(runs[0]?.context.signal.aborted);
});

test('a job counts for the network of the request that asked for it', async (t) => {
	const app = await testApp(t, { '--trusted-proxies': '127.0.0.1' });
	const ada = await new Client(app).register('ada');
	const { database } = app.services;
	const networks: string[] = [];
	const { add } = database.jobs;
	database.jobs.add = async (job, limits) => {
		networks.push(job.network);
		await add(job, limits);
	};
	await ada.post('/api/createFolder', { directory: '', folderName: 'docs', type: 'private' });
	const copy = { kind: 'copy', type: 'private', directory: '', items: [{ path: 'docs' }] };
	for (const address of ['203.0.113.9', '2001:db8:1:2::3', '2001:db8:1:ffff::4'])
		t.is((await ada.post('/api/jobs', copy, { 'x-forwarded-for': address })).statusCode, 202);
	const item = { fromPath: 'docs', toPath: 'copy', type: 'private' };
	const single = { 'x-forwarded-for': '203.0.113.10', prefer: 'respond-async' };
	t.true((await ada.post('/api/copyItem', item, single)).statusCode < 300);
	t.deepEqual(networks, ['203.0.113.9', '2001:db8:1::/48', '2001:db8:1::/48', '203.0.113.10']);
});
