import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { FoundListing } from '@stowage/plugin-api';
import type { SearchQuery, Viewer } from '@stowage/rules';
import test from 'ava';
import { Client, json, type TestApp, testApp } from '../testApp.js';

const withIndex = { '--search-index': 'true' };

const visitor: Viewer = { kind: 'anonymous', access: 'read' };

async function viewerOf(app: TestApp, username: string): Promise<Viewer> {
	const user = await app.services.database.users.find(username);
	if (user === undefined) throw new Error(`There is no ${username}.`);
	return { kind: 'user', id: user.id, username };
}

const inPrivate = { area: 'private' as const, path: '' as never };
const inPublic = { area: 'public' as const, path: '' as never };

type Folder = typeof inPrivate | typeof inPublic;

/** What the disk answers, without the index. */
async function walk(app: TestApp, viewer: Viewer, folder: Folder, query: SearchQuery): Promise<FoundListing> {
	const index = app.services.searchIndex;
	index.scope = async () => undefined;
	try {
		return await app.services.files.search(viewer, folder, query);
	} finally {
		Reflect.deleteProperty(index, 'scope');
	}
}

const sorted = ({ entries, truncated, missing }: FoundListing) => ({
	entries: entries.toSorted((one, other) => (`${one.owner}/${one.path}` < `${other.owner}/${other.path}` ? -1 : 1)),
	truncated,
	missing,
});

async function paths(app: TestApp, viewer: Viewer, folder: Folder, term: string): Promise<string[]> {
	return (await app.services.files.search(viewer, folder, { term })).entries.map(({ path }) => path).sort();
}

test('what a user does is found at once, and what they take away is not', async (t) => {
	const app = await testApp(t, withIndex);
	const ada = await new Client(app).register('ada');
	const viewer = await viewerOf(app, 'ada');
	await app.services.searchIndex.settled();
	const search = () => paths(app, viewer, inPrivate, 'HOLIDAY');
	t.deepEqual(await search(), []);
	const call = async (url: string, body: object) => t.is((await ada.post(url, body)).statusCode, 200);
	await call('/api/createFolder', { directory: '', folderName: 'trips', type: 'private' });
	await call('/api/createFile', { directory: 'trips', fileName: 'holiday.txt', type: 'private' });
	t.deepEqual(await search(), ['trips/holiday.txt']);
	await app.services.searchIndex.settled();
	t.deepEqual(await search(), ['trips/holiday.txt']);
	await call('/api/renameItem', { oldPath: 'trips', newName: 'holidays', type: 'private' });
	t.deepEqual(await search(), ['holidays', 'holidays/holiday.txt']);
	await call('/api/moveItem', { type: 'private', fromPath: 'holidays', toPath: 'Public/holidays' });
	t.deepEqual(await search(), ['Public/holidays', 'Public/holidays/holiday.txt']);
	await app.services.searchIndex.settled();
	const { trashId } = json(
		await ada.call('DELETE', '/api/deleteItem', { filePath: 'Public/holidays', type: 'private' }),
	);
	t.deepEqual(await search(), []);
	await app.services.searchIndex.settled();
	t.deepEqual(await search(), []);
	await call('/api/trash/restore', { ids: [trashId] });
	t.deepEqual(await search(), ['Public/holidays', 'Public/holidays/holiday.txt']);
	const found = await app.services.files.search(viewer, inPrivate, { term: 'holiday' });
	t.is(typeof found.indexedAt, 'number');
});

/** A generator of numbers that are the same in each run. */
function random(seed: number) {
	let state = seed;
	return (below: number) => {
		state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
		return Math.floor((state / 2 ** 32) * below);
	};
}

const words = ['beach', 'Straße', 'İzmir', 'a', 'photo', 'ΣΊΣΥΦΟΣ', '海の写真', 'x y', "o'%_", '🌊wave', 'IMG_2024'];
const endings = ['.jpg', '.txt', '', '.mp3', '.ZIP'];

const queries: readonly SearchQuery[] = [
	...[
		'beach',
		'EACH',
		'strasse',
		'i',
		'zm',
		'ς',
		'海',
		'の写真',
		'%',
		"o'%_",
		'🌊',
		'🌊w',
		'IMG_2',
		'no such name',
		'.jpg',
		'"',
		'x y',
	].map((term) => ({ term })),
	{ term: '', kinds: ['folder'] },
	{ term: 'a', kinds: ['image', 'audio'] },
	{ term: '', minSize: 3 },
	{ term: 'h', after: Date.now() - 3_600_000, kinds: ['folder', 'image'] },
	{ term: '', before: 1000 },
];

test('the index and the walk answer the same while users and other programs change everything', async (t) => {
	const app = await testApp(t, withIndex);
	await new Client(app).register('ada');
	await new Client(app).register('bob');
	const { files, searchIndex } = app.services;
	const ada = await viewerOf(app, 'ada');
	const next = random(7);
	const pick = <T>(from: readonly T[]): T => from[next(from.length)] as T;
	const newName = () => `${pick(words)}${next(6)}${pick(endings)}`;
	const home = path.join(app.filesDir, 'users', 'ada');

	const all = async (): Promise<{ folders: string[]; items: string[] }> => {
		const found = await readdir(home, { recursive: true, withFileTypes: true });
		const at = (entry: (typeof found)[number]) => path.relative(home, path.join(entry.parentPath, entry.name));
		const items = found.map(at).filter((each) => each !== 'Public');
		return { folders: ['', ...found.filter((entry) => entry.isDirectory()).map(at)], items };
	};
	const isExpected = (error: unknown) => {
		if (!(error instanceof Error) || !('kind' in error)) throw error;
	};
	const item = (at: string) => ({ area: 'private' as const, path: at as never });
	const changeByServer = async () => {
		const { folders, items } = await all();
		const target = path.posix.join(pick(folders), newName());
		const chosen = items.length === 0 ? 'none' : pick(items);
		const change = [
			() => files.createFolder(ada, item(path.posix.dirname(target).replace(/^\.$/, '')), path.posix.basename(target)),
			() => files.createFile(ada, item(path.posix.dirname(target).replace(/^\.$/, '')), path.posix.basename(target)),
			() => files.rename(ada, item(chosen), newName()),
			() => files.move(ada, item(chosen), target as never),
			() => files.copy(ada, item(chosen), item(target)),
			() => files.remove(ada, item(chosen), { isForGood: next(2) === 0 }),
		][Math.min(next(9), 5) % 6];
		await change?.().catch(isExpected);
	};
	const changeByProgram = async () => {
		const { folders, items } = await all();
		const target = path.join(home, pick(folders), newName());
		const chosen = items.length === 0 ? undefined : path.join(home, pick(items));
		const change = [
			() => mkdir(target),
			() => writeFile(target, 'x'.repeat(next(6)), { flag: 'wx' }),
			async () => chosen && (await rename(chosen, target)),
			async () => chosen && (await rm(chosen, { recursive: true })),
			async () => chosen && (await stat(chosen)).isFile() && (await writeFile(chosen, 'y'.repeat(next(9)))),
		][next(5)];
		await change?.().catch(() => {});
	};
	const assertSame = async (when: string) => {
		for (const query of queries) {
			for (const [viewer, folder] of [
				[ada, inPrivate],
				[ada, inPublic],
				[visitor, inPublic],
			] as const) {
				const found = await files.search(viewer, folder, query);
				if (!when.includes('change')) t.is(typeof found.indexedAt, 'number', when);
				t.deepEqual(sorted(found), sorted(await walk(app, viewer, folder, query)), `${when}: ${JSON.stringify(query)}`);
			}
		}
	};
	for (let each = 0; each < 25; each++) await changeByServer();
	for (let round = 0; round < 6; round++) {
		for (let each = 0; each < 12; each++) {
			await changeByServer();
			if (each % 4 === 3) await assertSame(`round ${round}, change ${each}`);
		}
		await searchIndex.settled();
		await assertSame(`round ${round}, settled`);
		for (let each = 0; each < 10; each++) await changeByProgram();
		for (const query of queries) {
			const there = new Set(
				(await walk(app, ada, inPrivate, { term: '', kinds: query.kinds })).entries.map(({ path }) => path),
			);
			for (const { path: at } of (await files.search(ada, inPrivate, query)).entries) t.true(there.has(at), at);
		}
		await searchIndex.check(true);
		await searchIndex.settled();
		await assertSame(`round ${round}, checked`);
	}
	t.is(typeof (await files.search(ada, inPrivate, { term: 'beach' })).indexedAt, 'number');
});
