import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import type { TrashRecord } from '@stowage/plugin-api';
import { parsePath } from '@stowage/rules';
import test from 'ava';
import { runInContext } from '../../src/context.js';
import { noNetwork } from '../../src/limits/currentNetwork.js';
import { FairQueue } from '../../src/limits/FairQueue.js';
import { createQuotas } from '../../src/quotas/createQuotas.js';
import { HomeUsage } from '../../src/quotas/HomeUsage.js';
import type { SharedParts } from '../../src/quotas/shared/sharedParts.js';
import { UnrecordedItems } from '../../src/trees/trash/recording/UnrecordedItems.js';
import { unrecordedName } from '../../src/trees/trash/recording/unrecordedNames.js';
import { TrashSizes } from '../../src/trees/trash/TrashSizes.js';

/** Runs something in a request of an account that asks from an address. */
function askFrom<T>(owner: string, address: string, run: () => T): T {
	const viewer = { kind: 'user', id: owner, username: owner } as const;
	return runInContext({ request: { id: '', caller: { client: { address }, viewer, route: { path: '/' } } } }, run);
}

/** Calls `measure` for eight accounts of one network, and then for one of another. */
function askFromTwoNetworks(measure: (owner: string) => Promise<unknown>): Promise<unknown> {
	const ask = (owner: string, address: string) => askFrom(owner, address, () => measure(owner));
	const strangers = Array.from({ length: 8 }, (_, n) => ask(`eve${n}`, '198.51.100.1'));
	return Promise.all([...strangers, ask('ada', '203.0.113.1')]);
}

const nothing = { bytes: 0, entries: 0 };

/** What only tests of its own need of a home. */
const emptyHome = {
	...{ isShared: () => false, shared: {} as never, log: console as never, monotonic: () => 0 },
	storage: () => ({}) as never,
	...{ trashTotals: async () => nothing, unfinishedTotals: async () => nothing, onMeasured: async () => {} },
};

/**
 * Homes that one process measures, with others where there is something `shared`; `measured` has the owners as their walks look for the
 * homes: twice each.
 */
function homes(shared?: SharedParts, work: (owner: string) => Promise<unknown> = () => wait(5)) {
	const walks = new FairQueue({ running: 2, runningPerClient: 1, waiting: 100, waitingPerClient: 10 }, 'Later.');
	const measured: string[] = [];
	const usageOf = (owner: string) =>
		new HomeUsage({
			...{ ...emptyHome, owner, walks },
			...(shared === undefined ? {} : { shared, isShared: () => true }),
			async home() {
				measured.push(owner);
				await work(owner);
				return undefined;
			},
		});
	return { measured, usageOf };
}

/** What processes share that count homes together; the result is that of one more process. */
function sharedCounts(): (process: string) => SharedParts {
	const numbers = new Map<string, number>();
	const leased = new Set<string>();
	const store = {
		async state(home: string) {
			const amounts = { base: nothing, others: nothing, unpublished: nothing, held: nothing };
			return { ...amounts, number: numbers.get(home) ?? 0, ageMs: 0, isExact: true };
		},
		...{ rows: async () => [], begin: async () => 1, save: async () => true },
		measured: async (home: string) => void numbers.set(home, (numbers.get(home) ?? 0) + 1),
	};
	const leases = {
		async acquire(name: string) {
			if (leased.has(name)) return undefined;
			leased.add(name);
			return { isHeld: () => true, release: async () => void leased.delete(name) };
		},
	};
	const identity = (name: string) => ({ name, hasEnded: async () => false });
	return (process) =>
		({ store, leases, identity: identity(process), log: console, monotonic: () => 0 }) as unknown as SharedParts;
}

const batchMs = 50;

/** A home of several batches; `pauses` has how long its walk paused after each of them. */
function slowHome(parts: Partial<HomeUsage['dependencies']> & Pick<HomeUsage['dependencies'], 'walks'>) {
	const pauses: number[] = [];
	const storage = {
		async *list() {
			for (let batch = 0; batch < 5; batch++) {
				await wait(batchMs);
				const at = performance.now();
				yield [];
				pauses.push(performance.now() - at);
			}
		},
	};
	const home = async () => 'home' as never;
	const usage = new HomeUsage({ ...emptyHome, owner: 'ada', home, storage: () => storage as never, ...parts });
	return { usage, pauses };
}

/** Whether a walk has left the disk to others after each batch for longer than that took. */
const hasPaused = (pauses: readonly number[]) => Math.min(...pauses) > 2 * batchMs;

/** Folders in the trash, by their ids; `measured` has these in the order in which their walks begin. */
function trashedFolders(work: (folder: string) => Promise<unknown> = () => wait(5)) {
	const measured: string[] = [];
	const storage = {
		rootId: 'root',
		stat: async () => ({ type: 'directory', size: 0 }),
		async *list(folder: string) {
			measured.push(folder);
			await work(folder);
			yield [];
		},
	};
	const parts = { log: console, storage: () => ({ mounts: () => [{ storage }] }), store: { setSizes: async () => {} } };
	const sizes = new TrashSizes(parts as never);
	const sizeOf = (id: string, ownerId = id) =>
		sizes.of({ kind: 'version', id, ownerId, rootId: 'root' } as unknown as TrashRecord);
	return { measured, sizeOf };
}

/** Walks that last until the test ends them all; `begun` has the owners of those that have begun. */
function heldWalks() {
	const begun: string[] = [];
	let end = () => {};
	const ended = new Promise<void>((resolve) => {
		end = resolve;
	});
	const hold = async (owner: string) => {
		if (owner === 'bob') return;
		begun.push(owner);
		await ended;
	};
	return { begun, hold, end };
}

/** Has measured for accounts of one network, and then of another that has asked before; resolves to whose walks began before any ended. */
async function beginBesideHeldWalks(measure: (owner: string) => Promise<unknown>, begun: string[], end: () => void) {
	await askFrom('bob', '203.0.113.1', () => measure('bob'));
	const strangers = ['eve0', 'eve1', 'eve2'].map((owner) => askFrom(owner, '198.51.100.1', () => measure(owner)));
	const last = askFrom('ada', '203.0.113.1', () => measure('ada'));
	for (let round = 0; round < 50; round++) await setImmediate();
	const before = [...begun];
	end();
	await Promise.all([...strangers, last]);
	return before;
}

test('the homes of many accounts of one network are measured in turns with those of other networks', async (t) => {
	const { measured, usageOf } = homes();
	await askFromTwoNetworks((owner) => usageOf(owner).measured());
	t.true([...new Set(measured)].indexOf('ada') <= 3, `${measured}`);
	t.deepEqual([new Set(measured).size, measured.length], [9, 18]);
});

test('a home that a network with many others has asked for before is measured once, at the turn of who has none', async (t) => {
	const { measured, usageOf } = homes();
	const shared = usageOf('shared');
	await askFromTwoNetworks(async (owner) => {
		const own = owner === 'ada' ? [] : [usageOf(owner).measured()];
		// A network waits once, however many of its accounts ask.
		const last = ['eve7', 'ada'].includes(owner) ? Array.from({ length: 20 }, () => shared.measured()) : [];
		await Promise.all([...own, ...last]);
	});
	t.true([...new Set(measured)].indexOf('shared') <= 3, `${measured}`);
	t.deepEqual([new Set(measured).size, measured.length], [9, 18]);
});

test('a home that several processes count is measured once, at the turn of who has none, whichever of them is asked', async (t) => {
	for (const isOther of [false, true]) {
		const partsOf = sharedCounts();
		const first = homes(partsOf('first'));
		const second = isOther ? homes(partsOf('second')) : first;
		const shared = [first, second].map(({ usageOf }) => usageOf('shared'));
		await askFromTwoNetworks(async (owner) => {
			const own = owner === 'ada' ? [] : [first.usageOf(owner).measured()];
			const last = owner === 'eve7' ? [shared[0]?.measured()] : owner === 'ada' ? [shared.at(-1)?.measured()] : [];
			await Promise.all([...own, ...last]);
		});
		const measured = [...first.measured, ...(isOther ? second.measured : [])];
		t.deepEqual([new Set(measured).size, measured.length], [9, 18], `${measured}`);
		if (isOther) t.deepEqual(new Set(second.measured), new Set(['shared']));
		else t.true([...new Set(measured)].indexOf('shared') <= 3, `${measured}`);
	}
});

test('a process that waits for another one to measure a home measures others meanwhile', async (t) => {
	const partsOf = sharedCounts();
	let end = () => {};
	const ended = new Promise<void>((resolve) => {
		end = resolve;
	});
	const first = homes(partsOf('first'), () => ended);
	const second = homes(partsOf('second'));
	const known = first.usageOf('ada').measured();
	const strangers = ['ada', 'ada', 'ada'].map((owner) => second.usageOf(owner).used());
	for (let round = 0; round < 50; round++) await setImmediate();
	await Promise.all(['bob', 'carol', 'dave'].map((owner) => second.usageOf(owner).measured()));
	t.deepEqual(new Set(second.measured), new Set(['bob', 'carol', 'dave']));
	end();
	await Promise.all([known, ...strangers]);
	t.false(second.measured.includes('ada'), 'measured by the other process');
});

test('a home that somebody waits for is measured without pauses, also where several processes count it', async (t) => {
	const walks = () => new FairQueue({ running: 1, runningPerClient: 1, waiting: 1, waitingPerClient: 10 }, 'Later.');
	const alone = slowHome({ walks: walks() });
	const shared = slowHome({ walks: walks(), isShared: () => true, shared: sharedCounts()('first') });
	await Promise.all([alone.usage.used(), shared.usage.used()]);
	t.false(hasPaused(alone.pauses), `${alone.pauses}`);
	t.false(hasPaused(shared.pauses), `${shared.pauses}`);

	const queue = walks();
	const leave = await queue.enter('somebody');
	const { usage, pauses } = slowHome({ walks: queue });
	const first = askFrom('ada', '203.0.113.1', () => usage.measured());
	for (let round = 0; round < 10; round++) await setImmediate();
	await t.throwsAsync(
		askFrom('eve', '198.51.100.1', () => usage.measured()),
		{ message: 'Later.' },
	);
	leave();
	await first;
	t.false(hasPaused(pauses), `${pauses}: one who was refused waits no longer, and the other one does`);
});

test('a home that is measured in the background pauses after each batch, but where others wait for its place', async (t) => {
	const walks = new FairQueue({ running: 1, runningPerClient: 1, waiting: 10, waitingPerClient: 10 }, 'Later.');
	let now = 0;
	const { usage, pauses } = slowHome({ walks, monotonic: () => now });
	const measureInBackground = async (meanwhile: () => Promise<unknown>) => {
		await usage.used();
		now += 3_600_000;
		pauses.length = 0;
		await usage.used();
		while (walks.running === 0) await setImmediate();
		await meanwhile();
		while (walks.running > 0) await wait(10);
		return hasPaused(pauses);
	};
	t.true(await measureInBackground(async () => {}));
	const other = () => slowHome({ walks }).usage.measured();
	t.false(await measureInBackground(other), `${pauses}`);
});

test('folders that many accounts of one network have in the trash are measured in turns with those of other networks', async (t) => {
	const { measured, sizeOf } = trashedFolders();
	await askFromTwoNetworks((owner) => sizeOf(owner));
	t.true(measured.findIndex((folder) => folder.includes('ada')) <= 3, `${measured}`);
	t.is(measured.length, 9);
});

test('a deleted folder that a network with many others has asked for before is measured once, at the turn of who has none', async (t) => {
	const { measured, sizeOf } = trashedFolders();
	await askFromTwoNetworks(async (owner) => {
		const own = owner === 'ada' ? [] : [sizeOf(owner)];
		const last = ['eve7', 'ada'].includes(owner) ? [sizeOf('shared', 'bob')] : [];
		const found = await Promise.all([...own, ...last]);
		t.deepEqual(new Set(found.map((size) => size?.entries)), new Set([1]));
	});
	t.true(measured.findIndex((folder) => folder.includes('shared')) <= 3, `${measured}`);
	t.is(measured.length, 9);
});

test('one network does not have both places in which homes are measured, where others have asked', async (t) => {
	const { begun, hold, end } = heldWalks();
	const quotas = createQuotas({
		...{ config: { quotas: {} }, isShared: () => false, log: console, now: () => 0, monotonic: () => 0 },
		users: {
			get: async (owner: string) => {
				await hold(owner);
				return undefined;
			},
			setUsed: async () => {},
		},
		uploads: { unfinishedTotals: async () => ({ bytes: 0, entries: 0 }) },
		trash: { totals: async () => ({ bytes: 0, entries: 0 }) },
	} as never);
	const measure = (owner: string) => quotas.measured({ kind: 'user', id: owner, username: owner } as never);
	t.deepEqual(await beginBesideHeldWalks(measure, begun, end), ['eve0', 'ada']);
});

test('all people of one network have both places in which folders are measured, also where the server has measured some itself', async (t) => {
	const { begun, hold, end } = heldWalks();
	const { sizeOf } = trashedFolders((folder) => hold(folder.split('/').at(-1) ?? ''));
	await sizeOf('bob');
	const all = ['eve0', 'eve1'].map((owner) => askFrom(owner, '198.51.100.1', () => sizeOf(owner)));
	for (let round = 0; round < 50; round++) await setImmediate();
	t.deepEqual(begun, ['eve0', 'eve1']);
	end();
	await Promise.all(all);
});

test('what a job wants to be measured counts for the network that has started the job', async (t) => {
	const { begun, hold, end } = heldWalks();
	const { sizeOf } = trashedFolders((folder) => hold(folder.split('/').at(-1) ?? ''));
	await askFrom('bob', '203.0.113.1', () => sizeOf('bob'));
	const owner = { kind: 'user', id: 'eve0', username: 'eve0' } as const;
	const job = { id: '', kind: 'paste', owner, network: '198.51.100.1' };
	const all = [
		runInContext({ job }, () => sizeOf('eve0')),
		askFrom('eve1', '198.51.100.1', () => sizeOf('eve1')),
		askFrom('ada', '203.0.113.1', () => sizeOf('ada')),
	];
	for (let round = 0; round < 50; round++) await setImmediate();
	t.deepEqual(begun, ['eve0', 'ada']);
	end();
	await Promise.all(all);
});

test('one network does not have both places in which deleted folders are measured, where others have asked', async (t) => {
	const { begun, hold, end } = heldWalks();
	const { sizeOf } = trashedFolders((folder) => hold(folder.split('/').at(-1) ?? ''));
	t.deepEqual(await beginBesideHeldWalks(sizeOf, begun, end), ['eve0', 'ada']);
});

test('a deleted folder is measured for the network from which it was deleted, whoever has it recorded', async (t) => {
	const idOf = (owner: string) => Buffer.from(owner).toString('hex').padStart(32, '0');
	const path = parsePath('photos');
	const names = ['ada', 'eve', 'bob'].map((owner) => {
		const deletion = { id: idOf(owner), ownerId: owner, ownerName: owner, path, deletedAt: 0, deletedBy: owner };
		return unrecordedName(deletion) ?? '';
	});
	const storage = {
		rootId: 'root',
		async *list() {
			yield names.map((name) => ({ name, type: 'directory', size: 0 }));
		},
		move: async () => {},
		stage: async () => ({ append: async () => {}, commit: async () => {}, discard: async () => {} }),
	};
	const store = { addMissing: async () => {}, settle: async () => 0 };
	const parts = { log: console, storage: () => ({ mounts: () => [{ storage }] }), store };
	const recorded = new Map<string, string>();
	const items = new UnrecordedItems(parts as never, ({ ownerId }, network) => recorded.set(ownerId, network));
	askFrom('eve', '198.51.100.1', () => items.schedule(idOf('eve')));
	askFrom('ada', '203.0.113.1', () => items.schedule(idOf('ada')));
	const networks = { ada: '203.0.113.1', eve: '198.51.100.1', bob: noNetwork };
	await askFrom('eve', '198.51.100.1', () => items.record());
	t.deepEqual(Object.fromEntries(recorded), networks, 'another process has deleted that of bob');
	await items.close();
	t.deepEqual(
		Object.fromEntries(recorded),
		{ ada: noNetwork, eve: noNetwork, bob: noNetwork },
		'nothing is kept of them',
	);
});
