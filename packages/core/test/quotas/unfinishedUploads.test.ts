import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { HomeQuota } from '../../src/quotas/HomeQuota.js';
import { HomeUsage } from '../../src/quotas/HomeUsage.js';
import type { Amount } from '../../src/quotas/measureTree.js';
import { Client, testApp } from '../testApp.js';
import { begin, create, head, patch } from '../tusClient.js';

const kb = (count: number) => Buffer.alloc(count * 1024, 7);

/** The quota of one home in which there are only unfinished uploads, by their staged files, and what is in the trash. */
function homeOf(limit: Amount, unfinished: Map<string, number>, inTrash = 0) {
	const clock = { ms: 0 };
	const state = { purged: 0, reads: 0 };
	const usage = new HomeUsage({
		...{ owner: 'ada', isShared: () => false, shared: {} as never, log: console as never },
		storage: () => ({ async *list() {} }) as never,
		home: async () => 'home' as never,
		trashTotals: async () => ({ bytes: inTrash, entries: 0 }),
		async unfinishedTotals(except) {
			state.reads++;
			const counted = [...unfinished].filter(([id]) => !except.includes(id));
			const total = { bytes: counted.reduce((sum, [, bytes]) => sum + bytes, 0), entries: counted.length };
			// A database answers with what it had a moment ago.
			await wait(5);
			return total;
		},
		onMeasured: async () => {},
		walks: { enter: async () => () => {} } as never,
		monotonic: () => clock.ms,
	});
	const quota = new HomeQuota({
		viewer: { kind: 'user', id: 'ada', username: 'ada' },
		limit: async () => limit,
		usage: () => usage,
		knownUsage: () => usage,
		countedUsage: async () => usage,
		reservedFiles: new Map(),
		canGiveWay: async () => false,
		async giveWay(lackNow) {
			state.purged += (await lackNow()).bytes;
			return true;
		},
	});
	return { usage, quota, clock, state };
}

test('an upload that goes on while the others are counted is not counted twice, and nothing of the trash gives way to it', async (t) => {
	const { usage, quota, clock, state } = homeOf({ bytes: 100, entries: 100 }, new Map([['staged', 30]]), 50);
	(await quota.reserve()).release();
	clock.ms += 31_000;
	const other = quota.reserve();
	const going = await quota.reserve({ stagedId: 'staged', bytes: 30 });
	(await other).release();
	t.deepEqual(usage.taken(), { bytes: 80, entries: 1 });
	await going.add({ bytes: 15, entries: 0 });
	t.is(state.purged, 0);
});

test('an upload whose chunk ends while the others are counted is not left out', async (t) => {
	const { usage, quota, clock } = homeOf({ bytes: 100, entries: 100 }, new Map([['staged', 30]]), 50);
	const going = await quota.reserve({ stagedId: 'staged', bytes: 30 });
	clock.ms += 31_000;
	const other = quota.reserve();
	await wait(1);
	going.release();
	(await other).release();
	t.deepEqual(usage.taken(), { bytes: 80, entries: 1 });
});

test('who comes while unfinished uploads are counted waits for that count, and makes none of their own', async (t) => {
	const { usage, quota, state } = homeOf({ bytes: 100, entries: 100 }, new Map([['staged', 30]]));
	const taken = await Promise.all(
		[1, 2, 3].map(async () => {
			(await quota.reserve()).release();
			return usage.taken().bytes;
		}),
	);
	t.deepEqual(taken, [30, 30, 30]);
	t.is(state.reads, 1);
});

test('an upload that is complete and can’t be published counts as before, and only once it is published as a part of the home', async (t) => {
	const { usage, quota } = homeOf({ bytes: 100, entries: 100 }, new Map([['staged', 90]]));
	for (let tries = 0; tries < 3; tries++) {
		(await quota.reserve({ stagedId: 'staged', bytes: 90 })).release();
		t.deepEqual(usage.taken(), { bytes: 90, entries: 1 });
	}
	const refused = await quota.reserve();
	await t.throwsAsync(refused.assertRoom({ bytes: 20, entries: 1 }), { message: /10 B.* left/ });
	refused.release();
	const last = await quota.reserve({ stagedId: 'staged', bytes: 90 });
	await last.published({ bytes: 90, entries: 1 });
	last.release();
	t.deepEqual(usage.taken(), { bytes: 90, entries: 1 });
	t.deepEqual(usage.content(), { bytes: 90, entries: 1 });
});

/** A process that is alone counts in memory, one that may have others by rows. */
const ways: Record<string, Record<string, string>> = {
	'counted alone': {},
	'counted with others': { '--workers': '2' },
};

for (const [way, flags] of Object.entries(ways)) {
	test(`complete uploads whose name was taken are no way around a quota, ${way}`, async (t) => {
		const app = await testApp(t, { '--quotas-user-bytes': '100 KB', '--trash-keep-for': '0', ...flags });
		const ada = await new Client(app).register('ada');
		const location = await begin(ada, 80 * 1024, { filename: 'a', onConflict: 'fail' });
		await mkdir(path.join(app.filesDir, 'users/ada/a'), { recursive: true });
		await writeFile(path.join(app.filesDir, 'users/ada/a/b'), '');
		t.is((await patch(ada, location, 0, kb(80))).statusCode, 409);
		t.is((await create(ada, 60 * 1024, { filename: 'b' })).statusCode, 507);
		t.is((await head(ada, location)).statusCode, 409);
		t.is((await create(ada, 60 * 1024, { filename: 'b' })).statusCode, 507);
		t.is((await create(ada, 10 * 1024, { filename: 'b' })).statusCode, 201);
	});

	test(`a complete upload whose name was taken counts while it is recorded that it is complete, ${way}`, async (t) => {
		const app = await testApp(t, { '--quotas-user-bytes': '100 KB', '--trash-keep-for': '0', ...flags });
		const ada = await new Client(app).register('ada');
		const location = await begin(ada, 80 * 1024, { filename: 'a', onConflict: 'fail' });
		await mkdir(path.join(app.filesDir, 'users/ada/a'), { recursive: true });
		const { uploads } = app.services.database;
		const { saveProgress } = uploads;
		const meanwhile: number[] = [];
		// Before a large one is recorded it is synced, which may take long.
		uploads.saveProgress = async (...progress) => {
			await wait(1_500);
			meanwhile.push((await create(ada, 60 * 1024, { filename: 'b' })).statusCode);
			return saveProgress(...progress);
		};
		t.is((await patch(ada, location, 0, kb(80))).statusCode, 409);
		t.deepEqual(meanwhile, [507]);
	});
}
