import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isFailure } from '@stowage/rules';
import test from 'ava';
import { SharedFolders } from '../src/root/SharedFolders.js';
import { open } from '../src/system/descriptors.js';
import { Folder } from '../src/system/Folder.js';
import { folderFlags } from '../src/system/openFolder.js';
import { localStorage, p, plant, temporaryFolder } from './steps.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Says whether it was closed; its number may be another file's by then. */
class WatchedFolder extends Folder {
	isClosed = false;

	override [Symbol.dispose](): void {
		super[Symbol.dispose]();
		this.isClosed = true;
	}
}

test('who asks for a folder in one burst shares it, and the last one closes it', async (t) => {
	const path = await temporaryFolder(t);
	const shared = new SharedFolders();
	const opened: WatchedFolder[] = [];
	const take = () =>
		shared.take('trip', async () => {
			const folder = new WatchedFolder(await open(path, folderFlags('pass')));
			opened.push(folder);
			return folder;
		});
	const [first, second] = await Promise.all([take(), take()]);
	t.is(opened.length, 1);
	t.is(first.fd, second.fd);
	await nextTurn();
	first[Symbol.dispose]();
	await nextTurn();
	t.false(opened[0]?.isClosed, 'somebody still uses it');

	const later = await take();
	t.is(opened.length, 2, 'the burst is over');
	second[Symbol.dispose]();
	await nextTurn();
	t.true(opened[0]?.isClosed);
	t.false(opened[1]?.isClosed);
	later[Symbol.dispose]();
	await nextTurn();
	t.true(opened[1]?.isClosed);
});

test('a folder that could not be opened fails for all who share it, and is tried anew afterwards', async (t) => {
	const { storage, root } = await localStorage(t);
	await plant(root, { 'elsewhere/one.jpg': 'one' });
	const one = p('trip/one.jpg');
	const looks = await Promise.allSettled([storage.stat(one), storage.stat(one), storage.open(one)]);
	t.true(looks.every((look) => look.status === 'rejected' && isFailure(look.reason, 'notFound')));
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
