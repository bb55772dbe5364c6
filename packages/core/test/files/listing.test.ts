import type { StorageEntry } from '@stowage/plugin-api';
import { parsePath } from '@stowage/rules';
import test from 'ava';
import { listPlace } from '../../src/files/list.js';
import { inOrder } from '../../src/responses/inOrder.js';
import type { Place } from '../../src/trees/Tree.js';

const deep = parsePath(Array.from({ length: 900 }, () => 'x'.repeat(60)).join('/'));

/** A folder of many items in one batch of the storage, a third of which are folders. */
function folderOf(path: string): Place {
	const itemOf = (n: number): StorageEntry => ({
		name: `${n}`,
		type: n % 3 === 0 ? 'directory' : 'file',
		size: 1,
		mtime: 1,
	});
	const storage = {
		async *list() {
			yield Array.from({ length: 600 }, (_, n) => itemOf(n));
		},
		count: async () => 2,
	};
	return { path, storagePath: path, tree: { area: 'private', storage } } as unknown as Place;
}

const versionsOf = async () => new Map([['1', 5]]);

const listings = {
	'as they are read': (path: string) => listPlace(folderOf(path), versionsOf),
	'in order': (path: string) => inOrder(listPlace(folderOf(path), versionsOf), 'name', 'user ada', () => {}),
};

for (const [how, list] of Object.entries(listings)) {
	test(`rows ${how} come a megabyte of text at a time, however long the path of their folder is`, async (t) => {
		const names = new Set<string>();
		let longest = 0;
		for await (const batch of list(deep)) {
			longest = Math.max(longest, JSON.stringify(batch).length);
			for (const { name, path, type, count, versions } of batch) {
				names.add(name);
				t.is(path, `${deep}/${name}`);
				t.is(count, type === 'directory' ? 2 : undefined);
				t.is(versions, name === '1' ? 5 : undefined);
			}
		}
		t.is(names.size, 600);
		t.true(longest < 1_000_000, `${longest}`);
	});
}

test('files in a folder with a short path are one batch', async (t) => {
	const lengths: number[] = [];
	for await (const batch of listPlace(folderOf('photos'), versionsOf)) lengths.push(batch.length);
	t.deepEqual(lengths, [400, 64, 64, 64, 8]);
});
