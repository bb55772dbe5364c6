import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
	chmod,
	mkdir,
	mkdtemp,
	readdir,
	readFile,
	rm,
	stat,
	statfs,
	symlink,
	utimes,
	writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { DiskThumbnailCache, type DiskThumbnailCacheOptions } from '../../src/thumbnails/DiskThumbnailCache.js';

const run = promisify(execFile);

async function cacheIn(t: ExecutionContext, options: Partial<DiskThumbnailCacheOptions> = {}) {
	const parent = await mkdtemp(path.join(os.tmpdir(), 'stowage-cache-'));
	t.teardown(() => rm(parent, { recursive: true, force: true }));
	const folder = path.join(parent, 'thumbnails');
	const warnings: string[] = [];
	const clock = { now: 1_700_000_000_000 };
	const open = (more: Partial<DiskThumbnailCacheOptions> = {}) =>
		new DiskThumbnailCache({
			folder,
			maxBytes: 1024 * 1024,
			reserve: 0,
			log: { warn: (_details: object, message: string) => void warnings.push(message) } as never,
			now: () => clock.now,
			usePrecisionMs: 0,
			...options,
			...more,
		});
	return { folder, warnings, clock, open, cache: open() };
}

const key = (name: string | number) => createHash('sha256').update(String(name)).digest('hex');

function picture(length: number): Buffer {
	const bytes = Buffer.alloc(length, 1);
	bytes.write('RIFF', 0, 'latin1');
	bytes.writeUInt32LE(length - 8, 4);
	bytes.write('WEBP', 8, 'latin1');
	return bytes;
}

async function filesIn(folder: string): Promise<string[]> {
	const found = await readdir(folder, { recursive: true, withFileTypes: true });
	return found.filter((each) => each.isFile()).map((each) => path.join(each.parentPath, each.name));
}

async function temporaryIn(folder: string): Promise<string[]> {
	return (await readdir(folder)).filter((name) => name.endsWith('.tmp'));
}

test('a cached thumbnail, or that there is none, is found again, also by another process', async (t) => {
	const { cache, open } = await cacheIn(t);
	await cache.put(key(1), picture(5000));
	await cache.put(key(2), 'none');
	for (const each of [cache, open()]) {
		t.deepEqual(await each.get(key(1)), picture(5000));
		t.is(await each.get(key(2)), 'none');
		t.is(await each.get(key(3)), undefined);
	}
});

test('the least recently used thumbnails are evicted first, and the cache never exceeds its limit', async (t) => {
	const { cache, clock, folder } = await cacheIn(t);
	for (let n = 0; n < 40; n++) {
		clock.now += 1000;
		await cache.put(key(n), picture(60_000));
		await cache.settled();
		// The first one is used all the time.
		t.not(await cache.get(key(0)), undefined, `after ${n}`);
		const sizes = await Promise.all((await filesIn(folder)).map(async (file) => (await stat(file)).size));
		t.true(sizes.reduce((sum, size) => sum + size, 0) <= 1024 * 1024);
	}
	const left = await Promise.all(Array.from({ length: 40 }, (_, n) => cache.get(key(n))));
	const numbers = left.flatMap((found, n) => (found === undefined ? [] : [n]));
	t.is(numbers[0], 0);
	t.deepEqual(
		numbers.slice(1),
		Array.from({ length: numbers.length - 1 }, (_, n) => 40 - numbers.length + 1 + n),
	);
	t.true(numbers.length >= 13);
});

test('the thumbnails of an earlier process count for the limit, and its abandoned temporary files are removed', async (t) => {
	const { cache, clock, open, folder } = await cacheIn(t);
	for (let n = 0; n < 12; n++) await cache.put(key(n), picture(60_000));
	await cache.settled();
	const old = path.join(folder, 'abandoned.tmp');
	await writeFile(old, 'half');
	await utimes(old, (clock.now - 7_200_000) / 1000, (clock.now - 7_200_000) / 1000);
	const young = path.join(folder, 'under-way.tmp');
	await writeFile(young, 'half');
	await utimes(young, clock.now / 1000, clock.now / 1000);
	clock.now += 1000;
	const next = open();
	await next.put(key('new'), picture(60_000));
	await next.settled();
	t.not(await next.get(key('new')), undefined);
	t.true((await readdir(folder)).includes('under-way.tmp'));
	t.false((await readdir(folder)).includes('abandoned.tmp'));
});

async function bytesIn(folder: string): Promise<number> {
	const sizes = await Promise.all((await filesIn(folder)).map(async (file) => (await stat(file)).size));
	return sizes.reduce((sum, size) => sum + Math.ceil(size / 4096) * 4096, 0);
}

test('what others have put into the folder is left alone, and keeps nothing from being evicted', async (t) => {
	const { cache, clock, folder, warnings } = await cacheIn(t);
	await cache.put(key(0), picture(60_000));
	const inner = path.join(folder, key(0).slice(0, 2));
	await writeFile(path.join(folder, '.DS_Store'), 'foreign');
	await writeFile(path.join(folder, 'ff.txt'), 'foreign');
	for (const foreign of ['lost+found', '@eaDir', 'a', 'folder.tmp']) await mkdir(path.join(folder, foreign));
	await writeFile(path.join(folder, '@eaDir/kept'), 'foreign');
	await mkdir(path.join(inner, '@eaDir'));
	await utimes(path.join(inner, '@eaDir'), 1, 1);
	await symlink('/nonexistent', path.join(inner, 'link'));
	await utimes(path.join(folder, 'folder.tmp'), 1, 1);
	for (let n = 1; n < 60; n++) {
		clock.now += 1000;
		await cache.put(key(n), picture(60_000));
		await cache.settled();
		t.true((await bytesIn(folder)) <= 1024 * 1024 + 5 * 4096, `after ${n}`);
	}
	t.is(await cache.get(key(0)), undefined);
	t.not(await cache.get(key(59)), undefined);
	const kept = await readdir(folder);
	for (const each of ['.DS_Store', 'ff.txt', 'lost+found', '@eaDir', 'a', 'folder.tmp'])
		t.true(kept.includes(each), each);
	t.is(await readFile(path.join(folder, '@eaDir/kept'), 'utf8'), 'foreign');
	t.deepEqual((await readdir(inner)).sort().slice(0, 2), ['@eaDir', 'link']);
	t.deepEqual(warnings, []);
});

/** Whether it could, until the test has ended: nothing in the folders can be removed. */
async function areKept(t: ExecutionContext, folders: readonly string[], kept = true): Promise<boolean> {
	try {
		for (const folder of new Set(folders)) {
			if (process.getuid?.() === 0) await run('chattr', [kept ? '+i' : '-i', folder]);
			else await chmod(folder, kept ? 0o500 : 0o700);
		}
	} catch (error) {
		t.log(`No folder can be made immutable here: ${(error as Error).message}`);
		return false;
	}
	if (kept) t.teardown(() => areKept(t, folders, false));
	return true;
}

test('what can’t be removed keeps no other thumbnail from being evicted', async (t) => {
	const { cache, clock, folder, warnings } = await cacheIn(t);
	await cache.put(key(0), picture(60_000));
	await cache.settled();
	if (!(await areKept(t, [path.join(folder, key(0).slice(0, 2))]))) return t.pass();
	for (let n = 1; n < 40; n++) {
		clock.now += 1000;
		await cache.put(key(n), picture(60_000));
		await cache.settled();
		t.true((await bytesIn(folder)) <= 1024 * 1024, `after ${n}`);
	}
	t.deepEqual(
		[0, 1, 39].map((n) => existsSync(path.join(folder, key(n).slice(0, 2), key(n).slice(2)))),
		[true, false, true],
	);
	t.true(warnings.includes('a file of the cache of thumbnails could not be read or removed'));
});

test('while too much of the cache can’t be removed nothing is put into it, and a minute later it is tried again', async (t) => {
	const { cache, clock, folder, open } = await cacheIn(t);
	for (let n = 0; n < 13; n++) {
		clock.now += 1000;
		await cache.put(key(n), picture(60_000));
		await cache.settled();
	}
	const folders = (await filesIn(folder)).map((file) => path.dirname(file));
	if (!(await areKept(t, folders))) return t.pass();
	// As after a new start with a smaller cache.
	const small = open({ maxBytes: 700_000 });
	const names = Array.from({ length: 100 }, (_, n) => `more ${n}`);
	const fresh = names.filter((name) => !folders.includes(path.join(folder, key(name).slice(0, 2))));
	const put = async (name: string) => {
		await small.put(key(name), picture(60_000));
		await small.settled();
		return (await small.get(key(name))) !== undefined;
	};
	await put(fresh[0] as string);
	for (const name of fresh.slice(1, 10)) t.false(await put(name), 'the cache is over its bound');
	await areKept(t, folders, false);
	t.false(await put(fresh[10] as string), 'it is not swept for each picture');
	clock.now += 60_000;
	t.false(await put(fresh[11] as string), 'now it is swept');
	t.true(await put(fresh[12] as string));
	t.true((await bytesIn(folder)) <= 700_000);
});

test('several processes that share a folder keep its limit together', async (t) => {
	const maxBytes = 4 * 1024 * 1024;
	const { clock, folder, open } = await cacheIn(t, { maxBytes });
	const caches = Array.from({ length: 16 }, () => open({ share: (limit) => Math.ceil(limit / 16) }));
	for (let n = 0; n < 300; n++) {
		clock.now += 1000;
		const cache = caches[n % 16] as DiskThumbnailCache;
		await cache.put(key(n), picture(20_000));
		await cache.settled();
		if (n % 20 === 0) t.true((await bytesIn(folder)) <= maxBytes, `after ${n}`);
	}
	t.true((await bytesIn(folder)) > maxBytes * 0.75);
});

test('processes that sweep at the same time remove no more than one of them would', async (t) => {
	const maxBytes = 4 * 1024 * 1024;
	const { cache, clock, folder, open } = await cacheIn(t, { maxBytes: 2 * maxBytes });
	for (let n = 0; n < 200; n++) {
		clock.now += 1000;
		await cache.put(key(n), picture(20_000));
	}
	await cache.settled();
	const caches = Array.from({ length: 8 }, () => open({ maxBytes, share: (limit) => Math.ceil(limit / 8) }));
	for (const [n, each] of caches.entries()) await each.put(key(`new ${n}`), picture(20_000));
	await Promise.all(caches.map((each) => each.settled()));
	t.true((await bytesIn(folder)) >= maxBytes * 0.75);
	t.true((await bytesIn(folder)) <= maxBytes * 0.9);
	await Promise.all(caches.map((each, n) => each.put(key(`newer ${n}`), picture(20_000))));
	for (const n of caches.keys())
		t.not(await cache.get(key(`newer ${n}`)), undefined, 'and none takes the cache for full');
});

test('a truncated or zeroed thumbnail, as after a power cut, is not used', async (t) => {
	const { cache, folder } = await cacheIn(t);
	await cache.put(key(1), picture(5000));
	const [file = ''] = await filesIn(folder);
	for (const rest of [picture(5000).subarray(0, 4000), Buffer.alloc(0), Buffer.alloc(5000)]) {
		await writeFile(file, rest);
		t.is(await cache.get(key(1)), undefined);
	}
});

test('the entry that a file has no thumbnail expires after a day', async (t) => {
	const { cache, clock } = await cacheIn(t);
	await cache.put(key(1), 'none');
	clock.now += 23 * 3_600_000;
	t.is(await cache.get(key(1)), 'none');
	clock.now += 2 * 3_600_000;
	t.is(await cache.get(key(1)), undefined);
});

test('the entry that a thumbnail took too long expires after an hour', async (t) => {
	const { cache, clock } = await cacheIn(t);
	await cache.put(key(1), 'late');
	clock.now += 50 * 60_000;
	t.is(await cache.get(key(1)), 'late');
	clock.now += 20 * 60_000;
	t.is(await cache.get(key(1)), undefined);
});

test('nothing is cached below the reserve of the disk, and one warning is logged', async (t) => {
	const { cache, folder, warnings } = await cacheIn(t, { reserve: Number.MAX_SAFE_INTEGER });
	for (let n = 0; n < 3; n++) await cache.put(key(n), picture(5000));
	t.deepEqual(await filesIn(folder), []);
	t.deepEqual(warnings, ['thumbnails can not be cached']);
});

test('on a full disk no partial thumbnail is stored, old ones are evicted to free the reserve, and caching resumes', async (t) => {
	const reserve = 1024 * 1024;
	const { cache, open, clock, folder, warnings } = await cacheIn(t, { reserve, maxBytes: 3 * 1024 * 1024 });
	await mkdir(folder);
	try {
		await run('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'stowage-test', folder]);
	} catch (error) {
		t.log(`No disk can be mounted here: ${(error as Error).message}`);
		return t.pass();
	}
	t.teardown(() => run('umount', ['-l', folder]));
	const free = async () => {
		const { bavail, bsize } = await statfs(folder);
		return bavail * bsize;
	};
	for (let n = 0; n < 16; n++) {
		clock.now += 1000;
		await cache.put(key(n), picture(120_000));
		await cache.settled();
	}
	t.deepEqual(warnings, []);

	// Another program fills the disk.
	const filler = path.join(folder, 'filler.tmp');
	await t.throwsAsync(writeFile(filler, Buffer.alloc(4 * 1024 * 1024)), { code: 'ENOSPC' });
	t.is(await free(), 0);
	const unreserved = open({ reserve: -1024 * 1024 });
	await unreserved.put(key('rash'), picture(120_000));
	t.is(await unreserved.get(key('rash')), undefined);
	t.deepEqual(await unreserved.get(key(15)), picture(120_000));
	t.deepEqual(await temporaryIn(folder), ['filler.tmp']);
	t.is(warnings.length, 1);

	clock.now += 1000;
	await cache.put(key('late'), picture(120_000));
	await cache.settled();
	t.is(await cache.get(key('late')), undefined);
	t.is(await cache.get(key(0)), undefined, 'the oldest thumbnail is evicted');
	t.deepEqual(await cache.get(key(15)), picture(120_000));
	t.true((await free()) >= reserve, `${await free()} bytes are free`);
	t.is(warnings.length, 2);

	clock.now += 1000;
	await cache.put(key('later'), picture(120_000));
	t.deepEqual(await cache.get(key('later')), picture(120_000));
});

test('a cache folder that can’t be used is reported by one warning, and no call fails', async (t) => {
	const { cache, folder, warnings } = await cacheIn(t);
	await mkdir(path.dirname(folder), { recursive: true });
	await writeFile(folder, 'in the way');
	await cache.put(key(1), picture(5000));
	t.is(await cache.get(key(1)), undefined);
	t.is(warnings.length, 1);
	t.is(await readFile(folder, 'utf8'), 'in the way');
});

test('cached thumbnails are readable by the server only', async (t) => {
	const { cache, folder } = await cacheIn(t);
	await cache.put(key(1), picture(5000));
	const [file = ''] = await filesIn(folder);
	t.is((await stat(file)).mode & 0o777, 0o600);
	t.is((await stat(path.dirname(file))).mode & 0o777, 0o700);
});
