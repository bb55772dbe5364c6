import { hasFolderTimes } from '@stowage/plugin-api';
import { names, outcomes, p, put, putFolders, type Rule, readText, refused } from './steps.js';

/** Making folders, moving and removing. */
export function changingRules(rule: Rule): void {
	rule('a folder is created in an existing folder', async (t, storage) => {
		const item = await storage.makeDirectory(p('docs'));
		t.like(item, { name: 'docs', type: 'directory', size: 0 });
		t.deepEqual(await storage.stat(p('docs')), item);
		await storage.makeDirectory(p('docs/2024'));
		t.deepEqual(await names(storage, 'docs'), ['2024']);
	});

	rule('a folder is not created in place of an existing item', async (t, storage) => {
		await putFolders(storage, 'folder', 'folder/kept');
		await put(storage, 'file', 'mine');
		for (const path of ['folder', 'file', '']) await refused(t, 'alreadyExists', () => storage.makeDirectory(p(path)));
		t.deepEqual(await names(storage, 'folder'), ['kept']);
		t.is(await readText(storage, 'file'), 'mine');
	});

	rule('only one of many concurrent requests to create a folder succeeds', async (t, storage) => {
		const results = await outcomes(Array.from({ length: 8 }, () => storage.makeDirectory(p('wanted'))));
		t.is(results.filter((result) => result === 'done').length, 1);
		t.is(results.filter((result) => result === 'alreadyExists').length, 7);
	});

	rule('an empty folder is removed, a folder with contents is not', async (t, storage) => {
		await putFolders(storage, 'full', 'full/empty');
		await put(storage, 'file', 'mine');
		await refused(t, 'conflict', () => storage.removeEmptyFolder(p('full')));
		await storage.removeEmptyFolder(p('full/empty'));
		t.deepEqual(await names(storage, ''), ['file', 'full']);
		await storage.removeEmptyFolder(p('full'));
		await refused(t, 'notFound', () => storage.removeEmptyFolder(p('full')));
		await refused(t, 'notFound', () => storage.removeEmptyFolder(p('file')));
		await refused(t, 'invalid', () => storage.removeEmptyFolder(p('')));
		t.is(await readText(storage, 'file'), 'mine');
	});

	rule('the time of a folder is set, if the storage supports it', async (t, storage) => {
		if (!hasFolderTimes(storage)) {
			t.pass();
			return;
		}
		await putFolders(storage, 'folder');
		await put(storage, 'folder/file');
		await storage.setFolderTime(p('folder'), 1_234_567_890_123);
		t.is((await storage.stat(p('folder'))).mtime, 1_234_567_890_123);
		await refused(t, 'notFound', () => storage.setFolderTime(p('folder/file'), 0));
		await refused(t, 'notFound', () => storage.setFolderTime(p('nothing'), 0));
	});

	rule('a renamed or moved file keeps its time', async (t, storage) => {
		await putFolders(storage, 'folder');
		await put(storage, 'a', 'content', { mtime: 1_500_000_000_000 });
		t.like(await storage.move(p('a'), p('b')), { name: 'b', type: 'file', size: 7, mtime: 1_500_000_000_000 });
		const item = await storage.move(p('b'), p('folder/c'));
		t.deepEqual(await storage.stat(p('folder/c')), item);
		t.deepEqual(await names(storage, ''), ['folder']);
		t.is(await readText(storage, 'folder/c'), 'content');
	});

	rule('a folder is moved with its contents', async (t, storage) => {
		await putFolders(storage, 'from', 'from/sub', 'to');
		await put(storage, 'from/sub/a', 'deep');
		await storage.move(p('from'), p('to/moved'));
		t.deepEqual(await names(storage, ''), ['to']);
		t.is(await readText(storage, 'to/moved/sub/a'), 'deep');
	});

	rule('a move never replaces anything, not even an empty folder', async (t, storage) => {
		await putFolders(storage, 'folder', 'empty');
		await put(storage, 'file', 'mine');
		await put(storage, 'other', 'another');
		for (const [from, to] of [
			['other', 'file'],
			['other', 'empty'],
			['folder', 'empty'],
			['folder', 'file'],
			['file', 'file'],
			['folder', 'folder'],
			['file', ''],
		] as const) {
			await refused(t, 'alreadyExists', () => storage.move(p(from), p(to)));
		}
		t.deepEqual(await names(storage, ''), ['empty', 'file', 'folder', 'other']);
		t.is(await readText(storage, 'file'), 'mine');
	});

	rule('a folder cannot be moved into itself or below', async (t, storage) => {
		await putFolders(storage, 'a', 'a/b', 'ab');
		await refused(t, 'invalid', () => storage.move(p('a'), p('a/c')));
		await refused(t, 'invalid', () => storage.move(p('a'), p('a/b/c')));
		await refused(t, 'invalid', () => storage.move(p(''), p('a/c')));
		await storage.move(p('a'), p('ab/a'));
		t.deepEqual(await names(storage, 'ab/a'), ['b']);
	});

	rule('only one of many concurrent moves to one name succeeds, and nothing is lost', async (t, storage) => {
		await putFolders(storage, 'target');
		for (let n = 0; n < 8; n++) await put(storage, `file ${n}`, `content ${n}`);
		const moves = Array.from({ length: 8 }, (_, n) => storage.move(p(`file ${n}`), p('target/wanted')));
		const results = await outcomes(moves);
		t.is(results.filter((result) => result === 'done').length, 1);
		t.is(results.filter((result) => result === 'alreadyExists').length, 7);
		t.is(await readText(storage, 'target/wanted'), `content ${results.indexOf('done')}`);
		for (let n = 0; n < 8; n++) {
			if (results[n] !== 'done') t.is(await readText(storage, `file ${n}`), `content ${n}`);
		}
	});

	rule('only one of many concurrent moves of an item succeeds, and the item exists once', async (t, storage) => {
		await put(storage, 'one', 'only');
		const results = await outcomes(Array.from({ length: 8 }, (_, n) => storage.move(p('one'), p(`to ${n}`))));
		t.is(results.filter((result) => result === 'done').length, 1);
		t.is(results.filter((result) => result === 'notFound').length, 7);
		t.deepEqual(await names(storage, ''), [`to ${results.indexOf('done')}`]);
	});

	rule('a removed item is not found, and its name is free', async (t, storage) => {
		await putFolders(storage, 'folder', 'folder/sub');
		await put(storage, 'folder/sub/a', 'x');
		await put(storage, 'file', 'y');
		await storage.remove(p('file'));
		await storage.remove(p('folder'));
		t.deepEqual(await names(storage, ''), []);
		await refused(t, 'notFound', () => storage.stat(p('folder/sub/a')));
		await putFolders(storage, 'folder');
		t.is(await storage.count(p('folder')), 0);
	});

	rule('the root cannot be removed', async (t, storage) => {
		await put(storage, 'a', 'x');
		await refused(t, 'invalid', () => storage.remove(p('')));
		t.is(await readText(storage, 'a'), 'x');
	});

	rule('only one of many concurrent removals of an item succeeds', async (t, storage) => {
		await putFolders(storage, 'folder');
		const results = await outcomes(Array.from({ length: 8 }, () => storage.remove(p('folder'))));
		t.is(results.filter((result) => result === 'done').length, 1);
		t.is(results.filter((result) => result === 'notFound').length, 7);
	});
}
