import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storageSuite } from '@stowage/conformance';
import { localStorageDriver } from '@stowage/storage-local';
import test from 'ava';
import type { LocalStorage } from '../src/LocalStorage.js';
import type { NotRemoved } from '../src/root/Disk.js';
import { coldCalls } from './coldCalls.js';
import { best, eventually, isRoot, localDriver, names, p, put, readText, refused } from './steps.js';

const nobody = 65534;

/** From here on this process has the rights of nobody, until it removes the files of root. */
const folder = mkdtempSync(join(tmpdir(), 'stowage-unprivileged-'));
const ways = { 'native calls': best, 'cold cache': coldCalls(best) };
if (isRoot) {
	for (const way of Object.keys(ways)) {
		plantForeignFiles(join(folder, way));
		plantImportedFiles(join(folder, `${way} imported`));
	}
	chownSync(folder, nobody, nobody);
	process.setgroups?.([]);
	process.setegid?.(nobody);
	process.seteuid?.(nobody);
}
process.umask(0o027);

/** Files of another owner: readable and unreadable ones, in folders of that owner and of this process. */
function plantForeignFiles(root: string): void {
	mkdirSync(join(root, 'own'), { recursive: true });
	for (const own of [root, join(root, 'own')]) chownSync(own, nobody, nobody);
	for (const place of ['own', 'foreign', 'foreign/closed', 'foreign/no entry']) {
		mkdirSync(join(root, place), { recursive: true });
		writeFileSync(join(root, place, 'readable'), 'secret', { mode: 0o644 });
		writeFileSync(join(root, place, 'unreadable'), 'secret', { mode: 0o600 });
	}
	chmodSync(join(root, 'foreign/closed'), 0o700);
	// Its names can be listed, but its files cannot be accessed.
	chmodSync(join(root, 'foreign/no entry'), 0o744);
}

/** What an import by root leaves: items that can't be used beside those that can. */
function plantImportedFiles(root: string): void {
	const own = (...names: string[]) => {
		for (const name of names) chownSync(join(root, name), nobody, nobody);
	};
	mkdirSync(join(root, 'own'), { recursive: true });
	own('', 'own');
	const write = (name: string | Buffer, mode = 0o644) => {
		writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name)]), 'x', { mode });
	};
	write('readable of root');
	write('own/closed', 0o000);
	own('own/closed');
	write('own/of root', 0o600);
	write('own/two\nlines.txt');
	write(Buffer.from('own/caf\u00e9.txt', 'latin1'));
	write('own/caf\u00e9.txt');
	for (const [name, mode] of [
		['closed folder', 0o700],
		['no entry', 0o744],
		['unwritable', 0o755],
	] as const)
		mkdirSync(join(root, name), { mode });
	write('unwritable/inside', 0o600);
	mkdirSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from('b\u00f6se', 'latin1')]));
	chownSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from('b\u00f6se', 'latin1')]), nobody, nobody);
	write(Buffer.from('b\u00f6se/a\\b', 'latin1'));
	symlinkSync('/etc', join(root, 'link'));
	execFileSync('mkfifo', [join(root, 'pipe')]);
}

async function listedWithStats(storage: LocalStorage, path: string): Promise<{ items: string[]; leftOut: number }> {
	const found = { items: [] as string[], leftOut: 0 };
	for await (const { items, skipped } of storage.listWithStats(p(path))) {
		found.items.push(...items.map(({ name }) => name));
		found.leftOut += skipped;
	}
	return found;
}

test.after.always(() => {
	if (isRoot) process.seteuid?.(0);
	rmSync(folder, { recursive: true, force: true });
});

storageSuite(test, 'LocalStorage without privileges', (t) => localDriver(t));

for (const [way, calls] of Object.entries(ways)) {
	test(`files of another owner are read where permitted and refused as forbidden elsewhere (${way})`, async (t) => {
		if (!isRoot) {
			t.log('not run as root: files of another owner cannot be created');
			t.not(process.getuid?.(), 0);
			return;
		}
		t.is(process.geteuid?.(), nobody);
		const root = join(folder, way);
		const storage = (await localStorageDriver(root, { calls }).open(undefined)) as LocalStorage;
		t.deepEqual(await names(storage, 'foreign'), ['closed', 'no entry', 'readable', 'unreadable']);
		const rows: string[] = [];
		for await (const batch of storage.list(p('foreign')))
			rows.push(...batch.map(({ name, unreadable }) => `${name}: ${unreadable}`));
		t.deepEqual(rows.sort(), ['closed: true', 'no entry: true', 'readable: undefined', 'unreadable: true']);
		t.is(await readText(storage, 'foreign/readable'), 'secret');
		t.deepEqual(await listedWithStats(storage, 'foreign'), { items: ['readable'], leftOut: 3 });
		await refused(t, 'forbidden', () => storage.open(p('foreign/unreadable')));
		await refused(t, 'forbidden', () => names(storage, 'foreign/closed'));
		await refused(t, 'forbidden', () => names(storage, 'foreign/no entry'));
		await refused(t, 'forbidden', () => listedWithStats(storage, 'foreign/no entry'));
		await refused(t, 'forbidden', () => storage.count(p('foreign/closed')));
		await refused(t, 'forbidden', () => storage.stat(p('foreign/closed/readable')));
		await refused(t, 'forbidden', () => storage.move(p('foreign/readable'), p('mine')));
		await refused(t, 'forbidden', () => storage.remove(p('foreign/readable')));
		await refused(t, 'forbidden', () => storage.remove(p('foreign')));
		await refused(t, 'forbidden', () => storage.makeDirectory(p('foreign/new')));
		await refused(t, 'forbidden', () => put(storage, 'foreign/new', 'x'));
		await refused(t, 'forbidden', () => storage.copy(p('foreign'), p('copy')));
		t.deepEqual(await names(storage, ''), ['foreign', 'own']);
		t.deepEqual(await names(storage, 'foreign'), ['closed', 'no entry', 'readable', 'unreadable']);

		// In a folder of this process they may be moved and removed, regardless of their owner.
		await storage.move(p('own/unreadable'), p('own/moved'));
		t.is((await storage.stat(p('own/moved'))).size, 6);
		await storage.copy(p('own/readable'), p('copy'));
		t.is(await readText(storage, 'copy'), 'secret');
		await storage.remove(p('own/moved'));
		t.deepEqual(await names(storage, 'own'), ['readable']);
		t.deepEqual(
			readdirSync(join(root, '.stowage/staging')).filter((name) => name.startsWith('scratch-')),
			[],
		);

		// A folder of the storage's own is no file that a user could name.
		chmodSync(join(root, '.stowage/staging'), 0);
		await refused(t, 'unavailable', () => put(storage, 'own/new', 'x'));
		chmodSync(join(root, '.stowage/staging'), 0o700);
		await put(storage, 'own/new', 'x');
		await storage.close();
	});
}

for (const [way, calls] of Object.entries(ways)) {
	test(`what an import left unusable is found, each with its reason, and nothing else (${way})`, async (t) => {
		if (!isRoot) {
			t.log('not run as root: files of another owner cannot be created');
			t.not(process.getuid?.(), 0);
			return;
		}
		const root = join(folder, `${way} imported`);
		const storage = (await localStorageDriver(root, { calls }).open(undefined)) as LocalStorage;
		const inspect = async (path: string) => {
			const found: string[] = [];
			let inspected = 0;
			for await (const batch of storage.findUnusable(p(path))) {
				inspected += batch.inspected;
				for (const { location, type, reason } of batch.unusable) {
					const place = Buffer.from(location).toString('latin1').slice(root.length);
					const more =
						reason.kind === 'name'
							? `${reason.fault} ${reason.freeName}`
							: 'owner' in reason
								? `${reason.owner} ${(reason.mode & 0o777).toString(8)}`
								: '';
					found.push(`${type} ${reason.kind} ${place} ${more}`.trimEnd());
				}
			}
			return { found, inspected };
		};
		const { found, inspected } = await inspect('');
		t.deepEqual([...found].sort(), [
			'directory name /b\u00f6se encoding b\u00f6se',
			'directory unreadable /closed folder 0 700',
			'directory unreadable /no entry 0 744',
			'directory unwritable /unwritable 0 755',
			'file name /b\u00f6se/a\\b characters a_b',
			'file name /own/caf\u00e9.txt encoding caf\u00e9 (1).txt',
			'file name /own/two\nlines.txt characters two_lines.txt',
			'file unreadable /own/closed 65534 0',
			'file unreadable /own/of root 0 600',
			'file unreadable /unwritable/inside 0 600',
			'other link /link',
			'other special /pipe',
		]);
		// Contents first: the place of an item is right as long as the folder has its old name.
		const at = (start: string) => found.findIndex((line) => line.startsWith(start));
		t.true(at('file name /b\u00f6se/') < at('directory name /b\u00f6se'));
		// The root, its entries without the private folder, and those below.
		t.is(inspected, 1 + 8 + 5 + 1 + 1);
		t.deepEqual((await inspect('closed folder')).found, ['directory unreadable /closed folder 0 700']);
		await refused(t, 'notFound', () => inspect('missing'));
		await storage.close();
	});
}

/** The names of the files that a removal has left. */
const filesLeft = (root: string) =>
	readdirSync(join(root, '.stowage/trash-in-progress'), { recursive: true, withFileTypes: true })
		.filter((each) => each.isFile())
		.map(({ name }) => name)
		.sort();

test('what can’t be removed of a folder is left and reported, all else is removed, and the rest by the next start', async (t) => {
	const reports: NotRemoved[] = [];
	const { driver, root } = await localDriver(t, { onNotRemoved: (left) => reports.push(left) });
	const storage = await driver.open(undefined);
	for (let n = 0; n < 20; n++) {
		mkdirSync(join(root, `big/${n}/deep`), { recursive: true });
		for (const name of ['film', 'deep/film']) writeFileSync(join(root, `big/${n}`, name), 'x');
	}
	const closed = [join(root, 'big/3'), join(root, 'big/7/deep')];
	for (const folder of closed) {
		writeFileSync(join(folder, 'kept'), 'x');
		chmodSync(folder, 0o555);
	}
	let freed: Promise<void> | undefined;
	await storage.remove(p('big'), {
		onFreeing: (all) => {
			freed = all;
		},
	});
	await freed;
	t.deepEqual(filesLeft(root), ['film', 'film', 'kept', 'kept']);
	t.is(reports.length, 1, 'one report for all that is left');
	const { place, error, count } = reports[0] as NotRemoved;
	t.is(count, 5, 'a folder that is empty by then, too');
	t.regex(place, /^\/.*\/files\/\.stowage\/trash-in-progress\/[0-9a-f]{32}\/\d\/(deep\/)?(film|kept)$/);
	t.like(error, { code: 'EACCES' });
	await storage.close();

	const again = await driver.open(storage.rootId);
	await eventually(t, () => reports.length === 2);
	await again.close();
	t.is(filesLeft(root).length, 4);
	const [name = ''] = readdirSync(join(root, '.stowage/trash-in-progress'));
	for (const path of ['3', '7/deep']) chmodSync(join(root, '.stowage/trash-in-progress', name, path), 0o755);
	const last = await driver.open(storage.rootId);
	await eventually(t, () => readdirSync(join(root, '.stowage/trash-in-progress')).length === 0);
	await last.close();
	t.is(reports.length, 2);
});

test('files and folders are created with the umask, and the private folder for its owner only', async (t) => {
	const { driver, root: own } = await localDriver(t);
	const storage = await driver.open(undefined);
	await storage.makeDirectory(p('folder'));
	await put(storage, 'folder/file', 'x');
	await storage.copy(p('folder'), p('copy'));
	await storage.copy(p('folder/file'), p('file'));
	const modes = execFileSync('find', ['.', '-printf', '%P %m\n'], { cwd: own, encoding: 'utf8' });
	t.deepEqual(modes.trim().split('\n').slice(1).sort(), [
		'.stowage 700',
		'.stowage/root.json 600',
		'.stowage/staging 700',
		'.stowage/trash-in-progress 700',
		'copy 750',
		'copy/file 640',
		'file 640',
		'folder 750',
		'folder/file 640',
	]);
	await storage.close();
});

test('a copy of a set-user-id program is not set-user-id', async (t) => {
	const { driver, root: own } = await localDriver(t);
	const storage = await driver.open(undefined);
	writeFileSync(join(own, 'program'), 'x');
	chmodSync(join(own, 'program'), 0o4755);
	await storage.copy(p('program'), p('copy'));
	t.is(execFileSync('stat', ['-c', '%a', join(own, 'copy')], { encoding: 'utf8' }).trim(), '640');
	await storage.close();
});
