import { randomBytes } from 'node:crypto';
import * as contract from '@stowage/contract';
import { Failure } from '@stowage/rules';
import test from 'ava';
import { z } from 'zod';
import { Client, json, testApp } from '../testApp.js';

const isEndpoint = (value: unknown): value is contract.AnyEndpoint =>
	typeof value === 'object' && value !== null && 'audience' in value && 'path' in value;

function hasArray(schema: unknown): boolean {
	if (schema instanceof z.ZodArray) return true;
	if (schema instanceof z.ZodObject) return Object.values(schema.shape).some(hasArray);
	if (schema instanceof z.ZodUnion) return schema.options.some(hasArray);
	return (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) && hasArray(schema.unwrap());
}

/** All calls that read a list, but for what the server offers, which nobody makes longer. */
const lists = Object.values(contract).filter(
	(each): each is contract.AnyEndpoint =>
		isEndpoint(each) && each.method === 'GET' && hasArray(each.result) && each.path !== '/api/capabilities',
);

test('each list is made when it is the turn of who asks for it', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const folder = { directory: '', folderName: 'a', type: 'private' };
	t.is((await ada.post('/api/createFolder', folder)).statusCode, 200);
	const share = json(await ada.post('/api/shares', { items: [{ path: 'a' }], mode: 'view' }));
	const values = { token: String(share.url).split('/').at(-1) ?? '', id: share.id, 'path*': 'a' };
	const { listingQueue, walkQueue } = app.services;
	for (const queue of [listingQueue, walkQueue])
		queue.run = async () => {
			throw new Failure('rateLimited', 'It is not your turn.', { retryAfter: 1 });
		};
	t.true(lists.length >= 14);
	for (const { path } of lists) {
		const url = path.replace(/\{([^}]+)\}/g, (_, name: keyof typeof values) => values[name]);
		const asked = path === '/api/members' ? '?path=a' : path.startsWith('/api/versions') ? '?type=private' : '';
		// A share gives its guests a cookie of their own.
		const client = path.startsWith('/api/share/') ? new Client(app) : ada;
		t.is((await client.get(`${url}${asked}`)).statusCode, 429, path);
	}
});

test('a list of jobs reads no details to write them again', async (t) => {
	const app = await testApp(t);
	const ada = await new Client(app).register('ada');
	const { database } = app.services;
	const userId = (await database.users.find('ada'))?.id ?? '';
	const detail = JSON.stringify({ errors: [{ path: randomBytes(6000).toString('hex'), message: 'no' }] });
	const { list } = database.jobs;
	database.jobs.list = async () =>
		Array.from({ length: 200 }, (_, at) => ({
			...{ id: `${at}`.padStart(32, '0'), kind: 'move', userId, title: 'Move', status: 'failed', done: 1, total: 2 },
			...{
				unit: 'items',
				speed: null,
				timeLeft: null,
				detail: at === 7 ? null : detail,
				error: 'no',
				isOrdered: false,
			},
			...{ hasInput: true, createdAt: 1, startTime: 1, endTime: 2 },
		})) as Awaited<ReturnType<typeof list>>;
	const parse = JSON.parse;
	let parsed = 0;
	JSON.parse = (text, ...rest) => {
		if (text === detail) parsed++;
		return parse(text, ...rest);
	};
	const answer = await ada.get('/api/jobs');
	JSON.parse = parse;
	t.is(parsed, 0);
	const jobs = z.array(contract.job).parse(json(answer));
	t.deepEqual(
		jobs.map((job) => JSON.stringify(job.detail)),
		Array.from({ length: 200 }, (_, at) => (at === 7 ? 'null' : detail)),
	);
	t.is(jobs[0]?.kind, 'move');
});
