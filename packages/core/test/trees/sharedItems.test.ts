import type { StorageItem } from '@stowage/plugin-api';
import { type Guest, parsePath } from '@stowage/rules';
import test from 'ava';
import { SharedItems } from '../../src/trees/SharedItems.js';
import type { HomeStorage } from '../../src/trees/storage/HomeStorage.js';

test('others have their turns while the many items of a share are looked up, which anybody may ask for', async (t) => {
	const items = Array.from({ length: 100 }, (_, n) => {
		const path = parsePath(`${n}.txt`);
		return { name: path, type: 'file' as const, path, itemId: `users/ada/${n}.txt` };
	});
	const owner = { kind: 'user', id: 'a', username: 'ada' } as const;
	const guest: Guest = { kind: 'guest', share: 'share', owner, root: { kind: 'items', items } };
	// As the calls of a local disk, which take their time on this thread.
	const stat = async (path: string): Promise<StorageItem> => {
		for (const begun = performance.now(); performance.now() - begun < 1; );
		return { ...{ name: path, type: 'file', size: 0, mtime: 0, id: path, version: '' } };
	};
	const shared = new SharedItems({ stat } as unknown as HomeStorage, guest);
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
