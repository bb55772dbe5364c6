import { hasClock, hasFolderTimes, type StorageItem, trashFolder } from '@stowage/plugin-api';
import { joinPath } from '@stowage/rules';
import { names, outcomes, put, putFolders, type Rule, readText, refused, toPath } from './steps.js';

/** Making folders, moving and removing. */
export function changingRules(assertThat: Rule): void {
	assertThat('a folder is created in an existing folder', async (t, storage) => {
		const item = await storage.makeDirectory(toPath('docs'));
		t.like(item, { name: 'docs', type: 'directory', size: 0 });
		t.deepEqual(await storage.stat(toPath('docs')), item);
		await storage.makeDirectory(toPath('docs/2024'));
		t.deepEqual(await names(storage, 'docs'), ['2024']);
	});

	assertThat('a folder is not created in place of an existing item', async (t, storage) => {
		await putFolders(storage, 'folder', 'folder/kept');
		await put(storage, 'file', 'mine');
		for (const path of ['folder', 'file', ''])
			await refused(t, 'alreadyExists', () => storage.makeDirectory(toPath(path)));
		t.deepEqual(await names(storage, 'folder'), ['kept']);
		t.is(await readText(storage, 'file'), 'mine');
	});

	assertThat('only one of many concurrent requests to create a folder succeeds', async (t, storage) => {
		const results = await outcomes(Array.from({ length: 8 }, () => storage.makeDirectory(toPath('wanted'))));
		t.is(results.filter((result) => result === 'done').length, 1);
		t.is(results.filter((result) => result === 'alreadyExists').length, 7);
	});

	assertThat('an empty folder is removed, a folder with contents is not', async (t, storage) => {
		await putFolders(storage, 'full', 'full/empty');
		await put(storage, 'file', 'mine');
		await refused(t, 'conflict', () => storage.removeEmptyFolder(toPath('full')));
		await storage.removeEmptyFolder(toPath('full/empty'));
		t.deepEqual(await names(storage, ''), ['file', 'full']);
		await storage.removeEmptyFolder(toPath('full'));
		await refused(t, 'notFound', () => storage.removeEmptyFolder(toPath('full')));
		await refused(t, 'notFound', () => storage.removeEmptyFolder(toPath('file')));
		await refused(t, 'invalid', () => storage.removeEmptyFolder(toPath('')));
		t.is(await readText(storage, 'file'), 'mine');
	});

	assertThat('the time of a folder is set, if the storage supports it', async (t, storage) => {
		if (!hasFolderTimes(storage)) {
			t.pass();
			return;
		}
		await putFolders(storage, 'folder');
		await put(storage, 'folder/file');
		await storage.setFolderTime(toPath('folder'), 1_234_567_890_123);
		t.is((await storage.stat(toPath('folder'))).mtime, 1_234_567_890_123);
		await refused(t, 'notFound', () => storage.setFolderTime(toPath('folder/file'), 0));
		await refused(t, 'notFound', () => storage.setFolderTime(toPath('nothing'), 0));
	});

	assertThat('the clock of modified times is read, if the storage supports it', async (t, storage) => {
		if (!hasClock(storage)) {
			t.pass();
			return;
		}
		const before = await storage.currentTime();
		await putFolders(storage, 'folder');
		const { mtime } = await storage.stat(toPath('folder'));
		// The two may be rounded in other ways.
		t.true(before - 1 <= mtime && mtime <= (await storage.currentTime()) + 1);
		t.deepEqual(await names(storage, ''), ['folder']);
	});

	assertThat('items are moved to the trash and back, which is listed nowhere', async (t, storage) => {
		await putFolders(storage, 'folder', 'folder/inner');
		await put(storage, 'folder/inner/file', 'content', { mtime: 1_500_000_000_000 });
		const item = await storage.stat(toPath('folder'));
		await putFolders(storage, trashFolder);
		await refused(t, 'alreadyExists', () => storage.makeDirectory(trashFolder));
		await storage.move(toPath('folder'), joinPath(trashFolder, 'one'));
		t.deepEqual(await names(storage, ''), []);
		t.is(await storage.count(toPath('')), 0);
		t.deepEqual(await names(storage, trashFolder), ['one']);
		t.is(await readText(storage, `${trashFolder}/one/inner/file`), 'content');
		t.is((await storage.move(joinPath(trashFolder, 'one'), toPath('folder'))).id, item.id);
		t.like(await storage.stat(toPath('folder/inner/file')), { mtime: 1_500_000_000_000, size: 7 });
		await storage.move(toPath('folder/inner/file'), joinPath(trashFolder, 'two'));
		await storage.remove(joinPath(trashFolder, 'two'));
		await refused(t, 'notFound', () => storage.stat(joinPath(trashFolder, 'two')));
		t.deepEqual(await names(storage, trashFolder), []);
	});

	assertThat('a renamed or moved file keeps its time', async (t, storage) => {
		await putFolders(storage, 'folder');
		await put(storage, 'a', 'content', { mtime: 1_500_000_000_000 });
		t.like(await storage.move(toPath('a'), toPath('b')), {
			name: 'b',
			type: 'file',
			size: 7,
			mtime: 1_500_000_000_000,
		});
		const item = await storage.move(toPath('b'), toPath('folder/c'));
		t.deepEqual(await storage.stat(toPath('folder/c')), item);
		t.deepEqual(await names(storage, ''), ['folder']);
		t.is(await readText(storage, 'folder/c'), 'content');
	});

	assertThat('a folder is moved with its contents', async (t, storage) => {
		await putFolders(storage, 'from', 'from/sub', 'to');
		await put(storage, 'from/sub/a', 'deep');
		await storage.move(toPath('from'), toPath('to/moved'));
		t.deepEqual(await names(storage, ''), ['to']);
		t.is(await readText(storage, 'to/moved/sub/a'), 'deep');
	});

	assertThat('a move never replaces anything, not even an empty folder', async (t, storage) => {
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
			await refused(t, 'alreadyExists', () => storage.move(toPath(from), toPath(to)));
		}
		t.deepEqual(await names(storage, ''), ['empty', 'file', 'folder', 'other']);
		t.is(await readText(storage, 'file'), 'mine');
	});

	assertThat('a folder cannot be moved into itself or below', async (t, storage) => {
		await putFolders(storage, 'a', 'a/b', 'ab');
		await refused(t, 'invalid', () => storage.move(toPath('a'), toPath('a/c')));
		await refused(t, 'invalid', () => storage.move(toPath('a'), toPath('a/b/c')));
		await refused(t, 'invalid', () => storage.move(toPath(''), toPath('a/c')));
		await storage.move(toPath('a'), toPath('ab/a'));
		t.deepEqual(await names(storage, 'ab/a'), ['b']);
	});

	assertThat('only one of many concurrent moves to one name succeeds, and nothing is lost', async (t, storage) => {
		await putFolders(storage, 'target');
		for (let n = 0; n < 8; n++) await put(storage, `file ${n}`, `content ${n}`);
		const moves = Array.from({ length: 8 }, (_, n) => storage.move(toPath(`file ${n}`), toPath('target/wanted')));
		const results = await outcomes(moves);
		t.is(results.filter((result) => result === 'done').length, 1);
		t.is(results.filter((result) => result === 'alreadyExists').length, 7);
		t.is(await readText(storage, 'target/wanted'), `content ${results.indexOf('done')}`);
		for (let n = 0; n < 8; n++) {
			if (results[n] !== 'done') t.is(await readText(storage, `file ${n}`), `content ${n}`);
		}
	});

	assertThat('only one of many concurrent moves of an item succeeds, and the item exists once', async (t, storage) => {
		await put(storage, 'one', 'only');
		const results = await outcomes(Array.from({ length: 8 }, (_, n) => storage.move(toPath('one'), toPath(`to ${n}`))));
		t.is(results.filter((result) => result === 'done').length, 1);
		t.is(results.filter((result) => result === 'notFound').length, 7);
		t.deepEqual(await names(storage, ''), [`to ${results.indexOf('done')}`]);
	});

	assertThat('a removed item is not found, and its name is free', async (t, storage) => {
		await putFolders(storage, 'folder', 'folder/sub');
		await put(storage, 'folder/sub/a', 'x');
		await put(storage, 'file', 'y');
		const were = [await storage.stat(toPath('file')), await storage.stat(toPath('folder'))];
		const removed: StorageItem[] = [];
		const onRemoved = (item: StorageItem) => void removed.push(item);
		await storage.remove(toPath('file'), { onRemoved });
		await storage.remove(toPath('folder'), { onRemoved });
		t.deepEqual(removed, were);
		await refused(t, 'notFound', () => storage.remove(toPath('file'), { onRemoved }));
		t.is(removed.length, 2);
		t.deepEqual(await names(storage, ''), []);
		await refused(t, 'notFound', () => storage.stat(toPath('folder/sub/a')));
		await putFolders(storage, 'folder');
		t.is(await storage.count(toPath('folder')), 0);
	});

	assertThat('the root cannot be removed', async (t, storage) => {
		await put(storage, 'a', 'x');
		await refused(t, 'invalid', () => storage.remove(toPath('')));
		t.is(await readText(storage, 'a'), 'x');
	});

	assertThat('only one of many concurrent removals of an item succeeds', async (t, storage) => {
		await putFolders(storage, 'folder');
		const results = await outcomes(Array.from({ length: 8 }, () => storage.remove(toPath('folder'))));
		t.is(results.filter((result) => result === 'done').length, 1);
		t.is(results.filter((result) => result === 'notFound').length, 7);
	});
}
