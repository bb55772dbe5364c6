import type { TrashedItem } from '@stowage/plugin-api';
import { parsePath } from '@stowage/rules';
import { day, hostileTexts, type Rule, second } from './rules.js';

const idOf = (n: number) => n.toString(16).padStart(32, '0');

const recordOf = (n: number, change: Partial<TrashedItem> = {}): TrashedItem => ({
	kind: 'item',
	id: idOf(n),
	ownerId: 'ada-id',
	ownerName: 'ada',
	rootId: 'root-1',
	path: parsePath(`docs/${n} ä 😀.txt`),
	type: 'file',
	size: { bytes: 1000 + n, entries: 1 },
	deletedAt: Date.UTC(2030, 0, 1) + n * second,
	deletedBy: 'ada',
	state: 'kept',
	...change,
});

/** The trash. */
export function trashRules(assertThat: Rule): void {
	assertThat('an item of the trash is found by its id as it was added', async (t, { trash }) => {
		const folder = recordOf(1, { type: 'directory', size: undefined, state: 'moving', deletedBy: 'bob' });
		await trash.add(folder);
		t.deepEqual(await trash.get(folder.id), folder);
		for (const text of hostileTexts) t.is(await trash.get(text), undefined);
		await trash.setSizes(new Map([[folder.id, { bytes: 2 ** 50, entries: 77 }]]));
		t.true(await trash.setRoot(folder.id, 'root-2'));
		t.true(await trash.setRoot(folder.id, 'root-2'), 'also where it has that root already');
		await trash.setType(folder.id, 'file');
		await trash.setType('unknown', 'file');
		const changed = { ...folder, type: 'file', size: { bytes: 2 ** 50, entries: 77 }, rootId: 'root-2' } as const;
		t.deepEqual(await trash.get(folder.id), changed);
		await trash.remove([folder.id]);
		t.is(await trash.get(folder.id), undefined);
		t.false(await trash.setRoot(folder.id, 'root-1'));
		t.is(await trash.get(folder.id), undefined);
	});

	assertThat('of several items each gets its size', async (t, { trash }) => {
		const folders = Array.from({ length: 450 }, (_, n) => recordOf(n + 1, { type: 'directory', size: undefined }));
		await trash.addMissing(folders);
		await trash.setSizes(new Map());
		const sizes = new Map(folders.slice(1).map(({ id }, n) => [id, { bytes: n, entries: n + 1 }]));
		await trash.setSizes(sizes.set(idOf(999), { bytes: 1, entries: 1 }));
		const found = await trash.list({ order: 'oldest', limit: 1000 });
		t.deepEqual(
			found.map(({ id, size }) => [id, size]),
			folders.map(({ id }) => [id, sizes.get(id)]),
		);
	});

	assertThat('of several items those that are unknown are added', async (t, { trash }) => {
		await trash.add(recordOf(1));
		await trash.addMissing([]);
		await trash.addMissing([recordOf(1, { state: 'moving', deletedBy: 'bob' }), recordOf(2)]);
		await Promise.all([1, 2].map(() => trash.addMissing(Array.from({ length: 450 }, (_, n) => recordOf(n + 1)))));
		t.deepEqual(await trash.get(idOf(1)), recordOf(1));
		t.is((await trash.count('ada-id', 'item')).items, 450);
	});

	assertThat('the trash is listed by owner, root and time, and summed', async (t, { trash }) => {
		for (let n = 1; n <= 5; n++) await trash.add(recordOf(n));
		await trash.add(recordOf(6, { ownerId: 'bob-id', rootId: 'root-2', size: undefined }));
		const ids = async (options: Parameters<typeof trash.list>[0]) => (await trash.list(options)).map(({ id }) => id);
		t.deepEqual(await ids({ order: 'newest', limit: 2, ownerId: 'ada-id' }), [idOf(5), idOf(4)]);
		t.deepEqual(await ids({ order: 'oldest', limit: 2 }), [idOf(1), idOf(2)]);
		t.deepEqual(await ids({ order: 'oldest', limit: 2, after: recordOf(4) }), [idOf(5), idOf(6)]);
		t.deepEqual(await ids({ order: 'newest', limit: 2, after: recordOf(4) }), [idOf(3), idOf(2)]);
		t.deepEqual(await ids({ order: 'oldest', limit: 9, rootId: 'root-2' }), [idOf(6)]);
		t.deepEqual(await ids({ order: 'oldest', limit: 9, deletedUntil: recordOf(2).deletedAt }), [idOf(1), idOf(2)]);
		t.deepEqual(await ids({ order: 'oldest', limit: 9, ids: [idOf(4), 'unknown'] }), [idOf(4)]);
		t.deepEqual(await ids({ order: 'oldest', limit: 9, isUnmeasured: true }), [idOf(6)]);
		t.deepEqual(await trash.totals({ ownerId: 'ada-id' }), { bytes: 5015, entries: 5, unmeasured: 0 });
		t.deepEqual(await trash.totals({}), { bytes: 5015, entries: 5, unmeasured: 1 });
		t.deepEqual(await trash.totals({ ownerId: 'nobody' }), { bytes: 0, entries: 0, unmeasured: 0 });
	});

	assertThat('items with long paths are counted by the bytes of these, and listed alone', async (t, { trash }) => {
		const folders = (name: string, count: number) => Array(count).fill(name).join('/');
		const paths = ['a', folders('ä😀', 1_000), 'b'.repeat(200), folders('d'.repeat(62), 900)].map((path) =>
			parsePath(path),
		);
		for (const [n, path] of paths.entries()) await trash.add(recordOf(n + 1, { path }));
		t.deepEqual(await trash.count('ada-id', 'item'), {
			items: 4,
			pathBytes: 1 + 6_999 + 200 + 56_699,
			ofOthers: new Map(),
		});
		const over = async (pathBytesOver: number) =>
			(await trash.list({ order: 'oldest', limit: 9, ownerId: 'ada-id', kind: 'item', pathBytesOver })).map(
				({ id }) => id,
			);
		t.deepEqual(await over(1), [2, 3, 4].map(idOf));
		t.deepEqual(await over(3_000), [2, 4].map(idOf));
		t.deepEqual(await over(6_999), [idOf(4)]);
	});

	assertThat(
		'what others have put into the trash of a user is counted for each, and listed alone',
		async (t, { trash }) => {
			// More than are read at once lie between those of the owner.
			const items = Array.from({ length: 4_500 }, (_, n) => {
				const deletedBy = n % 2_100 === 0 ? 'ada' : n % 3 === 0 ? 'Bob' : 'bob';
				return recordOf(n + 1, { deletedBy, path: parsePath('ä'), deletedAt: Math.floor(n / 3) });
			});
			await trash.addMissing(items);
			await trash.addMissing([recordOf(9_000, { ownerId: 'bob-id', ownerName: 'bob', deletedBy: 'bob' })]);
			await trash.beginPurging({ ids: [idOf(2_101), idOf(2_102)] });
			const there = items.filter(({ id }) => ![2_101, 2_102].map(idOf).includes(id));
			const of = (name: string) => there.filter(({ deletedBy }) => deletedBy === name);
			const counted = (name: string) => ({ items: of(name).length, pathBytes: 2 * of(name).length });
			const { ofOthers, ...all } = await trash.count('ada-id', 'item');
			t.deepEqual(all, { items: 4_498, pathBytes: 8_996 });
			t.deepEqual([...ofOthers].sort(), [
				['Bob', counted('Bob')],
				['bob', counted('bob')],
			]);
			const selection = { ownerId: 'ada-id', kind: 'item' } as const;
			const own = of('ada');
			t.is(own.length, 2);
			const list = async (change: Pick<Parameters<typeof trash.list>[0], 'order' | 'limit' | 'after' | 'deletedBy'>) =>
				(await trash.list({ ...selection, ...change })).map(({ id }) => id);
			const ids = (records: readonly { id: string }[]) => records.map(({ id }) => id);
			t.deepEqual(await list({ order: 'oldest', limit: 9, deletedBy: 'owner' }), ids(own));
			t.deepEqual(await list({ order: 'newest', limit: 9, deletedBy: 'owner' }), ids(own.toReversed()));
			t.deepEqual(await list({ order: 'newest', limit: 1, deletedBy: 'owner' }), ids(own.slice(-1)));
			t.deepEqual(await list({ order: 'oldest', limit: 9, after: own[0], deletedBy: 'owner' }), ids(own.slice(1)));
			t.deepEqual(await list({ order: 'oldest', limit: 9, after: own[1], deletedBy: 'owner' }), []);
			const others = there.filter(({ deletedBy }) => deletedBy !== 'ada');
			t.deepEqual(await list({ order: 'oldest', limit: 9_999, deletedBy: 'others' }), ids(others));
			t.deepEqual(
				await list({ order: 'newest', limit: 2_500, after: others[3_000], deletedBy: 'others' }),
				ids(others.slice(0, 3_000).toReversed().slice(0, 2_500)),
			);
		},
	);

	assertThat('very many items are counted and summed, each once, whatever changes meanwhile', async (t, db) => {
		const { trash } = db;
		const many = Array.from({ length: 4_500 }, (_, n) => recordOf(n + 1, { path: parsePath('ä'), deletedAt: n % 7 }));
		const versions = Array.from({ length: 2_500 }, (_, n) => {
			const own = { kind: 'version', type: 'file', size: { bytes: 2, entries: 1 }, mtime: 1 } as const;
			const of = { versionOf: `v${n % 300}`, replacedId: `r${n}`, ownerId: n < 2_200 ? 'ada-id' : 'bob-id' };
			return { ...recordOf(5_000 + n, { path: parsePath('b') }), ...own, ...of };
		});
		await trash.addMissing([...many, ...versions]);
		await trash.beginPurging({ ids: many.slice(1_990, 2_010).map(({ id }) => id) });
		await trash.setSizes(new Map(many.slice(2_010).map(({ id }) => [id, { bytes: 3, entries: 1 }])));
		const ownerId = 'ada-id';
		const first = Array.from({ length: 1_990 }, (_, n) => 1_001 + n).reduce((sum, bytes) => sum + bytes, 0);
		const items = { bytes: first + 3 * 2_490, entries: 4_480, unmeasured: 0 };
		t.deepEqual(await trash.totals({ ownerId, kind: 'item' }), items);
		t.deepEqual(await trash.totals({ ownerId, kind: 'version' }), { bytes: 4_400, entries: 2_200, unmeasured: 0 });
		t.deepEqual(await trash.totals({ ownerId }), { bytes: items.bytes + 4_400, entries: 6_680, unmeasured: 0 });
		const all = { bytes: items.bytes + 5_000, entries: 6_980, unmeasured: 0 };
		t.deepEqual(await trash.totals({ rootId: 'root-1' }), all);
		t.deepEqual(await trash.totals({}), all);
		t.deepEqual(await trash.count(ownerId, 'item'), { items: 4_480, pathBytes: 2 * 4_480, ofOthers: new Map() });
		t.deepEqual(await trash.count(ownerId, 'version'), { items: 2_200, pathBytes: 2_200, ofOthers: new Map() });
		// What is bound anew meanwhile moves to the end of the order in which versions are read.
		let isBinding = true;
		const bind = async () => {
			for (let n = 0; n < 80; n++) await db.versions.bind(ownerId, `v${n}`, `z${n}`);
			isBinding = false;
		};
		const binding = bind();
		while (isBinding)
			t.deepEqual(await trash.count(ownerId, 'version'), { items: 2_200, pathBytes: 2_200, ofOthers: new Map() });
		await binding;
	});

	assertThat('many items with long paths are listed in their order', async (t, db) => {
		const { trash } = db;
		const folders = Array(300).fill('d'.repeat(99)).join('/');
		const items = Array.from({ length: 60 }, (_, n) => {
			const path = n % 7 === 0 ? 'short' : `${folders}/${n}`;
			return recordOf(n + 1, { path: parsePath(path), state: n % 3 === 0 ? 'moving' : 'kept' });
		});
		await trash.addMissing(items);
		await trash.beginPurging({ ids: [idOf(5)] });
		const there = items.filter((_, n) => n !== 4);
		const ownerId = 'ada-id';
		t.deepEqual(await trash.list({ order: 'newest', limit: 99, ownerId, kind: 'item' }), there.toReversed());
		t.deepEqual(await trash.list({ order: 'oldest', limit: 50, ownerId, after: items[7] }), there.slice(7, 57));
		const ids = items.map(({ id }) => id).toReversed();
		t.deepEqual(await trash.list({ order: 'oldest', limit: 99, ids }), there);
		const moving = items.filter(({ state }) => state === 'moving');
		t.deepEqual(await trash.inState('moving', { limit: 99, skip: 1 }), moving.slice(1));
	});

	assertThat('what is purged is neither listed nor summed nor moved any more', async (t, { trash }) => {
		for (let n = 1; n <= 3; n++) await trash.add(recordOf(n));
		t.is(await trash.beginPurging({ ids: [idOf(1)], ownerId: 'bob-id' }), 0);
		t.is(await trash.beginPurging({ ids: [idOf(1)], ownerId: 'ada-id' }), 1);
		t.is(await trash.beginPurging({ ids: [idOf(1)] }), 0);
		t.false(await trash.beginLeaving(idOf(1)));
		t.false(await trash.beginLeaving('unknown'));
		t.deepEqual((await trash.known([idOf(1), idOf(2), 'unknown'])).sort(), [idOf(1), idOf(2)]);
		t.true(await trash.beginLeaving(idOf(2)));
		t.deepEqual(
			(await trash.list({ order: 'newest', limit: 9 })).map(({ state }) => state),
			['kept', 'leaving'],
		);
		t.is((await trash.totals({})).entries, 2);
		t.is((await trash.count('ada-id', 'item')).items, 2);
		t.deepEqual(await trash.count('bob-id', 'item'), { items: 0, pathBytes: 0, ofOthers: new Map() });
		t.deepEqual(
			(await trash.inState('purging', { limit: 9 })).map(({ id }) => id),
			[idOf(1)],
		);
		t.is(await trash.beginPurging({ ids: [1, 2, 3].map(idOf) }), 2);
		t.is((await trash.inState('purging', { limit: 9 })).length, 3);
		const [, next] = await trash.inState('purging', { limit: 9 });
		t.deepEqual(await trash.inState('purging', { limit: 1, skip: 1 }), [next]);
	});

	assertThat('items that were being moved are found after a while, and settled', async (t, { trash }, clock) => {
		await trash.add(recordOf(1, { state: 'moving' }));
		clock.now += day;
		await trash.add(recordOf(2, { state: 'moving' }));
		await trash.add(recordOf(3));
		t.deepEqual(
			(await trash.inState('moving', { limit: 9, until: clock.now - second })).map(({ id }) => id),
			[idOf(1)],
		);
		t.is((await trash.inState('moving', { limit: 1, until: clock.now })).length, 1);
		t.is(await trash.settle([idOf(1), idOf(2), idOf(3), 'unknown'], 'moving'), 2);
		t.deepEqual(await trash.inState('moving', { limit: 9, until: clock.now }), []);
		t.is((await trash.get(idOf(2)))?.state, 'kept');
		t.is(await trash.settle([idOf(1)], 'moving'), 0);
		t.true(await trash.beginLeaving(idOf(1)));
		t.is(await trash.settle([idOf(1)], 'moving'), 0, 'what records that it has arrived knows nothing of that');
		t.is((await trash.get(idOf(1)))?.state, 'leaving');
		t.is((await trash.inState('leaving', { limit: 9, until: clock.now })).length, 1);
		t.is(await trash.settle([idOf(1)], 'leaving'), 1);
		t.is((await trash.get(idOf(1)))?.state, 'kept');
	});
}
