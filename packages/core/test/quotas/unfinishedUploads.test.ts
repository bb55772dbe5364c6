import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { HomeQuota } from '../../src/quotas/HomeQuota.js';
import { HomeUsage } from '../../src/quotas/HomeUsage.js';
import type { Amount } from '../../src/quotas/measureTree.js';

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
		walks: { run: (_: string, walk: () => unknown) => walk() } as never,
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
