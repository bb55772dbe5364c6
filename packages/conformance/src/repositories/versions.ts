import type { FileVersion, Stores, VersionCount } from '@stowage/plugin-api';
import { parsePath } from '@stowage/rules';
import { hostileTexts, type Rule, second } from './rules.js';

const idOf = (n: number) => n.toString(16).padStart(32, '0');

/** A version of the file `file-1` of ada's. */
export const versionAt = (n: number, path: string, change: Partial<FileVersion> = {}): FileVersion => ({
	kind: 'version',
	id: idOf(n),
	ownerId: 'ada-id',
	ownerName: 'ada',
	rootId: 'root-1',
	path: parsePath(path),
	type: 'file',
	size: { bytes: 1000 + n, entries: 1 },
	mtime: Date.UTC(2029, 0, 1) + n,
	deletedAt: Date.UTC(2030, 0, 1) + n * second,
	deletedBy: 'ada',
	state: 'kept',
	versionOf: 'file-1',
	replacedId: `was-${n}`,
	...change,
});

/** The versions of a file by its identity alone. */
const of = (versions: Stores['versions'], ownerId: string, file: string) =>
	versions.of(ownerId, { file, path: parsePath('nowhere') });

const ids = (records: { id: string }[]) => records.map(({ id }) => Number.parseInt(id, 16));

/** All that there are of ada's at a path or below. */
async function countsWithin(versions: Stores['versions'], path: string): Promise<VersionCount[]> {
	const counts: VersionCount[] = [];
	await versions.countsWithin('ada-id', parsePath(path), async (some) => void counts.push(...some));
	return counts;
}

/** Path, file and number of versions of each, sorted. */
const within = async ({ versions }: Pick<Stores, 'versions'>, path: string) =>
	(await countsWithin(versions, path)).map((each) => `${each.path}: ${each.file} ${each.count}`).sort();

/** Former contents of files. */
export function versionRules(assertThat: Rule): void {
	assertThat('a version is an item of the trash with its file', async (t, { trash, versions }) => {
		t.false(await versions.hasAny('ada-id'));
		const version = versionAt(1, 'docs/ä 😀.txt');
		await trash.add(version);
		t.deepEqual(await trash.get(version.id), version);
		t.true(await versions.hasAny('ada-id'));
		t.false(await versions.hasAny('bob-id'));
		t.deepEqual(await of(versions, 'ada-id', 'file-1'), [version]);
		t.deepEqual(await of(versions, 'bob-id', 'file-1'), []);
		for (const text of hostileTexts) t.deepEqual(await of(versions, 'ada-id', text), []);
		await trash.add(versionAt(2, 'docs/ä 😀.txt'));
		t.deepEqual(ids(await of(versions, 'ada-id', 'file-1')), [2, 1]);
	});

	assertThat(
		'what belonged to another file of the same path is among the versions of a file',
		async (t, { trash, versions }) => {
			await trash.add(versionAt(1, 'docs/a'));
			await trash.add(versionAt(2, 'docs/a', { versionOf: 'file-2' }));
			await trash.add(versionAt(3, 'docs/b', { versionOf: 'file-2' }));
			await trash.add(versionAt(4, 'docs/a', { ownerId: 'bob-id' }));
			await trash.add(versionAt(5, 'docs/a', { versionOf: 'was-5', state: 'moving' }));
			t.deepEqual(ids(await versions.of('ada-id', { file: 'file-2', path: parsePath('docs/a') })), [3, 2, 1]);
			t.deepEqual(ids(await versions.of('ada-id', { file: 'file-3', path: parsePath('docs/a') })), [2, 1]);
			t.deepEqual(ids(await versions.of('ada-id', { file: 'file-3', path: parsePath('docs') })), []);
		},
	);

	assertThat('versions are told from deleted items where one kind is meant', async (t, { trash }) => {
		await trash.add(versionAt(1, 'a'));
		const { versionOf, replacedId, mtime, ...kept } = versionAt(2, 'b');
		await trash.add({ ...kept, kind: 'item' });
		const list = async (kind?: 'item' | 'version') =>
			ids(await trash.list({ order: 'oldest', limit: 9, ...(kind && { kind }) }));
		t.deepEqual(await list(), [1, 2]);
		t.deepEqual(await list('version'), [1]);
		t.deepEqual(await list('item'), [2]);
		t.deepEqual(await trash.count('ada-id', 'version'), { items: 1, pathBytes: 1, ofOthers: new Map() });
		t.deepEqual(await trash.count('ada-id', 'item'), { items: 1, pathBytes: 1, ofOthers: new Map() });
		t.is((await trash.totals({})).entries, 2);
		t.is((await trash.totals({ kind: 'version' })).bytes, 1001);
		t.is(await trash.beginPurging({ kind: 'item', ids: [1, 2].map(idOf) }), 1);
		t.deepEqual(await list(), [1]);
		await trash.add({ ...kept, kind: 'item', id: idOf(3), path: parsePath('c/d') });
		t.is(await trash.beginPurging({ ids: [1, 2, 3].map(idOf) }, { forgetsPaths: true }), 2);
		const purging = await trash.inState('purging', { limit: 9 });
		t.deepEqual(purging.map(({ path }) => String(path)).sort(), ['', 'b', 'c/d'], 'items may be found by them');
	});

	assertThat('versions are counted by folder and file', async (t, stores) => {
		const { trash, versions } = stores;
		await trash.add(versionAt(1, 'a'));
		await trash.add(versionAt(2, 'docs/a'));
		await trash.add(versionAt(3, 'docs/a', { versionOf: 'file-2' }));
		await trash.add(versionAt(4, 'docs/a', { versionOf: 'file-2' }));
		await trash.add(versionAt(5, 'docs/in/a', { versionOf: 'file-3' }));
		await trash.add(versionAt(6, 'docs 2/a', { versionOf: 'file-4' }));
		await trash.add(versionAt(7, 'docs', { ownerId: 'bob-id' }));
		const countsIn = async (folder: string) =>
			(await versions.countsIn('ada-id', [parsePath(folder)], { limit: 9 }))
				.map(({ file, count }) => `${file} ${count}`)
				.sort();
		t.deepEqual(await countsIn(''), ['file-1 1']);
		t.deepEqual(await countsIn('docs'), ['file-1 1', 'file-2 2']);
		t.deepEqual(await countsIn('nothing'), []);
		const several = ['nothing', 'docs/in', ...Array.from({ length: 300 }, (_, n) => `none ${n}`), ''].map(parsePath);
		const counts = await versions.countsIn('ada-id', several, { limit: 9 });
		t.deepEqual(counts.map(({ path, count }) => `${path} ${count}`).sort(), ['a 1', 'docs/in/a 1']);
		t.deepEqual(await versions.countsIn('ada-id', [], { limit: 9 }), []);
		const pages: string[] = [];
		for (let after: VersionCount | undefined; pages.length < 4; ) {
			const page = await versions.countsIn('ada-id', [parsePath('docs')], { limit: 1, after });
			pages.push(...page.map(({ file, count }) => `${file} ${count}`));
			after = page.at(-1);
			if (page.length === 0) break;
		}
		t.deepEqual(pages, ['file-1 1', 'file-2 2'], 'page by page');
		t.deepEqual(await within(stores, 'docs'), ['docs/a: file-1 1', 'docs/a: file-2 2', 'docs/in/a: file-3 1']);
		t.deepEqual(await within(stores, 'docs/in/a'), ['docs/in/a: file-3 1']);
		t.is((await within(stores, '')).length, 5);
		t.is(await versions.beginPurging('ada-id', ['file-2', 'file-3', 'unknown']), 3);
		t.is(await versions.beginPurging('ada-id', ['file-2']), 0);
		t.is(await versions.beginPurging('bob-id', ['file-4']), 0);
		t.deepEqual(await within(stores, 'docs'), ['docs/a: file-1 1']);
		t.deepEqual(ids(await trash.inState('purging', { limit: 9 })), [3, 4, 5]);
		await versions.beginPurging('ada-id', ['file-1', 'file-4']);
		t.deepEqual(await within(stores, ''), []);
		t.true(await versions.hasAny('ada-id'), 'also of those only that are being removed');
	});

	assertThat('versions follow files and folders that are moved', async (t, stores) => {
		const { trash, versions } = stores;
		await trash.add(versionAt(1, 'ä😀/a'));
		await trash.add(versionAt(2, 'ä😀/in/b', { versionOf: 'file-2' }));
		await trash.add(versionAt(3, 'ä😀 2/c', { versionOf: 'file-3' }));
		await trash.add(versionAt(4, 'ä😀', { versionOf: 'file-4', ownerId: 'bob-id' }));
		await versions.move('ada-id', parsePath('ä😀'), parsePath('some/where'));
		t.deepEqual(await within(stores, ''), ['some/where/a: file-1 1', 'some/where/in/b: file-2 1', 'ä😀 2/c: file-3 1']);
		t.is((await versions.countsIn('ada-id', [parsePath('some/where/in')], { limit: 9 })).length, 1);
		await versions.move('ada-id', parsePath('some/where/in/b'), parsePath('b'));
		t.is((await versions.countsIn('ada-id', [parsePath('')], { limit: 9 })).length, 1);
		for (const text of ['%', 'a_b', 'it’s', "'", '"', '`', '?', '??', '$1', '😀😀', 'e\u0301']) {
			const path = parsePath(text);
			await versions.move('ada-id', parsePath('b'), path);
			t.true((await within(stores, path)).includes(`${path}: file-2 1`), text);
			await versions.move('ada-id', path, parsePath('b'));
		}
		t.is((await of(versions, 'bob-id', 'file-4'))[0]?.path, parsePath('ä😀'));
		t.is(await versions.move('ada-id', parsePath('b'), parsePath('b')), 0, 'to where they are');
		t.true(await versions.hasWithin('ada-id', parsePath('b')));
		t.false(await versions.hasWithin('bob-id', parsePath('b')));
		t.is(await versions.move('ada-id', parsePath('b'), parsePath('c')), 1);
		t.false(await versions.hasWithin('ada-id', parsePath('b')));
		t.true(await versions.hasWithin('ada-id', parsePath('')));
		t.is(await versions.move('ada-id', parsePath('b'), parsePath('c')), 0);
	});

	assertThat('very many versions are moved in parts', async (t, { trash, versions }) => {
		const count = 1_100;
		for (let n = 1; n <= count; n++) await trash.add(versionAt(n, `docs/${n % 7}`, { versionOf: `file-${n % 7}` }));
		let parts = 1;
		while (await versions.move('ada-id', parsePath('docs'), parsePath('papers/here'))) parts++;
		t.true(parts > 1, `${parts} parts`);
		const moved = await countsWithin(versions, 'papers/here');
		t.is(moved.length, 7);
		t.is(
			moved.reduce((sum, each) => sum + each.count, 0),
			count,
		);
		t.deepEqual(await countsWithin(versions, 'docs'), []);
	});

	assertThat(
		'versions with long paths are moved, bound, placed and removed completely',
		async (t, { trash, versions }) => {
			const deep = (name: string) => parsePath(`${Array(900).fill(name.repeat(62)).join('/')}`);
			const count = 40;
			const [from, to, there] = [deep('d'), deep('e'), parsePath(`${deep('f')}/a`)];
			for (let n = 1; n <= count; n++)
				await trash.add(versionAt(n, `${from}/${n % 2}`, { versionOf: n % 4 < 2 ? 'file-1' : `file-${n}` }));
			await trash.add(versionAt(50, `${from}/1`, { versionOf: 'file-1', replacedId: 'file-1', state: 'moving' }));
			let moved = 0;
			for (let some = -1; some !== 0; moved += some) some = await versions.move('ada-id', from, to);
			t.is(moved, count + 1);
			t.deepEqual(await countsWithin(versions, from), []);
			t.is((await countsWithin(versions, to)).length, count / 2 + 2);
			t.is(await versions.bind('ada-id', 'file-1', 'file-2'), count / 2 + 1);
			t.is(await versions.bind('ada-id', 'file-1', 'file-2'), 0);
			const all = await of(versions, 'ada-id', 'file-2');
			t.deepEqual([all.length, all[0]?.id], [count / 2 + 2, idOf(50)]);
			await versions.place('ada-id', { file: 'file-2', path: there });
			t.deepEqual(await countsWithin(versions, there), [{ path: there, file: 'file-2', count: count / 2 + 2 }]);
			t.is(await versions.beginPurging('ada-id', ['file-2', 'file-3', 'file-4']), count / 2 + 3);
			const marked = await trash.inState('purging', { limit: 99 });
			t.is(marked.length, count / 2 + 3);
			t.is(await trash.beginPurging({ ownerId: 'ada-id', ids: [...Array(60).keys()].map(idOf) }), count / 2 - 2);
			await trash.remove([...Array(60).keys()].map(idOf));
			t.false(await versions.hasAny('ada-id'));
		},
	);

	assertThat('the files of very many versions are counted once each', async (t, { trash, versions }) => {
		const paths = Array.from({ length: 210 }, (_, n) => [`docs/${n}`, `docs/in ${n % 3}/${n}`, `docs 2/${n}`]).flat();
		await trash.addMissing(paths.map((path, n) => versionAt(n + 1, path, { versionOf: `file-${n}` })));
		await trash.addMissing(paths.map((path, n) => versionAt(n + 1_001, path, { versionOf: `file-${n}` })));
		const all = paths.map((path, n) => `${path}: file-${n} 2`).sort();
		t.deepEqual(await within({ versions }, ''), all);
		t.deepEqual(
			await within({ versions }, 'docs'),
			all.filter((each) => each.startsWith('docs/')),
		);
	});

	assertThat('the versions of a file that is replaced belong to the new one', async (t, stores) => {
		const { trash, versions } = stores;
		await trash.add(versionAt(1, 'a'));
		const becoming = versionAt(2, 'a', { versionOf: 'file-1', replacedId: 'file-1', state: 'moving' });
		await trash.add(becoming);
		t.deepEqual(ids(await of(versions, 'ada-id', 'file-1')), [1]);
		t.deepEqual(await within(stores, ''), ['a: file-1 1']);
		t.deepEqual(await versions.unfinished('ada-id', parsePath('a')), [becoming]);
		t.deepEqual(await versions.unfinished('ada-id', parsePath('b')), []);
		t.is(await versions.bind('bob-id', 'file-1', 'file-2'), 0);
		t.is(await versions.bind('ada-id', 'file-1', 'file-2'), 2);
		t.deepEqual(ids(await of(versions, 'ada-id', 'file-2')), [2, 1]);
		t.deepEqual(await of(versions, 'ada-id', 'file-1'), []);
		t.deepEqual(await within(stores, ''), ['a: file-2 2']);
		await versions.place('ada-id', { file: 'file-2', path: parsePath('docs/b') });
		t.deepEqual(await within(stores, ''), ['docs/b: file-2 2']);
		t.is((await versions.countsIn('ada-id', [parsePath('docs')], { limit: 9 })).length, 1);
		t.deepEqual(await versions.unfinished('ada-id', parsePath('docs/b')), []);
	});

	assertThat(
		'who has written a version, and what replaced it, is known as long as that is the file',
		async (t, stores) => {
			const { trash, versions } = stores;
			await trash.add(versionAt(1, 'a'));
			const becoming = { versionOf: 'file-1', replacedId: 'file-1', state: 'moving', writtenBy: 'bob-id' } as const;
			await trash.addMissing([versionAt(2, 'a', becoming)]);
			t.is(await versions.writerOf('ada-id', 'file-2', 'file-2 content'), undefined);
			const next = { item: 'file-2 content', writtenBy: 'carol-id' };
			t.is(await versions.bind('ada-id', 'file-1', 'file-2', next), 2);
			t.is(await versions.writerOf('ada-id', 'file-2', 'file-2 content'), 'carol-id');
			for (const [owner, of, item] of [
				['bob-id', 'file-2', 'file-2 content'],
				['ada-id', 'file-1', 'file-2 content'],
				['ada-id', 'file-2', 'file-2 other'],
				...hostileTexts.map((text) => ['ada-id', 'file-2', text] as const),
			] as const)
				t.is(await versions.writerOf(owner, of, item), undefined, `${owner} ${of} ${item}`);
			const beginning = { isBeginning: true };
			for (const item of ['file-2 content', 'file-2 c', 'file-2 '])
				t.is(await versions.writerOf('ada-id', 'file-2', item, beginning), 'carol-id', item);
			for (const item of ['file-2 d', 'file-2 content-', 'ile-2', ...hostileTexts.filter((text) => text !== '')])
				t.is(await versions.writerOf('ada-id', 'file-2', item, beginning), undefined, item);
			const bound = { ...becoming, versionOf: 'file-2', next };
			t.deepEqual(await trash.get(idOf(1)), versionAt(1, 'a', { versionOf: 'file-2' }));
			t.deepEqual(await trash.get(idOf(2)), versionAt(2, 'a', bound));
			t.is(await versions.bind('ada-id', 'file-2', 'file-3'), 2);
			t.is(await versions.writerOf('ada-id', 'file-3', 'file-2 content'), 'carol-id');
			await versions.detach(idOf(2), parsePath('a'));
			t.is(await versions.writerOf('ada-id', 'file-3', 'file-2 content'), undefined);
		},
	);

	assertThat('a version is settled once it belongs to another file', async (t, { trash, versions }) => {
		await trash.add(versionAt(1, 'a', { versionOf: 'was-1', state: 'moving' }));
		await trash.add(versionAt(2, 'b', { state: 'moving' }));
		t.is(await trash.settle([idOf(1), idOf(2)], 'moving'), 1);
		t.deepEqual(ids(await trash.inState('moving', { limit: 9 })), [1]);
		await versions.bind('ada-id', 'was-1', 'file-3');
		t.is(await trash.settle([idOf(1), idOf(2)], 'moving'), 1);
	});

	assertThat('a version can become an ordinary item of the trash', async (t, { trash, versions }) => {
		await trash.add(versionAt(1, ':trash/x/a'));
		await versions.detach(idOf(1), parsePath('docs/a'));
		const { versionOf, replacedId, mtime, ...kept } = versionAt(1, 'docs/a');
		t.deepEqual(await trash.get(idOf(1)), { ...kept, kind: 'item' });
		t.false(await versions.hasAny('ada-id'));
	});
}
