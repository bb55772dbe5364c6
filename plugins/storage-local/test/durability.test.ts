import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { endOf, startChild, type TracedCall, traceChild, untilOutput } from './children.js';
import { body, localStorage, p, plant, put, readText, refused } from './steps.js';

const traced = ['-e', 'trace=fsync,fdatasync,syncfs,rename,renameat,renameat2,mkdir,mkdirat,unlink,unlinkat,write'];

/** The first of these calls with this name and this text. */
function find(calls: readonly TracedCall[], name: RegExp, text: RegExp): TracedCall {
	const found = calls.find((call) => name.test(call.name) && text.test(call.text));
	if (found === undefined) throw new Error(`no ${name} of ${text}:\n${calls.map((call) => call.text).join('\n')}`);
	return found;
}

const sync = /^(fsync|fdatasync)$/;
const answered = /"answer: done/;

test('a commit syncs the bytes, takes the name, syncs the folder and then returns', async (t) => {
	const { storage, root } = await localStorage(t);
	await storage.makeDirectory(p('docs'));
	const { answer, calls } = await traceChild(t, traced, root, storage.rootId, 'put', 'docs/a.txt');
	t.is(answer, 'done');
	const order = [
		find(calls, sync, /\.stowage\/staging\/[0-9a-f]{32}>/),
		find(calls, /^renameat2$/, /"a\.txt".*RENAME_NOREPLACE.*= 0/),
		find(calls, sync, /files\/docs>/),
		find(calls, /^write$/, answered),
	];
	assertOrder(t, order);
	t.is(await readText(storage, 'docs/a.txt'), 'content');
});

test('a replaced file is removed after the new file, the record and the exchange are durable', async (t) => {
	const { storage, root } = await localStorage(t);
	await plant(root, { 'docs/a.txt': 'old' });
	const staged = await storage.stage();
	await staged.append(body('content'), 0);
	const { answer, calls } = await traceChild(t, traced, root, storage.rootId, 'replace', staged.id, 'docs/a.txt');
	t.is(answer, 'done');
	const exchanged = find(calls, /^renameat2$/, /"a\.txt".*RENAME_EXCHANGE.*= 0/);
	const later = calls.filter((call) => call.begun > exchanged.ended);
	const unlinked = find(later, /^unlink/, /replacing-[0-9a-f]{32}"/);
	assertOrder(t, [exchanged, find(later, sync, /\.stowage\/staging>/), unlinked]);
	assertOrder(t, [
		find(calls, sync, /\.stowage\/staging\/[0-9a-f]{32}>/),
		find(calls, sync, /\.stowage\/staging\/replacing-[0-9a-f]{32}\.json>/),
		find(calls, sync, /\.stowage\/staging>/),
		find(calls, /^renameat2$/, /"replacing-[0-9a-f]{32}", RENAME_NOREPLACE.*= 0/),
		exchanged,
		find(later, sync, /files\/docs>/),
		unlinked,
		find(later, /^unlink/, /replacing-[0-9a-f]{32}\.json"/),
		find(calls, /^write$/, answered),
	]);
	t.is(await readText(storage, 'docs/a.txt'), 'content');
});

test('taken names cause no further syncs or renames', async (t) => {
	const { storage, root } = await localStorage(t);
	await plant(root, { a: 'x', ...Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${n}`, 'x'])) });
	const staged = await storage.stage();
	await staged.append(body('content'), 0);
	const { answer, calls } = await traceChild(t, traced, root, storage.rootId, 'commitBeside', staged.id, 'a');
	t.is(answer, 'done');
	t.is(await readText(storage, '60'), 'content');
	const inRoot = calls.filter(({ text }) => text.includes('/files'));
	t.is(inRoot.filter(({ name }) => sync.test(name)).length, 2, 'the file and its folder');
	t.is(inRoot.filter(({ name }) => name === 'renameat2').length, 2, 'the wished name and the given one');
	assertOrder(t, [
		find(calls, sync, /\.stowage\/staging\/[0-9a-f]{32}>/),
		find(calls, /^renameat2$/, /"60".*RENAME_NOREPLACE.*= 0/),
		find(calls, sync, /files>/),
		find(calls, /^write$/, answered),
	]);
});

test('a new folder, a move and a removal are durable before they return', async (t) => {
	const { storage, root } = await localStorage(t);
	await plant(root, { 'from/a': 'x', 'to/b': 'y', 'gone/c': 'z' });
	const child = (...task: string[]) => traceChild(t, traced, root, storage.rootId, ...task);

	const made = (await child('makeDirectory', 'to/new')).calls;
	assertOrder(t, [find(made, /^mkdir/, /new/), find(made, sync, /files\/to>/), find(made, /^write$/, answered)]);

	const moved = (await child('move', 'from/a', 'to/a')).calls;
	const rename = find(moved, /^renameat2$/, /"a".*RENAME_NOREPLACE.*= 0/);
	assertOrder(t, [rename, find(moved, sync, /files\/to>/), find(moved, /^write$/, answered)]);
	assertOrder(t, [rename, find(moved, sync, /files\/from>/), find(moved, /^write$/, answered)]);

	const removed = (await child('remove', 'gone')).calls;
	assertOrder(t, [find(removed, /^rename/, /gone/), find(removed, sync, /files>/), find(removed, /^write$/, answered)]);
});

test('a copied tree is synced before it takes its name', async (t) => {
	const { storage, root } = await localStorage(t);
	await plant(root, { 'from/a': 'x', 'from/deep/b': 'y' });
	const { calls } = await traceChild(t, traced, root, storage.rootId, 'copy', 'from', 'to');
	assertOrder(t, [
		find(calls, /^syncfs$/, /staging\/scratch-/),
		find(calls, /^renameat2$/, /"to".*RENAME_NOREPLACE.*= 0/),
		find(calls, sync, /files>/),
		find(calls, /^write$/, answered),
	]);
});

test('a large file is cloned, or copied by the kernel where it cannot be cloned', async (t) => {
	const { storage, root } = await localStorage(t);
	await writeFile(join(root, 'large'), Buffer.alloc(20 * 1024 * 1024, 'large'));
	const options = ['-e', 'trace=ioctl,copy_file_range,write'];
	const { answer, calls } = await traceChild(t, options, root, storage.rootId, 'copy', 'large', 'to');
	t.is(answer, 'done');
	const shared = find(calls, /^ioctl$/, /FICLONE|BTRFS_IOC_CLONE/);
	if (!/= 0$/.test(shared.text.trim())) find(calls, /^copy_file_range$/, /= 16777216/);
	t.false(
		calls.some(({ name, text }) => name === 'write' && /files\/.*= \d{5,}/.test(text)),
		'no bytes pass through this process',
	);
});

test('a file whose sync failed is refused and removed, and not synced again', async (t) => {
	const { storage, root } = await localStorage(t);
	await put(storage, 'older', 'stays');
	const staged = await storage.stage();
	await staged.append(body('lost'), 0);
	const inject = ['-e', 'trace=fsync,write', '-e', 'inject=fsync:error=EIO:when=1'];
	const { answer, calls } = await traceChild(t, inject, root, storage.rootId, 'commit', staged.id, 'a');
	t.is(answer, 'unavailable');
	// A library may sync its output at the end; only syncs of files count.
	t.is(calls.filter((call) => call.name === 'fsync' && call.text.includes('/files/')).length, 1);
	await refused(t, 'notFound', () => staged.size());
	await refused(t, 'notFound', () => storage.stat(p('a')));
	t.is(await readText(storage, 'older'), 'stays');
});

for (const [where, faults] of Object.entries({
	'a chunk': ['fdatasync:error=EIO:when=1'],
	'a chunk, on a full disk': ['fdatasync:error=ENOSPC:when=1'],
	'a chunk, and the file cannot be removed': ['fdatasync:error=EIO:when=1', 'unlink,unlinkat:error=EIO'],
})) {
	test(`a file that lost bytes in a failed sync is never published (${where})`, async (t) => {
		const { storage, root } = await localStorage(t);
		const staged = await storage.stage();
		await staged.append(body('lost'), 0);
		const inject = ['-e', 'trace=fdatasync,fsync,unlink,unlinkat,write'];
		for (const fault of faults) inject.push('-e', `inject=${fault}`);
		const { answer, calls } = await traceChild(t, inject, root, storage.rootId, 'syncAndCommit', staged.id, 'a');
		t.is(answer, 'notFound');
		find(calls, /^write$/, /not synced/);
		t.is(calls.filter((call) => sync.test(call.name) && call.text.includes(staged.id.slice(0, 32))).length, 1);
		await refused(t, 'notFound', () => storage.stat(p('a')));
	});
}

test('a second process is refused while one writes to an upload', async (t) => {
	const { storage, root } = await localStorage(t);
	const staged = await storage.stage();
	const child = await startChild(t, root, storage.rootId, 'hold', staged.id);
	await untilOutput(child, 'holding');
	await refused(t, 'locked', () => staged.append(body('x'), 0));
	await refused(t, 'locked', () => staged.commit(p('a')));
	child.stdin?.end();
	t.is((await endOf(child)).code, 0);
	t.is(await staged.append(body(' on'), 4), 7);
	await staged.commit(p('a'));
	t.is(await readText(storage, 'a'), 'held on');
});

function assertOrder(t: ExecutionContext, calls: readonly TracedCall[]): void {
	for (const [n, call] of calls.entries()) {
		const before = calls[n - 1];
		if (before !== undefined) t.true(before.ended < call.begun, `${before.text}\nmust end before\n${call.text}`);
	}
}
