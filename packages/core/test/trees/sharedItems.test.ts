import type { StorageItem } from '@stowage/plugin-api';
import { Failure, type Guest, parsePath, rootPath } from '@stowage/rules';
import test from 'ava';
import { listPlace } from '../../src/files/list.js';
import { SharedItems } from '../../src/trees/SharedItems.js';
import type { HomeStorage } from '../../src/trees/storage/HomeStorage.js';
import type { Place } from '../../src/trees/Tree.js';

const fileOf = (path: string): StorageItem => ({ name: path, type: 'file', size: 0, mtime: 0, id: path, version: '' });

/** A guest of files with these paths. */
function guestOf(paths: readonly string[]): Guest {
	const items = paths.map((text, n) => {
		const path = parsePath(text);
		return { name: parsePath(`${n}.txt`), type: 'file' as const, path, itemId: `users/ada/${text}` };
	});
	const owner = { kind: 'user', id: 'a', username: 'ada' } as const;
	return { kind: 'guest', share: 'share', owner, root: { kind: 'items', items } };
}

const sharedItems = (paths: readonly string[], stat: (path: string) => Promise<StorageItem>) =>
	new SharedItems({ stat } as unknown as HomeStorage, guestOf(paths));

test('others have their turns while the many items of a share are looked up, which anybody may ask for', async (t) => {
	// As the calls of a local disk, which take their time on this thread.
	const stat = async (path: string): Promise<StorageItem> => {
		for (const begun = performance.now(); performance.now() - begun < 1; );
		return fileOf(path);
	};
	const paths = Array.from({ length: 100 }, (_, n) => `${n}.txt`);
	const shared = sharedItems(paths, stat);
	let turns = 0;
	let isListed = false;
	const count = () => {
		turns++;
		if (!isListed) setImmediate(count);
	};
	setImmediate(count);
	let found = 0;
	for await (const batch of shared.list(shared.root)) found += batch.length;
	isListed = true;
	t.is(found, 100);
	t.true(turns >= 3, `${turns}`);
});

test('items in one folder are looked up at once, so that it is opened once for several, and listed in their order', async (t) => {
	const bursts: string[][] = [];
	let burst: string[] = [];
	const stat = async (path: string): Promise<StorageItem> => {
		if (burst.push(path) === 1) {
			bursts.push(burst);
			process.nextTick(() => {
				burst = [];
			});
		}
		await new Promise((resolve) => setImmediate(resolve));
		if (path.endsWith('/7')) throw new Failure('notFound', 'No such file');
		return fileOf(path);
	};
	const paths = [...Array.from({ length: 40 }, (_, n) => `deep/folder/${n}`), 'other/1', 'deep/folder/last'];
	const found: string[] = [];
	const shared = sharedItems(paths, stat);
	for await (const batch of shared.list(shared.root)) found.push(...batch.map(({ name }) => name));
	t.deepEqual(
		found,
		paths.map((_, n) => `${n}.txt`).filter((name) => name !== '7.txt'),
	);
	t.deepEqual(
		bursts.map((each) => each.length),
		[16, 16, 8, 1, 1],
	);
	for (const each of bursts) t.is(new Set(each.map((path) => path.slice(0, path.lastIndexOf('/')))).size, 1);
});

test('fewer items of a share are read in a turn where each takes long, also where none is there', async (t) => {
	const slow = async (path: string): Promise<StorageItem> => {
		for (const begun = performance.now(); performance.now() - begun < 10; );
		if (path.includes('gone')) throw new Failure('notFound', 'No such file');
		return fileOf(path);
	};
	for (const folder of ['kept', 'gone']) {
		// Each in a folder of its own.
		const paths = Array.from({ length: 64 }, (_, n) => `${folder}/${n}/file`);
		const shared = sharedItems(paths, slow);
		const place = { tree: { storage: shared }, path: rootPath, storagePath: shared.root } as unknown as Place;
		let batches = 0;
		for await (const _ of listPlace(place, async () => new Map())) batches++;
		t.true(batches >= 10, `${batches} of 640 ms`);
	}
});
