import { readdirSync } from 'node:fs';
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasInspection, hasListWithStats } from '@stowage/plugin-api';
import { maxListedDepth } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { best, eventually, localStorage, names, p, refused } from './steps.js';

const levels = (count: number) => Array(count).fill('d').join('/');

/** A root with one folder in another, a file in the innermost one: deeper than any path can be. */
async function deepRoot(t: ExecutionContext) {
	const opened = { most: 0 };
	const calls: typeof best = {
		...best,
		async *readNames(folder) {
			opened.most = Math.max(opened.most, readdirSync('/proc/self/fd').length);
			yield* best.readNames(folder);
		},
	};
	const { storage, root } = await localStorage(t, { calls });
	const half = levels(900);
	await mkdir(join(root, 'top', half), { recursive: true });
	await mkdir(join(root, 'inner', half), { recursive: true });
	await writeFile(join(root, 'inner', half, 'file'), 'x');
	// As by moves.
	await rename(join(root, 'inner'), join(root, 'top', half, 'd'));
	return { storage, root, opened };
}

test.serial('what lies too deep is not listed, so that all that walks through folders ends', async (t) => {
	const { storage } = await deepRoot(t);
	const deepest = p(`top/${levels(maxListedDepth - 1)}`);
	t.deepEqual(await names(storage, `top/${levels(maxListedDepth - 2)}`), ['d']);
	t.deepEqual(await names(storage, deepest), []);
	t.is(await storage.count(deepest), 0);
	if (!hasListWithStats(storage)) return t.fail();
	for await (const { items, skipped } of storage.listWithStats(deepest)) t.deepEqual([items, skipped], [[], 1]);
});

test.serial('a file whose path is too long is not listed', async (t) => {
	const { storage } = await localStorage(t);
	const long = 'n'.repeat(250);
	let path = '';
	// Level by level, as the system takes no path of that length.
	for (let n = 0; n < 244; n++) {
		path = path === '' ? long : `${path}/${long}`;
		await storage.makeDirectory(p(path));
	}
	await storage.makeDirectory(p(`${path}/${'m'.repeat(200)}`));
	await storage.makeDirectory(p(`${path}/short`));
	t.deepEqual(await names(storage, path), ['short']);
});

test.serial('a folder however deep is removed with few descriptors', async (t) => {
	const { storage, root, opened } = await deepRoot(t);
	const before = readdirSync('/proc/self/fd').length;
	await storage.remove(p('top'));
	await eventually(t, async () => (await readdir(join(root, '.stowage/trash-in-progress'))).length === 0);
	t.true(opened.most - before < 200, `${opened.most - before} descriptors`);
});

test.serial(
	'a folder whose path is longer than the system tells is removed, unless something is mounted in it',
	async (t) => {
		const mounted: string[] = [];
		const { storage, root } = await localStorage(t, {
			calls: { ...best, mountPoints: async () => ['/proc', ...mounted] },
		});
		let path = '';
		for (let n = 0; n < 20; n++) {
			path = `${path}${path && '/'}${String(n).padEnd(240, 'n')}`;
			await storage.makeDirectory(p(path));
		}
		await storage.makeDirectory(p(`${path}/inner`));
		mounted.push(join(root, path, 'inner'));
		await refused(t, 'conflict', () => storage.remove(p(path)));
		mounted.pop();
		await storage.remove(p(path));
		await refused(t, 'notFound', () => storage.stat(p(path)));
	},
);

test.serial('a folder that would be too deep is not copied, and leaves nothing', async (t) => {
	const { storage, root } = await deepRoot(t);
	await refused(t, 'invalid', () => storage.copy(p('top'), p('copy')));
	t.deepEqual((await readdir(root)).sort(), ['.stowage', 'top']);
	t.deepEqual(await readdir(join(root, '.stowage/staging')), []);
});

test.serial('folders that lie too deep are found, as what can not be used', async (t) => {
	const { storage } = await deepRoot(t);
	if (!hasInspection(storage)) return t.fail();
	const found: string[] = [];
	for await (const { unusable } of storage.findUnusable(p('')))
		found.push(...unusable.map(({ reason }) => reason.kind));
	t.deepEqual(found, ['depth']);
});
