import { readdir, readlink, rm } from 'node:fs/promises';
import { searchIndexFile } from '@stowage/database';
import test from 'ava';
import { temporaryFolder } from './temporaryFolder.js';

/** The descriptors of this process by which a file is open. */
async function descriptorsOf(file: string): Promise<string[]> {
	const open: string[] = [];
	for (const descriptor of await readdir('/proc/self/fd')) {
		const target = await readlink(`/proc/self/fd/${descriptor}`).catch(() => '');
		if (target === file) open.push(descriptor);
	}
	return open;
}

test('who waits for the index of names asks over one connection, and gets it when it is released or its lock is removed', async (t) => {
	const folder = await temporaryFolder();
	t.teardown(folder.remove);
	const lockFile = `${folder.path}/search/lock.db`;
	const [one, other] = [await searchIndexFile(`${folder.path}/search`), await searchIndexFile(`${folder.path}/search`)];
	const held = await one.lock();
	t.truthy(held);
	t.is(await other.lock(), undefined);
	const waiting = await descriptorsOf(lockFile);
	for (let n = 0; n < 20; n++) t.is(await other.lock(), undefined);
	t.deepEqual(await descriptorsOf(lockFile), waiting, 'the same connection');
	held?.release();
	const next = await other.lock();
	t.truthy(next);
	t.is(await one.lock(), undefined);
	await rm(lockFile);
	const ofNewFile = await one.lock();
	t.truthy(ofNewFile, 'another file');
	next?.release();
	ofNewFile?.release();
});
