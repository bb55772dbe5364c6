import { mkdir } from 'node:fs/promises';
import test from 'ava';
import { body, isRoot, localDriver, names, p, put, readText, refused, run } from './steps.js';

const megabyte = 1024 * 1024;

async function* megabytes(count: number): AsyncGenerator<Uint8Array> {
	for (let n = 0; n < count; n++) yield Buffer.alloc(megabyte, n);
}

test('a full disk refuses what does not fit and loses nothing', async (t) => {
	if (!isRoot) {
		t.log('not run as root: no small disk can be mounted');
		t.not(process.getuid?.(), 0);
		return;
	}
	const { driver, root } = await localDriver(t);
	await mkdir(root);
	await run('mount', ['-t', 'tmpfs', '-o', 'size=8m,nr_inodes=100', 'stowage-test', root]);
	t.teardown(() => run('umount', ['-l', root]));
	const storage = await driver.open(undefined);
	await put(storage, 'kept', 'small');
	const staged = await storage.stage();
	await refused(t, 'storageFull', () => staged.append(megabytes(20), 0));
	t.true(((await storage.freeSpace()) ?? megabyte) < megabyte);
	t.deepEqual(await names(storage, ''), ['kept']);
	await storage.check();

	// The stored bytes are kept, so that the upload can be continued once there is space.
	const held = await staged.size();
	t.true(held > 6 * megabyte && held <= 8 * megabyte);
	await staged.append(body('the end'), 2 * megabyte);
	await staged.commit(p('two megabytes'));
	t.true(((await storage.freeSpace()) ?? 0) > 4 * megabyte);

	const large = await storage.stage();
	await large.append(megabytes(4), 0);
	await large.commit(p('large'));
	await refused(t, 'storageFull', () => storage.copy(p('large'), p('copy')));
	t.true(((await storage.freeSpace()) ?? 0) > megabyte);
	t.deepEqual(await names(storage, ''), ['kept', 'large', 'two megabytes']);

	let made = 0;
	const fill = async () => {
		for (;;) await storage.makeDirectory(p(`folder ${made++}`));
	};
	await refused(t, 'storageFull', fill);
	await refused(t, 'storageFull', () => storage.stage());
	t.is(await storage.freeSpace(), 0);
	t.is(await readText(storage, 'kept'), 'small');
	await storage.remove(p('large'));
	await put(storage, 'again', 'room');
	t.is(await readText(storage, 'again'), 'room');
	await storage.close();
});
