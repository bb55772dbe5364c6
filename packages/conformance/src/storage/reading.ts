import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import {
	hasListWithStats,
	hasSmallFiles,
	type LocalFile,
	type StorageItem,
	type StorageProvider,
} from '@stowage/plugin-api';
import type { ExecutionContext } from 'ava';
import {
	names,
	patternBytes,
	put,
	putFolders,
	type Rule,
	readBytes,
	readText,
	refused,
	rows,
	toPath,
} from './steps.js';

const megabyte = 1024 * 1024;

/** Listing, stat and reading. */
export function readingRules(assertThat: Rule): void {
	assertThat('a new root is empty', async (t, storage) => {
		t.deepEqual(await rows(storage, ''), []);
		t.is(await storage.count(toPath('')), 0);
		t.like(await storage.stat(toPath('')), { name: '', type: 'directory', size: 0 });
	});

	assertThat('a reopened root keeps its id and its contents', async (t, storage, reopen) => {
		await put(storage, 'a.txt', 'here');
		const reopened = await reopen();
		t.is(reopened.rootId, storage.rootId);
		t.is(await readText(reopened, 'a.txt'), 'here');
	});

	assertThat('a row has name, type, size and modified time', async (t, storage) => {
		await putFolders(storage, 'docs');
		await put(storage, 'docs/a.txt', 'four', { mtime: 1_600_000_000_123 });
		await putFolders(storage, 'docs/b');
		const [file, folder] = await rows(storage, 'docs');
		t.deepEqual(file, { name: 'a.txt', type: 'file', size: 4, mtime: 1_600_000_000_123 });
		t.like(folder, { name: 'b', type: 'directory', size: 0 });
		t.true(Number.isInteger(folder?.mtime));
	});

	assertThat('stat and open agree with the listing', async (t, storage) => {
		await put(storage, 'a.txt', 'content', { mtime: 1_234_567_890_001 });
		const [row] = await rows(storage, '');
		const item = await storage.stat(toPath('a.txt'));
		const file = await storage.open(toPath('a.txt'));
		await file.close();
		t.like(item, { ...row });
		t.deepEqual(file.item, item);
	});

	assertThat(
		"a file that is lent to another program is the opened one, also when its name is another file's by then",
		async (t, storage) => {
			await put(storage, 'a.txt', 'content');
			const file = await storage.open(toPath('a.txt'));
			await storage.remove(toPath('a.txt'));
			await put(storage, 'a.txt', 'another');
			const read = ({ descriptor }: LocalFile) => {
				const { stdout } = spawn('cat', ['/dev/fd/3'], { stdio: ['ignore', 'pipe', 'inherit', descriptor] });
				return text(stdout as Readable);
			};
			t.is(await (file.withLocalFile?.(read) ?? 'content'), 'content');
			await file.close();
		},
	);

	assertThat('count returns the number of rows', async (t, storage) => {
		await putFolders(storage, 'many');
		await Promise.all(Array.from({ length: 150 }, (_, n) => storage.makeDirectory(toPath(`many/folder ${n}`))));
		await Promise.all(Array.from({ length: 150 }, (_, n) => put(storage, `many/file ${n}`, '')));
		const found = await names(storage, 'many');
		t.is(found.length, 300);
		t.is(new Set(found).size, 300);
		t.is(await storage.count(toPath('many')), 300);
	});

	assertThat('a listing can be stopped early', async (t, storage) => {
		for (let n = 0; n < 5; n++) await storage.makeDirectory(toPath(`folder ${n}`));
		for await (const batch of storage.list(toPath(''))) {
			t.true(batch.length > 0);
			break;
		}
		t.is(await storage.count(toPath('')), 5);
	});

	assertThat('every call for a missing item fails as notFound', async (t, storage) => {
		await put(storage, 'file', 'x');
		for (const path of ['gone', 'gone/deeper', 'file/below', 'file/below/deeper'])
			await assertNotFound(t, storage, path);
		t.is(await readText(storage, 'file'), 'x');
	});

	assertThat('every call that creates an item in a missing folder fails as notFound', async (t, storage) => {
		await put(storage, 'file', 'x');
		await putFolders(storage, 'folder');
		for (const path of ['gone/new', 'file/new', 'gone/deeper/new']) {
			const staged = await storage.stage();
			await refused(t, 'notFound', () => staged.commit(toPath(path)));
			await refused(t, 'notFound', () => storage.makeDirectory(toPath(path)));
			await refused(t, 'notFound', () => storage.move(toPath('folder'), toPath(path)));
			await refused(t, 'notFound', () => storage.copy(toPath('folder'), toPath(path)));
			t.is((await staged.commit(toPath(`kept ${path.replaceAll('/', ' ')}`))).size, 0);
		}
	});

	assertThat('a folder cannot be opened, and a file cannot be listed', async (t, storage) => {
		await putFolders(storage, 'folder');
		await put(storage, 'file', 'x');
		await refused(t, 'notFound', () => storage.open(toPath('folder')));
		await refused(t, 'notFound', () => storage.open(toPath('')));
		await refused(t, 'notFound', () => rows(storage, 'file'));
		await refused(t, 'notFound', () => storage.count(toPath('file')));
	});

	assertThat('a range includes both of its ends', async (t, storage) => {
		await put(storage, 'digits', '0123456789');
		t.is(await readText(storage, 'digits'), '0123456789');
		t.is(await readText(storage, 'digits', { start: 0, end: 0 }), '0');
		t.is(await readText(storage, 'digits', { start: 3, end: 5 }), '345');
		t.is(await readText(storage, 'digits', { start: 9, end: 9 }), '9');
		t.is(await readText(storage, 'digits', { start: 0, end: 9 }), '0123456789');
	});

	assertThat('an empty file has no content', async (t, storage) => {
		t.is((await put(storage, 'empty', '')).size, 0);
		t.is(await readText(storage, 'empty'), '');
	});

	assertThat('a large file is read in order, also by a slow reader and in ranges', async (t, storage) => {
		const bytes = patternBytes(5 * megabyte + 17);
		await put(storage, 'large', bytes);
		const file = await storage.open(toPath('large'));
		let at = 0;
		for await (const chunk of file.read()) {
			await new Promise((resolve) => setTimeout(resolve, 2));
			t.true(Buffer.from(bytes.subarray(at, at + chunk.length)).equals(chunk));
			at += chunk.length;
		}
		t.is(at, bytes.length);
		for (const [start, end] of [
			[megabyte - 1, megabyte],
			[1, 3 * megabyte],
			[2 * megabyte, bytes.length - 1],
		] as const) {
			t.true(Buffer.from(bytes.subarray(start, end + 1)).equals(await readBytes(file, { start, end })));
		}
		await file.close();
	});

	assertThat('an open file can be read several times at once', async (t, storage) => {
		const bytes = patternBytes(3 * megabyte);
		await put(storage, 'large', bytes);
		const file = await storage.open(toPath('large'));
		const reads = await Promise.all([readBytes(file), readBytes(file), readBytes(file, { start: 5, end: 9 })]);
		await file.close();
		t.true(Buffer.from(bytes).equals(reads[0]));
		t.true(Buffer.from(bytes).equals(reads[1]));
		t.true(Buffer.from(bytes.subarray(5, 10)).equals(reads[2]));
	});

	assertThat('closing a file lets running reads end and can be repeated', async (t, storage) => {
		const bytes = patternBytes(3 * megabyte);
		await put(storage, 'large', bytes);
		const file = await storage.open(toPath('large'));
		const reading = readBytes(file);
		await Promise.all([reading, file.close(), file.close()]);
		t.true(Buffer.from(bytes).equals(await reading));
	});

	assertThat('a read can be stopped early', async (t, storage) => {
		await put(storage, 'large', patternBytes(3 * megabyte));
		const file = await storage.open(toPath('large'));
		for await (const chunk of file.read()) {
			t.true(chunk.length > 0);
			break;
		}
		await file.close();
	});

	assertThat('a file is read into buffers, if the storage supports it, also while it is closed', async (t, storage) => {
		const bytes = patternBytes(3 * megabyte);
		await put(storage, 'large', bytes);
		const file = await storage.open(toPath('large'));
		if (file.readInto === undefined) {
			t.log('not supported by this storage');
			t.pass();
			return await file.close();
		}
		const lengths = [1, 65_535, 65_535, 2 * megabyte];
		const buffers = lengths.map((length) => new Uint8Array(length));
		const reading = file.readInto(buffers, 1000);
		await t.throwsAsync(file.readInto([new Uint8Array(2)], bytes.length - 1), { message: /shorter/ });
		await Promise.all([reading, file.close()]);
		const length = lengths.reduce((sum, each) => sum + each);
		t.true(Buffer.concat(buffers).equals(bytes.subarray(1000, 1000 + length)));
		await t.throwsAsync(file.readInto(buffers, 0), { message: 'The file is closed.' });
	});

	assertThat("an open file keeps its content when its name becomes another file's", async (t, storage) => {
		await put(storage, 'a', 'the first');
		const file = await storage.open(toPath('a'));
		await storage.remove(toPath('a'));
		await put(storage, 'a', 'another');
		t.is(new TextDecoder().decode(await readBytes(file)), 'the first');
		t.false(await file.isChanged());
		await file.close();
	});

	assertThat('a list with stats, if the storage has one, returns the same properties as stat', async (t, storage) => {
		await putFolders(storage, 'docs', 'docs/b');
		await put(storage, 'docs/a.txt', 'four', { mtime: 1_600_000_000_123 });
		t.is(await storage.count(toPath('docs')), 2);
		if (!hasListWithStats(storage)) return;
		const items: StorageItem[] = [];
		for await (const batch of storage.listWithStats(toPath('docs'))) {
			items.push(...batch.items);
			t.is(batch.skipped, 0);
		}
		items.sort((a, b) => (a.name < b.name ? -1 : 1));
		t.deepEqual(items, [await storage.stat(toPath('docs/a.txt')), await storage.stat(toPath('docs/b'))]);
		for (const path of ['gone', 'docs/a.txt'])
			await refused(t, 'notFound', async () => {
				for await (const _batch of storage.listWithStats(toPath(path)));
			});
	});

	assertThat('small files are read together as they would be one by one, if the storage can', async (t, storage) => {
		await putFolders(storage, 'docs', 'docs/b');
		await put(storage, 'docs/a.txt', 'first');
		await put(storage, 'docs/c.txt', 'second');
		await put(storage, 'docs/empty', '');
		await put(storage, 'docs/large', 'x'.repeat(100));
		t.is(await storage.count(toPath('docs')), 5);
		if (!hasSmallFiles(storage)) return;
		const names = ['c.txt', 'gone', 'a.txt', 'b', 'large', 'empty', 'a.txt'];
		const into = Buffer.alloc(20);
		const files = await storage.readSmallFiles(toPath('docs'), names, into);
		t.is(files.length, names.length);
		for (const [index, name] of names.entries()) {
			const file = files[index];
			// A storage may leave out any, but none that it must not answer.
			if (['gone', 'b', 'large'].includes(name)) t.is(file, undefined, name);
			if (file === undefined) continue;
			t.deepEqual(file.item, await storage.stat(toPath(`docs/${name}`)));
			t.is(Buffer.from(file.bytes).toString(), { 'c.txt': 'second', 'a.txt': 'first' }[name] ?? '');
		}
		t.deepEqual(await storage.readSmallFiles(toPath('docs'), ['large'], into), [undefined]);
		for (const path of ['gone', 'docs/a.txt'])
			await refused(t, 'notFound', () => storage.readSmallFiles(toPath(path), ['a'], into));
	});

	assertThat('an id is kept by renaming and moving, and a new item has another id', async (t, storage) => {
		await putFolders(storage, 'one', 'two', 'one/sub');
		const made = await put(storage, 'one/sub/a', 'x');
		const folder = await storage.stat(toPath('one/sub'));
		t.is((await storage.stat(toPath('one/sub/a'))).id, made.id);
		t.is((await storage.move(toPath('one/sub/a'), toPath('one/sub/b'))).id, made.id);
		t.is((await storage.move(toPath('one/sub'), toPath('two/moved'))).id, folder.id);
		t.is((await storage.stat(toPath('two/moved/b'))).id, made.id);
		t.not((await storage.copy(toPath('two/moved/b'), toPath('two/moved/c'))).id, made.id);
		await storage.remove(toPath('two/moved/b'));
		t.not((await put(storage, 'two/moved/b', 'x')).id, made.id);
	});

	assertThat('a new file has another version, an unchanged one keeps its version', async (t, storage) => {
		const first = await put(storage, 'a', 'content 1', { mtime: 1000 });
		t.is((await storage.stat(toPath('a'))).version, first.version);
		t.regex(first.version, /^[\x21\x23-\x7e]+$/);
		const moved = await storage.move(toPath('a'), toPath('b'));
		t.is(moved.contentVersion, first.contentVersion);
		for (const { version, contentVersion = version } of [first, moved])
			t.true(version.startsWith(contentVersion), contentVersion);
		await storage.remove(toPath('b'));
		const second = await put(storage, 'a', 'content 2', { mtime: 1000 });
		t.not(second.version, first.version);
	});

	assertThat('check succeeds, and free space does not exceed total space', async (t, storage) => {
		await storage.check();
		const free = await storage.freeSpace();
		const total = await storage.totalSpace();
		if (free !== undefined) t.true(free > 0);
		if (free !== undefined && total !== undefined) t.true(total >= free);
		t.is(await storage.count(toPath('')), 0);
	});
}

async function assertNotFound(t: ExecutionContext, storage: StorageProvider, path: string): Promise<void> {
	await refused(t, 'notFound', () => rows(storage, path));
	await refused(t, 'notFound', () => storage.count(toPath(path)));
	await refused(t, 'notFound', () => storage.stat(toPath(path)));
	await refused(t, 'notFound', () => storage.open(toPath(path)));
	await refused(t, 'notFound', () => storage.move(toPath(path), toPath('elsewhere')));
	await refused(t, 'notFound', () => storage.copy(toPath(path), toPath('elsewhere')));
	await refused(t, 'notFound', () => storage.remove(toPath(path)));
	await refused(t, 'notFound', () => storage.stat(toPath('elsewhere')));
}
