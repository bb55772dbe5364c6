import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { OpenFolderCache } from '../src/root/Disk.js';
import { open } from '../src/system/descriptors.js';
import { Folder, folderFlags } from '../src/system/openFolder.js';
import { localStorage, p, plant, temporaryFolder } from './steps.js';

const nextRound = () => new Promise((resolve) => setImmediate(resolve));

/** Records that it was closed, since its descriptor may be another file's by then. */
class WatchedFolder extends Folder {
	isClosed = false;

	override [Symbol.dispose](): void {
		super[Symbol.dispose]();
		this.isClosed = true;
	}
}

test('concurrent requests for a folder share one descriptor, which the last of them closes', async (t) => {
	const path = await temporaryFolder(t);
	const shared = new OpenFolderCache();
	const opened: WatchedFolder[] = [];
	const take = () =>
		shared.acquire('trip', async () => {
			const folder = new WatchedFolder(await open(path, folderFlags('path')));
			opened.push(folder);
			return folder;
		});
	const [first, second] = await Promise.all([take(), take()]);
	t.is(opened.length, 1);
	t.is(first.fd, second.fd);
	await nextRound();
	first[Symbol.dispose]();
	await nextRound();
	t.false(opened[0]?.isClosed, 'another request still uses it');

	const later = await take();
	t.is(opened.length, 2, 'the earlier requests have ended');
	second[Symbol.dispose]();
	await nextRound();
	t.true(opened[0]?.isClosed);
	t.false(opened[1]?.isClosed);
	later[Symbol.dispose]();
	await nextRound();
	t.true(opened[1]?.isClosed);
});

test('a failed opening of a folder fails for all that share it, and is repeated afterwards', async (t) => {
	const { storage, root } = await localStorage(t);
	await plant(root, { 'elsewhere/one.jpg': 'one' });
	const one = p('trip/one.jpg');
	const results = await Promise.allSettled([storage.stat(one), storage.stat(one), storage.open(one)]);
	t.true(results.every((result) => result.status === 'rejected' && isFailure(result.reason, 'notFound')));
	await rename(join(root, 'elsewhere'), join(root, 'trip'));
	t.is((await storage.stat(one)).size, 3);
});

test('a folder that was renamed after a call is not found by the next one', async (t) => {
	const { storage, root } = await localStorage(t);
	await plant(root, { 'trip/one.jpg': 'one' });
	const one = p('trip/one.jpg');
	await Promise.all([storage.stat(one), storage.stat(one)]);
	await storage.move(p('trip'), p('journey'));
	await t.throwsAsync(storage.stat(one), { message: /^No such file or folder/ });
	await rename(join(root, 'journey'), join(root, 'elsewhere'));
	await t.throwsAsync(storage.stat(p('journey/one.jpg')), { message: /^No such file or folder/ });
});
