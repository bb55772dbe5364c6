import { createHook } from 'node:async_hooks';
import { readdirSync } from 'node:fs';
import { mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasInspection, hasListWithStats, type StorageProvider } from '@stowage/plugin-api';
import { maxListedDepth } from '@stowage/rules';
import { localStorageDriver } from '@stowage/storage-local';
import test, { type ExecutionContext } from 'ava';
import { coldCalls } from './coldCalls.js';
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

/** How many calls on files other threads were asked for by some work. */
async function countThreadCalls(work: () => Promise<unknown>): Promise<number> {
	let count = 0;
	const hook = createHook({
		init(_, type) {
			if (type === 'FSREQCALLBACK') count++;
		},
	}).enable();
	try {
		await work();
	} finally {
		hook.disable();
	}
	return count;
}

/** Folders within each other, made level by level, as the system takes no path of that length. */
async function makeLevels(storage: StorageProvider, count: number, name: string): Promise<string> {
	let path = 'top';
	await storage.makeDirectory(p(path));
	for (let n = 0; n < count; n++) {
		path = `${path}/${name}`;
		await storage.makeDirectory(p(path));
	}
	return path;
}

/** The best calls of this system, and how often a folder was opened by them without waiting. */
function countingOpens() {
	const opened = { count: 0 };
	const calls: typeof best = {
		...best,
		openCached(fd, path, flags) {
			opened.count++;
			return best.openCached(fd, path, flags);
		},
	};
	return { calls, opened };
}

const ofLinux = best.statSync === undefined ? test.skip : test.serial;

ofLinux(
	'a look below many levels takes a few calls, also where their path is longer than the system takes',
	async (t) => {
		const { calls, opened } = countingOpens();
		const { storage, root } = await localStorage(t, { calls });
		await mkdir(join(root, levels(900)), { recursive: true });
		await storage.stat(p(levels(900)));
		const long = await makeLevels(storage, 100, 'n'.repeat(240));
		const countCalls = async (look: () => Promise<unknown>) => {
			opened.count = 0;
			return (await countThreadCalls(look)) + opened.count;
		};
		const ofShort = await countCalls(() => storage.stat(p(levels(900))));
		t.true(ofShort <= 4, `${ofShort}`);
		const ofLong = await countCalls(() => storage.stat(p(long)));
		t.true(ofLong <= 40, `${ofLong}`);
		const ofList = await countCalls(() => names(storage, long));
		t.true(ofList <= 42, `${ofList}`);
		for (const path of [levels(900), long]) {
			for (const missing of ['missing', 'missing/file', 'missing/folder/file']) {
				await refused(t, 'notFound', () => storage.stat(p(`${path}/${missing}`)));
				const count = await countCalls(() => refused(t, 'notFound', () => storage.stat(p(`${path}/${missing}`))));
				t.true(count <= 50, `${count} for ${missing}`);
				// A file system that doesn't remember what is missing is asked for it, and for nothing above it.
				const asked = await countThreadCalls(() => refused(t, 'notFound', () => storage.open(p(`${path}/${missing}`))));
				t.true(asked <= 1, `${asked} for ${missing}`);
			}
		}
		const level = join(root, levels(450));
		await rename(level, `${level}-moved`);
		await refused(t, 'notFound', () => storage.stat(p(levels(900))));
		const asked = await countThreadCalls(() => refused(t, 'notFound', () => storage.stat(p(levels(900)))));
		t.true(asked <= 1, `${asked} below a folder that was moved away`);
		await rename(`${level}-moved`, level);
		t.is((await storage.stat(p(levels(900)))).type, 'directory');
	},
);

ofLinux('only the levels that the system does not have in memory are waited for', async (t) => {
	const calls: typeof best = {
		...best,
		openCached: (fd, path, flags) => (/cold|forgotten/.test(path) ? undefined : best.openCached(fd, path, flags)),
	};
	const { storage, root } = await localStorage(t, { calls });
	const path = `${levels(300)}/cold/${levels(300)}/forgotten/${levels(300)}`;
	await mkdir(join(root, path), { recursive: true });
	await storage.stat(p(path));
	const asked = await countThreadCalls(() => storage.stat(p(path)));
	t.true(asked > 0 && asked <= 2, `${asked}`);
});

ofLinux('no link is followed on the way to a deep folder, whatever its path is replaced by', async (t) => {
	const { storage, root } = await localStorage(t);
	const name = 'n'.repeat(240);
	const path = await makeLevels(storage, 40, name);
	await storage.makeDirectory(p(`${path}/inner`));
	await rename(join(root, 'top', name), join(root, 'elsewhere'));
	await symlink('../elsewhere', join(root, 'top', name));
	await refused(t, 'notFound', () => storage.stat(p(`${path}/inner`)));
	await refused(t, 'notFound', () => names(storage, path));
	await rm(join(root, 'top', name));
	await rename(join(root, 'elsewhere'), join(root, 'top', name));
	t.deepEqual(await names(storage, path), ['inner']);
});

ofLinux('looks at many names of one deep folder go through one that is opened once for all of them', async (t) => {
	const { calls, opened } = countingOpens();
	const { storage, root } = await localStorage(t, { calls });
	const path = await makeLevels(storage, 100, 'n'.repeat(240));
	await storage.makeDirectory(p(`${path}/inner`));
	const looks = Array.from({ length: 100 }, () => p(`${path}/inner`));
	await storage.stat(p(`${path}/inner`));
	opened.count = 0;
	for (const look of looks) await storage.stat(look);
	t.true(opened.count < 200, `${opened.count} one after another`);
	opened.count = 0;
	await Promise.all(looks.map((look) => storage.stat(look)));
	t.true(opened.count < 200, `${opened.count} at once`);
	const cold = await localStorageDriver(root, { calls: coldCalls(best) }).open(undefined);
	t.teardown(() => cold.close());
	const asked = await countThreadCalls(() => Promise.all(looks.map((look) => cold.stat(look))));
	t.true(asked > 0 && asked < 400, `${asked} on a disk that is waited for`);
});
