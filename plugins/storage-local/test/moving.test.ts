import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { link, readdir } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { LocalStorage } from '../src/LocalStorage.js';
import type { NotRemoved } from '../src/root/Disk.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { systemError } from '../src/system/systemErrors.js';
import { best, eventually, isRoot, localStorage, names, p, plant, put, refused } from './steps.js';

/** A storage that calls `meanwhile` just before its next rename. */
async function overtakenStorage(t: ExecutionContext) {
	let meanwhile: (() => Promise<unknown>) | undefined;
	const calls: SystemCalls = {
		...best,
		async renameNoReplace(...renaming) {
			const before = meanwhile;
			meanwhile = undefined;
			await before?.();
			await best.renameNoReplace(...renaming);
		},
	};
	const { storage, root } = await localStorage(t, { calls });
	return {
		storage: storage as LocalStorage,
		root,
		overtake(by: () => Promise<unknown>) {
			meanwhile = by;
		},
	};
}

test('one of two concurrent moves of folders into each other is refused, and later moves still need no locks', async (t) => {
	const { storage, overtake } = await overtakenStorage(t);
	for (const name of ['a', 'b']) await storage.makeDirectory(p(name));
	overtake(() => storage.move(p('a'), p('b/a')));
	await refused(t, 'invalid', () => storage.move(p('b'), p('a/b')));
	t.deepEqual(await names(storage, ''), ['b']);
	t.deepEqual(await names(storage, 'b'), ['a']);
	t.false(storage.disk.locks.isNeeded);
	await put(storage, 'file', 'bytes');
	await storage.move(p('file'), p('b/file'));
	t.false(storage.disk.locks.isNeeded);
});

test('one of two concurrent moves of folders into each other is refused also where RENAME_NOREPLACE fails', async (t) => {
	let meanwhile = async () => {};
	const { storage } = await localStorage(t, {
		calls: {
			...best,
			async renameNoReplace(_from, fromName) {
				if (fromName === 'b') await meanwhile();
				throw Object.assign(new Error('EINVAL'), { code: 'EINVAL' });
			},
		},
	});
	for (const name of ['a', 'b']) await storage.makeDirectory(p(name));
	meanwhile = async () => void (await storage.move(p('a'), p('b/a')));
	await refused(t, 'invalid', () => storage.move(p('b'), p('a/b')));
	t.deepEqual(await names(storage, ''), ['b']);
	t.deepEqual(await names(storage, 'b/a'), []);
	t.true((storage as LocalStorage).disk.locks.isNeeded);
});

/** Whether it could, until the test has ended: only root can, and not on each disk. */
function isMadeImmutable(t: ExecutionContext, setImmutable: (flag: '+i' | '-i') => void): boolean {
	try {
		if (!isRoot) throw new Error('only root can do that');
		setImmutable('+i');
	} catch {
		t.log('no file can be made immutable here');
		t.pass();
		return false;
	}
	t.teardown(() => setImmutable('-i'));
	return true;
}

test('a move that the system forbids is refused as forbidden, and later moves still need no locks', async (t) => {
	const { storage, root } = await localStorage(t);
	await put(storage, 'file', 'bytes');
	const setImmutable = (flag: string) => execFileSync('chattr', [flag, join(root, 'file')], { stdio: 'ignore' });
	if (!isMadeImmutable(t, setImmutable)) return;
	await refused(t, 'forbidden', () => storage.move(p('file'), p('moved')));
	t.false((storage as LocalStorage).disk.locks.isNeeded);
	t.deepEqual(await names(storage, ''), ['file']);
});

/** Calls of a disk that ignores case. `beforeRename` is called with the names of each rename. */
function ignoringCase(calls: SystemCalls, beforeRename = async (_from: string, _to: string) => {}): SystemCalls {
	const spelled = (fd: number, name: string) => {
		const all = name.includes('/') ? [] : readdirSync(`/proc/self/fd/${fd}`);
		return all.find((each) => each.toLowerCase() === name.toLowerCase()) ?? name;
	};
	return {
		...calls,
		openCached: (fd, name, flags) => calls.openCached(fd, spelled(fd, name), flags),
		async renameNoReplace(from, fromName, to, toName) {
			await beforeRename(fromName, toName);
			if (existsSync(to.at(spelled(to.fd, toName)))) throw systemError('renameat2', constants.errno.EEXIST);
			await calls.renameNoReplace(from, spelled(from.fd, fromName), to, toName);
		},
	};
}

test('on a disk that ignores case a name is changed in nothing but its case', async (t) => {
	const { storage, root } = await localStorage(t, { calls: ignoringCase(best) });
	await plant(root, { 'photo.jpg': 'x', 'album/1': 'x', 'other.jpg': 'y' });
	const { id } = await storage.stat(p('photo.jpg'));
	t.like(await storage.move(p('photo.jpg'), p('Photo.JPG'), { otherNames: ['Photo (1).JPG'] }), {
		name: 'Photo.JPG',
		id,
	});
	t.like(await storage.move(p('album'), p('ALBUM')), { name: 'ALBUM' });
	t.deepEqual(await names(storage, ''), ['ALBUM', 'Photo.JPG', 'other.jpg']);
	await refused(t, 'alreadyExists', () => storage.move(p('other.jpg'), p('PHOTO.jpg')));
	await refused(t, 'alreadyExists', () => storage.move(p('Photo.JPG'), p('Photo.JPG')));
	t.deepEqual(await names(storage, ''), ['ALBUM', 'Photo.JPG', 'other.jpg']);
});

test('a file whose new name another one has by a hard link keeps its own', async (t) => {
	const { storage, root } = await localStorage(t);
	await plant(root, { 'photo.jpg': 'x' });
	await link(join(root, 'photo.jpg'), join(root, 'Photo.jpg'));
	await refused(t, 'alreadyExists', () => storage.move(p('photo.jpg'), p('Photo.jpg')));
	t.deepEqual(await names(storage, ''), ['Photo.jpg', 'photo.jpg']);
});

test('a name whose case was to be changed is as before if that fails, and visible if it is interrupted', async (t) => {
	let fail = async (_from: string, _to: string) => {};
	const { storage, root } = await localStorage(t, { calls: ignoringCase(best, (from, to) => fail(from, to)) });
	await plant(root, { 'photo.jpg': 'x' });
	fail = async (from) => {
		if (from !== 'photo.jpg') throw systemError('renameat2', constants.errno.EIO);
	};
	await refused(t, 'unavailable', () => storage.move(p('photo.jpg'), p('Photo.jpg')));
	t.regex((await names(storage, '')).join(), /^Photo \([0-9a-f]{8}\)\.jpg$/);

	fail = async () => {};
	await plant(root, { 'film.mp4': 'x' });
	fail = async (from, to) => {
		if (from.includes('(') && to === 'Film.mp4') throw systemError('renameat2', constants.errno.EIO);
	};
	await refused(t, 'unavailable', () => storage.move(p('film.mp4'), p('Film.mp4')));
	t.true((await names(storage, '')).includes('film.mp4'));
	fail = async () => {};
	t.like(await storage.move(p('film.mp4'), p('Film.mp4')), { name: 'Film.mp4' });
});

test('what is immutable in a folder is left for that reason when the folder is removed', async (t) => {
	const reports: NotRemoved[] = [];
	const { storage, root } = await localStorage(t, { onNotRemoved: (left) => reports.push(left) });
	await plant(root, { 'folder/file': 'bytes', 'folder/other': 'bytes' });
	const removed = join(root, '.stowage/trash-in-progress');
	const setImmutable = (flag: string) =>
		execFileSync('chattr', ['-R', flag, flag === '+i' ? join(root, 'folder/file') : removed], { stdio: 'ignore' });
	if (!isMadeImmutable(t, setImmutable)) return;
	await storage.remove(p('folder'));
	await eventually(t, () => reports.length > 0);
	t.like(reports, [{ count: 1, error: { code: 'EPERM' } }]);
	const [name = ''] = await readdir(removed);
	t.deepEqual(await readdir(join(removed, name)), ['file']);
});

test('a move, a copy and a new folder succeed even if their result is moved on at once', async (t) => {
	const { storage } = await localStorage(t);
	const { disk } = storage as LocalStorage;
	const sync = disk.syncs.sync.bind(disk.syncs);
	let nextTarget = '';
	disk.syncs.sync = async (folder) => {
		const target = nextTarget;
		nextTarget = '';
		await sync(folder);
		if (target !== '') await storage.move(p(target), p(`away/${target}`));
	};
	await storage.makeDirectory(p('away'));
	await put(storage, 'source', 'bytes');
	nextTarget = 'made';
	t.is((await storage.makeDirectory(p('made'))).name, 'made');
	nextTarget = 'copied';
	t.is((await storage.copy(p('source'), p('copied'))).size, 5);
	nextTarget = 'moved';
	t.is((await storage.move(p('source'), p('moved'))).size, 5);
	t.deepEqual(await names(storage, 'away'), ['copied', 'made', 'moved']);
});
