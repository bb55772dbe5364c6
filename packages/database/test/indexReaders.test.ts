import { type IndexReader, searchIndexFile, type WaitingMark } from '@stowage/database';
import { parsePath, type StoragePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import Libsql from 'libsql/promise';
import { PreparedStatements } from '../src/connection/sqlite/PreparedStatements.js';
import { blocksOf } from '../src/searchIndex/blocks.js';
import { IndexConnection } from '../src/searchIndex/IndexConnection.js';
import { endsAbove } from '../src/searchIndex/IndexReader.js';
import { temporaryFolder } from './temporaryFolder.js';

const rootId = 'root';
const homes = ['ada', 'eve', 'max', 'zoe'];

async function emptyIndex(t: ExecutionContext) {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const file = await searchIndexFile(`${folder.path}/search`);
	(await file.lock())?.release();
	const writer = await file.write();
	await writer.addRoot(rootId, 1);
	return { file, writer };
}

/** An index in which each home has so many folders with 100 files in each. */
async function indexOfHomes(
	t: ExecutionContext,
	folders: number,
	nameOf: (file: number, home: string, folder: string) => string,
): Promise<IndexReader> {
	const { file, writer } = await emptyIndex(t);
	const list = (path: string, items: { name: string; type: 'file' | 'directory' }[]) => {
		const mark: WaitingMark = { rootId, n: 0, kind: 'rows', path: parsePath(path) };
		const sized = items.map((item) => ({ ...item, size: 0, mtime: 0 }));
		return { mark, kind: 'listed' as const, items: sized, mtime: null, listedAt: 1 };
	};
	const names = Array.from({ length: folders }, (_, n) => ({ name: `${n}`, type: 'directory' as const }));
	await writer.write([list('', [{ name: 'users', type: 'directory' }])]);
	await writer.write([
		list(
			'users',
			homes.map((name) => ({ name, type: 'directory' })),
		),
	]);
	for (const home of homes) {
		await writer.write([list(`users/${home}`, names)]);
		const filesOf = (folder: string) =>
			Array.from({ length: 100 }, (_, n) => ({ name: nameOf(n, home, folder), type: 'file' as const }));
		await writer.write(names.map(({ name }) => list(`users/${home}/${name}`, filesOf(name))));
	}
	await writer.close();
	const reader = await file.read();
	t.teardown(() => reader.close());
	return reader;
}

/** A folder of a thousand levels. */
const deep = parsePath(
	Array(1000)
		.fill(`${'d'.repeat(56)}ā`)
		.join('/'),
);

test.serial('what is stale of the folders above a deep one is asked with little more than its path', async (t) => {
	const { file, writer } = await emptyIndex(t);
	await writer.close();
	const reader = await file.read();
	t.teardown(() => reader.close());
	const { all } = IndexConnection.prototype;
	let bound = 0;
	IndexConnection.prototype.all = function (sql, ...bindings) {
		for (const value of bindings) bound += String(value).length;
		return all.call(this, sql, ...bindings) as never;
	};
	try {
		t.is((await reader.staleWithin(rootId, deep, 10)).length, 1);
	} finally {
		IndexConnection.prototype.all = all;
	}
	t.true(bound < 5 * deep.length, `${bound} characters`);
	t.is(endsAbove(deep).length, 1000);
});

test.serial('no statement of an index is kept with long values', async (t) => {
	const { file, writer } = await emptyIndex(t);
	await writer.close();
	const reader = await file.read();
	t.teardown(() => reader.close());
	const { prototype } = Libsql as unknown as { prototype: { prepare(sql: string): unknown } };
	const { prepare } = prototype;
	let prepared = 0;
	prototype.prepare = function (sql) {
		prepared++;
		return prepare.call(this, sql);
	};
	const preparedFor = async (path: StoragePath) => {
		prepared = 0;
		for (let run = 0; run < 3; run++) await reader.childFolders(rootId, path);
		for (let run = 0; run < 3; run++) await reader.staleWithin(rootId, path, 10);
		return prepared;
	};
	try {
		t.is(await preparedFor(parsePath('docs/inner')), 3);
		// The one for what is stale below it has the path three times, and was kept from the former call.
		t.is(await preparedFor(deep), 2);
	} finally {
		prototype.prepare = prepare;
	}
});

test('no statement of a database is kept with long values', (t) => {
	const statements = new PreparedStatements<string>();
	statements.giveBack('select 1', 'short', ['a', 1, null, Buffer.alloc(100)]);
	t.is(statements.take('select 1'), 'short');
	for (const long of [['a'.repeat(100_000)], Array(20).fill('a'.repeat(5000)), [Buffer.alloc(100_000)]]) {
		statements.giveBack('select 1', 'long', long);
		t.is(statements.take('select 1'), undefined);
	}
});

test('a folder is stale by the mark of a tree that it lies in, whatever has a name that begins as its own', async (t) => {
	const { file, writer } = await emptyIndex(t);
	const [all] = await writer.waiting(0, 1);
	await writer.write([{ mark: all as WaitingMark, kind: 'listed', items: [], mtime: null, listedAt: 1 }]);
	const reader = await file.read();
	t.teardown(() => reader.close());
	const folder = parsePath('users/ada/ā 日/😀/docs');
	const tree = (path: string) => ({ kind: 'tree' as const, path: parsePath(path) });
	const others = ['users/ada/ā', 'users/ada/ā 日/😀/doc', 'users/ad', 'users/ada/ā 日/😀/docs/inner'].map(tree);
	await writer.mark(rootId, [...others, { kind: 'rows', path: parsePath('users/ada') }]);
	t.deepEqual(await reader.staleWithin(rootId, folder, 10), others.slice(3));
	t.deepEqual(
		await reader.staleWithin(rootId, parsePath(''), 1),
		(await reader.staleWithin(rootId, parsePath(''), 9)).slice(0, 2),
	);
	for (const path of ['users/ada/ā 日/😀', 'users/ada/ā 日', 'users', '']) {
		await writer.mark(rootId, [tree(path)]);
		const [mark, ...rest] = await reader.staleWithin(rootId, folder, 10);
		t.deepEqual(rest, others.slice(3));
		t.true(mark?.kind === 'tree' && (mark.path === '' || folder.startsWith(`${mark.path}/`)), mark?.path);
	}
	await writer.close();
});

test('searches at once by one reader get the names of their own folders each, and all of them', async (t) => {
	const folders = 60;
	const reader = await indexOfHomes(t, folders, (n, home) => `holiday of ${home} ${n}`);
	await Promise.all(
		[...homes, ...homes].map(async (home) => {
			for (let round = 0; round < 10; round++) {
				const folded = 'HOLIDAY';
				const query = { rootId, within: parsePath(`users/${home}`), folded, limit: folders };
				const blocks = await reader.blocks({ ...query, after: 0 });
				t.is(blocks.length, folders);
				t.deepEqual(new Set(blocks.map((block) => block.folder.split('/')[1])), new Set([home]));
				t.true(blocks.every(({ items }) => items.every(({ name }) => name.startsWith(`holiday of ${home} `))));
				t.is((await reader.childFolders(rootId, parsePath(`users/${home}`))).length, folders);
			}
		}),
	);
});

test('a search that reads all names of a home for its next hit leaves the main thread to others', async (t) => {
	const term = `${'A'.repeat(24)}B`;
	// All blocks have all parts of three letters of the term, and one has the term.
	const reader = await indexOfHomes(t, 80, (n, home, folder) =>
		home === 'ada' && folder === '0' && n === 0 ? term : `${'ABA'.repeat(40)}AA${n}`,
	);
	const shares: number[] = [];
	for (let round = 0; round < 5; round++) {
		const longest = await longestTurn(async () => {
			const found = await reader.blocks({ rootId, within: parsePath('users'), folded: term, after: 0 });
			t.is(found.length, 1);
		});
		shares.push(longest);
	}
	t.true(Math.min(...shares) < 0.5, `${shares}`);
});

test('a very large folder of which one name has changed is compared in steps, and written only where it has changed', async (t) => {
	const { file, writer } = await emptyIndex(t);
	const items = Array.from({ length: 100_000 }, (_, n) => ({
		...{ name: `${n} holiday`, type: 'file' as const, size: n, mtime: 1 },
	}));
	const list = () =>
		writer.write([
			{
				mark: { rootId, n: 0, kind: 'rows', path: parsePath('') },
				...{ kind: 'listed', items, mtime: null, listedAt: 1 },
			},
		]);
	await list();
	const reader = await file.read();
	t.teardown(() => reader.close());
	const find = (folded: string) => reader.blocks({ rootId, within: parsePath(''), folded, after: 0 });
	const [before] = await find('99999 ');
	items[0] = { name: 'work', type: 'file', size: 1, mtime: 2 };
	await list();
	t.deepEqual((await find('WORK'))[0]?.items.filter(({ name }) => name === 'work').length, 1);
	t.is((await find('99999 '))[0]?.id, before?.id);
	await writer.close();
	let pauses = 0;
	let blocks = 0;
	for await (const _ of blocksOf(items, async () => void pauses++)) blocks++;
	t.true(blocks > 500 && pauses > blocks + items.length / 200, `${pauses} pauses for ${blocks} blocks`);
});

/** Which part of the time that the work takes is the longest in which nothing else has a turn. */
async function longestTurn(work: () => Promise<void>): Promise<number> {
	let last = performance.now();
	let longest = 0;
	const tick = () => {
		longest = Math.max(longest, performance.now() - last);
		last = performance.now();
	};
	const timer = setInterval(tick, 1);
	const began = performance.now();
	await work();
	tick();
	clearInterval(timer);
	return longest / (performance.now() - began);
}
