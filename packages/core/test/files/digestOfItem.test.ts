import type { Files, WalkedItem } from '@stowage/plugin-api';
import { baseName, Failure, joinPath, parentPath, parsePath, type StoragePath } from '@stowage/rules';
import test from 'ava';
import { hasAllOf } from '../../src/files/digestOfItem.js';

const viewer = { kind: 'user', id: 'ada-id', username: 'ada' } as const;
const [original, copy] = ['from', 'to'].map((path) => ({ area: 'private', path: parsePath(path) }) as const);

function itemAt(path: StoragePath, type: 'file' | 'directory', size = 0): WalkedItem {
	return { name: baseName(path), path, type, size, mtime: 0, id: path, version: '' };
}

/** A service over these files, with how often each folder was listed. */
function service(sizes: Readonly<Record<string, number>>) {
	const folders = new Map<StoragePath, Map<string, WalkedItem>>();
	const listed = new Map<string, number>();
	const add = (item: WalkedItem) => {
		const parent = parentPath(item.path);
		if (parent !== '' && !folders.has(parent)) add(itemAt(parent, 'directory'));
		const items = folders.get(parent) ?? new Map<string, WalkedItem>();
		folders.set(parent, items.set(item.name, item));
		if (item.type === 'directory') folders.set(item.path, folders.get(item.path) ?? new Map());
	};
	for (const [path, size] of Object.entries(sizes)) add(itemAt(path as StoragePath, 'file', size));
	const files: Pick<Files, 'stat' | 'listWithStats'> = {
		async *stat(_viewer, _area, items) {
			for (const { path } of items) {
				if (!folders.has(path)) throw new Failure('notFound', 'There is none.');
				yield itemAt(path, 'directory');
			}
		},
		async *listWithStats(_viewer, { path }) {
			listed.set(path, (listed.get(path) ?? 0) + 1);
			const items = [...(folders.get(path) ?? new Map<string, WalkedItem>()).values()];
			for (let at = 0; at < items.length; at += 1000) yield { items: items.slice(at, at + 1000), skipped: 0 };
		},
	};
	return { files, listed };
}

const pair = { original: original as NonNullable<typeof original>, copy: copy as NonNullable<typeof copy> };

test('a copy has all of a folder if it has each file as it was, and may have more', async (t) => {
	const both = { 'from/a': 1, 'from/deep/b': 2, 'to/a': 1, 'to/deep/b': 2 };
	t.true(await hasAllOf(service({ ...both, 'to/deep/c': 3 }).files, viewer, pair));
	t.false(await hasAllOf(service({ ...both, 'from/deep/c': 3 }).files, viewer, pair));
	t.false(await hasAllOf(service({ ...both, 'to/deep/b': 3 }).files, viewer, pair));
});

test('of a folder with very many files a part is held at a time, and each is compared', async (t) => {
	const count = 45_000;
	const sizes: Record<string, number> = { 'from/deep/b': 2, 'to/deep/b': 2 };
	for (let n = 0; n < count; n++) for (const root of ['from', 'to']) sizes[`${root}/IMG_${n}.jpg`] = n;
	const { files, listed } = service(sizes);
	t.true(await hasAllOf(files, viewer, pair));
	const passes = listed.get('to') ?? 0;
	t.true(passes >= 4 && passes <= 16, String(passes));
	t.deepEqual([listed.get('from'), listed.get('to/deep')], [passes, 1]);
	for (const n of [0, count - 1]) {
		const lacking = joinPath(parsePath('to'), `IMG_${n}.jpg`);
		const { [lacking]: size, ...others } = sizes;
		t.is(size, n);
		t.false(await hasAllOf(service(others).files, viewer, pair));
	}
});
