import { names, outcomes, put, putFolders, type Rule, readText, refused, toPath } from './steps.js';

/** Copies appear completely or not at all. */
export function copyingRules(assertThat: Rule): void {
	assertThat('a file is copied with its time', async (t, storage) => {
		await putFolders(storage, 'folder');
		const original = await put(storage, 'a', 'content', { mtime: 1_500_000_000_123 });
		const copy = await storage.copy(toPath('a'), toPath('folder/b'));
		t.like(copy, { name: 'b', type: 'file', size: 7, mtime: 1_500_000_000_123 });
		t.deepEqual(await storage.stat(toPath('folder/b')), copy);
		t.is(await readText(storage, 'folder/b'), 'content');
		t.deepEqual(await storage.stat(toPath('a')), original);
	});

	assertThat('a folder is copied with its contents and all times', async (t, storage) => {
		await putFolders(storage, 'from', 'from/sub', 'from/sub/deep', 'from/empty');
		await put(storage, 'from/a', 'one', { mtime: 1_000_000_000_000 });
		await put(storage, 'from/old', 'one', { mtime: -1_000_000_000_000 });
		await put(storage, 'from/sub/deep/b', 'two', { mtime: 1_100_000_000_000 });
		const before = await Promise.all(['from', 'from/sub', 'from/empty'].map((path) => storage.stat(toPath(path))));
		await new Promise((resolve) => setTimeout(resolve, 20));
		await storage.copy(toPath('from'), toPath('to'));
		const after = await Promise.all(['to', 'to/sub', 'to/empty'].map((path) => storage.stat(toPath(path))));
		t.deepEqual(
			after.map((item) => item.mtime),
			before.map((item) => item.mtime),
		);
		t.deepEqual(await names(storage, 'to'), ['a', 'empty', 'old', 'sub']);
		t.is((await storage.stat(toPath('to/old'))).mtime, -1_000_000_000_000);
		t.is(await readText(storage, 'to/sub/deep/b'), 'two');
		t.is((await storage.stat(toPath('to/sub/deep/b'))).mtime, 1_100_000_000_000);
		await storage.remove(toPath('from'));
		t.is(await readText(storage, 'to/a'), 'one');
	});

	assertThat('a copy never replaces anything', async (t, storage) => {
		await putFolders(storage, 'folder', 'empty');
		await put(storage, 'file', 'mine');
		await put(storage, 'other', 'another');
		for (const [from, to] of [
			['other', 'file'],
			['folder', 'empty'],
			['folder', 'file'],
			['file', 'file'],
			['file', ''],
		] as const) {
			await refused(t, 'alreadyExists', () => storage.copy(toPath(from), toPath(to)));
		}
		t.is(await readText(storage, 'file'), 'mine');
		t.deepEqual(await names(storage, ''), ['empty', 'file', 'folder', 'other']);
	});

	assertThat('a folder cannot be copied into itself or below', async (t, storage) => {
		await putFolders(storage, 'a', 'a/b');
		await refused(t, 'invalid', () => storage.copy(toPath('a'), toPath('a/c')));
		await refused(t, 'invalid', () => storage.copy(toPath('a'), toPath('a/b/c')));
		t.deepEqual(await names(storage, 'a'), ['b']);
	});

	assertThat('only one of many concurrent copies to one name succeeds', async (t, storage) => {
		await putFolders(storage, 'from');
		await put(storage, 'from/a', 'x');
		const results = await outcomes(Array.from({ length: 4 }, () => storage.copy(toPath('from'), toPath('to'))));
		t.is(results.filter((result) => result === 'done').length, 1);
		t.is(results.filter((result) => result === 'alreadyExists').length, 3);
		t.deepEqual(await names(storage, ''), ['from', 'to']);
		t.is(await readText(storage, 'to/a'), 'x');
	});

	assertThat(
		'a copy calls beforeItem for each item and beforeBytes for its bytes, and leaves nothing if either fails',
		async (t, storage) => {
			await putFolders(storage, 'from', 'from/deep', 'from/empty');
			await put(storage, 'from/a', 'x'.repeat(1000));
			await put(storage, 'from/deep/b', 'x'.repeat(20));
			const items: string[] = [];
			let bytes = 0;
			const beforeItem = async ({ type, size }: { type: string; size: number }) => void items.push(`${type} ${size}`);
			const beforeBytes = async (more: number) => {
				bytes += more;
			};
			await storage.copy(toPath('from'), toPath('to'), { beforeItem, beforeBytes });
			t.deepEqual(items.sort(), ['directory 0', 'directory 0', 'directory 0', 'file 1000', 'file 20']);
			t.is(bytes, 1020);
			const failure = new Error('No more.');
			const refuse = () => Promise.reject(failure);
			t.is(await t.throwsAsync(storage.copy(toPath('from'), toPath('other'), { beforeItem: refuse })), failure);
			t.is(await t.throwsAsync(storage.copy(toPath('from/a'), toPath('other'), { beforeBytes: refuse })), failure);
			t.deepEqual(await names(storage, ''), ['from', 'to']);
		},
	);

	assertThat('what gets another name in a folder while that is copied is in the copy', async (t, storage) => {
		await putFolders(storage, 'from', 'from/a', 'from/b', 'from/c');
		for (const name of ['a', 'b', 'c']) await put(storage, `from/${name}/${name}`, name);
		let count = 0;
		const beforeItem = async () => {
			// Before the first item in it: the names in the folder are known by then.
			if (++count !== 2) return;
			for (const name of ['a', 'b', 'c']) await storage.move(toPath(`from/${name}`), toPath(`from/new ${name}`));
		};
		await storage.copy(toPath('from'), toPath('to'), { beforeItem });
		for (const name of ['a', 'b', 'c']) t.is(await readText(storage, `to/new ${name}/${name}`), name);
	});

	assertThat('an aborted copy leaves nothing', async (t, storage) => {
		await putFolders(storage, 'from');
		for (let n = 0; n < 40; n++) await put(storage, `from/file ${n}`, 'x'.repeat(1000));
		await t.throwsAsync(storage.copy(toPath('from'), toPath('to'), { signal: AbortSignal.abort() }), {
			any: true,
			name: 'AbortError',
		});
		t.deepEqual(await names(storage, ''), ['from']);
		for (const delay of [0, 1, 2, 4]) {
			const controller = new AbortController();
			const copying = storage.copy(toPath('from'), toPath('to'), { signal: controller.signal });
			setTimeout(() => controller.abort(), delay);
			const wasCopied = await copying.then(
				() => true,
				() => false,
			);
			t.deepEqual(await names(storage, ''), wasCopied ? ['from', 'to'] : ['from']);
			if (!wasCopied) continue;
			t.is(await storage.count(toPath('to')), 40);
			await storage.remove(toPath('to'));
		}
		t.is(await storage.count(toPath('from')), 40);
	});
}
