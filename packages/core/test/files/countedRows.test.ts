import { setImmediate } from 'node:timers/promises';
import type { StorageEntry } from '@stowage/plugin-api';
import test from 'ava';
import { countedRows, type Found } from '../../src/files/entries.js';
import type { Place } from '../../src/trees/Tree.js';

const itemOf = (name: string, type: 'file' | 'directory') => ({ name, type, size: 0, mtime: 0 }) as StorageEntry;

function foundIn(count: (path: string) => Promise<number>, names: readonly string[]): Found[] {
	const folder = { path: '', storagePath: '', tree: { area: 'private', storage: { count } } } as unknown as Place;
	return names.map((name) => ({ folder, item: itemOf(name, name.startsWith('file') ? 'file' : 'directory') }));
}

test('files and folders have their rows in the order in which they were found', async (t) => {
	const names = Array.from({ length: 60 }, (_, n) => (n % 3 === 0 ? `file ${n}` : `folder ${n}`));
	const rows = await countedRows(foundIn(async (path) => Number(path.split(' ')[1]), names));
	t.deepEqual(
		rows.map(({ name, count }) => [name, count]),
		names.map((name, n) => [name, n % 3 === 0 ? undefined : n]),
	);
});

test('after a folder that fails no other one is counted, and those under way have ended', async (t) => {
	let begun = 0;
	let underWay = 0;
	const names = Array.from({ length: 500 }, (_, n) => `folder ${n}`);
	const count = async (path: string) => {
		begun++;
		underWay++;
		for (let round = 0; round < (path === 'folder 3' ? 1 : 20); round++) await setImmediate();
		underWay--;
		if (path === 'folder 3') throw new Error('The disk is away.');
		return 0;
	};
	await t.throwsAsync(countedRows(foundIn(count, names)), { message: 'The disk is away.' });
	t.deepEqual([begun, underWay], [16, 0]);
});
