import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { StorageProvider } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { Probe } from '../../src/limits/Probe.js';
import { rootStates } from '../../src/trees/roots/rootStates.js';
import { Client, json, testApp } from '../testApp.js';

const hangs = new Promise<never>(() => {});

/** Counts the checks of a storage; `answer` is what they resolve to in place of its own. */
function countChecks(storage: StorageProvider, answer?: () => Promise<void>): () => number {
	let count = 0;
	const own = storage.check.bind(storage);
	storage.check = () => {
		count++;
		return answer === undefined ? own() : answer();
	};
	return () => count;
}

/** A server with a further root, whose disk never answers again. */
async function appWithHungRoot(t: ExecutionContext) {
	const app = await testApp(t);
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	t.teardown(() => rm(disk, { recursive: true, force: true, maxRetries: 10 }));
	await app.services.rootAdministration.add('big', 'local', path.join(disk, 'root'));
	const { roots } = app.services;
	const { storage } = await roots.named('big');
	return { app, checks: countChecks(storage, () => hangs), visitor: new Client(app) };
}

test('a probe asks one question at a time, answers all who ask meanwhile and for half a second, and then asks again', async (t) => {
	let now = 0;
	const asked: { resolve(answer: number): void; reject(error: Error): void }[] = [];
	const probe = new Probe(
		() => new Promise<number>((resolve, reject) => asked.push({ resolve, reject })),
		() => now,
	);
	const late = await t.throwsAsync(probe.within(1));
	t.true(isFailure(late, 'unavailable'));
	now = 60_000;
	await t.throwsAsync(probe.within(1));
	const waiting = probe.within(60_000);
	t.is(asked.length, 1, 'what hangs is not asked again');
	asked[0]?.resolve(7);
	t.is(await waiting, 7);
	now += 499;
	t.is(await probe.within(1), 7);
	now += 1;
	const next = probe.answer();
	t.is(asked.length, 2);
	asked[1]?.reject(new Error('a fault'));
	await t.throwsAsync(next, { message: 'a fault' });
	await t.throwsAsync(probe.answer(), { message: 'a fault' });
	t.is(asked.length, 2, 'a fault holds as long');
});

test('however often strangers ask whether the server is ready, its disk is written to twice in a second at most', async (t) => {
	let now = 0;
	const app = await testApp(t, {}, { monotonic: () => now });
	const checks = countChecks(app.services.roots.default.storage);
	const visitor = new Client(app);
	const ask = async (url: string) => (await visitor.get(url)).statusCode;
	const all = [...Array(20)].flatMap(() => ['/api/ready', '/api/ready?of=node']);
	t.deepEqual([...new Set(await Promise.all(all.map(ask)))], [200]);
	t.is(checks(), 1);
	now = 500;
	t.is(await ask('/api/ready'), 200);
	t.is(checks(), 2);
});

test('a disk that hangs is asked once, keeps no probe waiting without end, and is said to be the one that can’t be used', async (t) => {
	const { app, checks, visitor } = await appWithHungRoot(t);
	const answers = await Promise.all(
		['/api/ready', '/api/ready', '/api/ready?of=node', '/api/ready?of=node'].map((url) => visitor.get(url)),
	);
	t.deepEqual(
		answers.map(({ statusCode }) => statusCode),
		[503, 503, 200, 200],
	);
	t.deepEqual(json(answers[0] as (typeof answers)[number]).checks, {
		...{ database: 'ok', storage: 'unavailable', plugins: 'ok' },
	});
	for (let n = 0; n < 2; n++) {
		// Long enough for the disk that answers, on a busy machine too.
		const states = await rootStates(app.services.roots, 3_000);
		t.deepEqual(
			states.map(({ name, fault }) => [name, fault]),
			[
				['local', null],
				['big', 'There was no answer within 3 s.'],
			],
		);
	}
	t.is(checks(), 1);
});

test('a disk that hangs between its check and its size is not checked again meanwhile', async (t) => {
	let now = 0;
	const app = await testApp(t, {}, { monotonic: () => now });
	const { storage } = app.services.roots.default;
	const checks = countChecks(storage);
	storage.freeSpace = () => hangs;
	t.regex((await rootStates(app.services.roots, 1_000))[0]?.fault ?? '', /no answer/);
	now = 10_000;
	const late = await t.throwsAsync(app.services.roots.probes.check(storage, 50));
	t.true(isFailure(late, 'unavailable'));
	t.is(checks(), 1);
});

test('a database that does not answer has one ping under way, and makes the server unavailable', async (t) => {
	const app = await testApp(t);
	let pings = 0;
	app.services.database.ping = () => {
		pings++;
		return hangs;
	};
	const visitor = new Client(app);
	const answers = await Promise.all(['/api/ready', '/api/ready?of=node', '/api/ready'].map((url) => visitor.get(url)));
	for (const answer of answers) {
		t.is(answer.statusCode, 503);
		t.is(json(answer).checks.database, 'unavailable');
	}
	t.is(pings, 1);
});
