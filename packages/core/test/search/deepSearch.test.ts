import type { IndexedBlock } from '@stowage/database';
import { type Entry, parsePath, type SearchQuery, type StoragePath } from '@stowage/rules';
import test from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { BestHits, type Hit } from '../../src/files/search/BestHits.js';
import { searchIndexed } from '../../src/files/search/searchIndexed.js';
import { outermost } from '../../src/files/shared/searchShared.js';
import type { IndexScope } from '../../src/search/SearchIndex.js';
import type { Place, Tree } from '../../src/trees/Tree.js';

const root = parsePath('users/ada');
const place: Place = { tree: { root } as Tree, path: parsePath(''), storagePath: root };
const query: SearchQuery = { term: 'report' };
const lengthOf = ({ folder, item }: Hit) => folder.path.length + item.name.length;
const entryOf = (path: string): Entry => ({ name: path, path, type: 'file', size: 0, mtime: 0 });

/** The index of so many folders below a deep one, with an item each. */
function scopeOf(folders: readonly StoragePath[], stale: IndexScope['stale']): IndexScope {
	const blocks: IndexedBlock[] = folders.map((folder, index) => ({
		id: index + 1,
		folder,
		items: [{ name: 'report', type: 'file', size: 0, mtime: 0 }],
	}));
	return {
		rootId: 'root',
		checkedAt: 0,
		stale,
		release() {},
		reader: {
			has: async () => undefined,
			childFolders: async () => [],
			blocks: async ({ after }) => blocks.slice(after, after + 100),
		} as IndexScope['reader'],
	};
}

const deep = `${root}${`/${'f'.repeat(50)}`.repeat(1000)}`;
const folders = Array.from({ length: 1500 }, (_, index) => `${deep}/${10_000 + index}` as StoragePath);

const searched = async (stale: IndexScope['stale']) => {
	const hits = new BestHits<Hit>(lengthOf);
	let walked: Awaited<ReturnType<typeof searchIndexed>> = [];
	const cpuMs = await usualMs(async () => {
		walked = await searchIndexed(place, scopeOf(folders, stale), {
			query,
			hits,
			pause: async () => {},
			onMissing() {},
		});
	});
	return { hits, walked, cpuMs };
};

test.serial('a search by the index looks up no folder above a deep one where nothing is left out', async (t) => {
	const { hits, walked, cpuMs } = await searched([]);
	t.true(hits.best().length > 0);
	t.deepEqual(walked, []);
	t.true(cpuMs < 4000, `${cpuMs} ms`);
});

test.serial(
	'a search by the index leaves out what lies in folders that have to be walked, without looking up each one above it',
	async (t) => {
		const [first, second] = folders as [StoragePath, StoragePath];
		const stale = [first, `${deep}/none` as StoragePath].map((path) => ({ kind: 'tree' as const, path }));
		const { hits, walked, cpuMs } = await searched(stale);
		t.deepEqual(
			walked.map(({ storagePath }) => storagePath),
			stale.map(({ path }) => path),
		);
		t.is(hits.best()[0]?.folder.storagePath, second);
		t.true(cpuMs < 4000, `${cpuMs} ms`);
		const { hits: none } = await searched([
			{ kind: 'tree', path: deep.slice(0, deep.lastIndexOf('/')) as StoragePath },
		]);
		t.deepEqual(none.best(), []);
	},
);

test('a search answers no more paths than two million characters, the best ones, and says that there are more', (t) => {
	const hits = new BestHits<{ entry: Entry; rank: number }>(({ entry }) => entry.path.length);
	for (let index = 0; index < 500; index++) hits.add({ entry: entryOf(`${deep}/${10_000 + index}`), rank: index % 2 });
	hits.add({ entry: entryOf('report'), rank: 0 });
	const best = hits.best();
	t.is(best.length, 1 + Math.floor(2_000_000 / (deep.length + 6)));
	t.is(best[0]?.entry.path, 'report');
	t.true(best.every(({ rank }) => rank === 0));
	t.true(hits.isTruncated);
});

test('of more than a thousand hits the best thousand are answered', (t) => {
	const hits = new BestHits<{ rank: number }>(() => 1);
	for (let index = 0; index < 1000; index++) hits.add({ rank: 1 });
	t.is(hits.best().length, 1000);
	t.false(hits.isTruncated);
	for (let index = 0; index < 1500; index++) hits.add({ rank: 0 });
	t.is(hits.best().length, 1000);
	t.true(hits.isTruncated);
	t.true(hits.best().every(({ rank }) => rank === 0));
});

test('of shared folders those that lie in no other one of their owner are searched, found with turns for others', async (t) => {
	const shared = (id: string, root: string) =>
		({ place: { root: root as StoragePath, folder: { owner: { id } } } }) as Parameters<typeof outermost>[0][number];
	const siblings = folders.slice(0, 250);
	const all = [
		...siblings.flatMap((path) => [shared('ada', `${path}/inner/a`), shared('ada', path)]),
		...[shared('ada', `${siblings[0]}0`), shared('eve', deep), shared('bob', 'a/b/c'), shared('bob', 'a/b')],
	];
	let pauses = 0;
	const found = await outermost(all, async () => void pauses++);
	t.deepEqual(found.map(({ place }) => place.root).sort(), ['a/b', deep, ...siblings, `${siblings[0]}0`].sort());
	t.is(pauses, all.length);
});
