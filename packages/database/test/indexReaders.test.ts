import { type IndexReader, searchIndexFile, type WaitingMark } from '@stowage/database';
import { parsePath } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { blocksOf } from '../src/searchIndex/blocks.js';
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
