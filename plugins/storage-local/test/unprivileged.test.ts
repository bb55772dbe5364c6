import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storageSuite } from '@stowage/conformance';
import { localStorageDriver } from '@stowage/storage-local';
import test from 'ava';
import type { LocalStorage } from '../src/LocalStorage.js';
import { coldCalls } from './coldCalls.js';
import { best, isRoot, localDriver, names, p, put, readText, refused } from './steps.js';

const nobody = 65534;

/** From here on this process has the rights of nobody, until it removes what root planted. */
const folder = mkdtempSync(join(tmpdir(), 'stowage-unprivileged-'));
const ways = { 'at best': best, 'on a cold disk': coldCalls(best) };
if (isRoot) {
	for (const way of Object.keys(ways)) plantForeignFiles(join(folder, way));
	chownSync(folder, nobody, nobody);
	process.setgroups?.([]);
	process.setegid?.(nobody);
	process.seteuid?.(nobody);
}
process.umask(0o027);

/** What root made in the tree, as another program's user would: readable, unreadable, in folders of its own and in ours. */
function plantForeignFiles(root: string): void {
	mkdirSync(join(root, 'ours'), { recursive: true });
	for (const ours of [root, join(root, 'ours')]) chownSync(ours, nobody, nobody);
	for (const place of ['ours', 'theirs', 'theirs/closed', 'theirs/no entry']) {
		mkdirSync(join(root, place), { recursive: true });
		writeFileSync(join(root, place, 'readable'), 'theirs', { mode: 0o644 });
		writeFileSync(join(root, place, 'unreadable'), 'theirs', { mode: 0o600 });
	}
	chmodSync(join(root, 'theirs/closed'), 0o700);
	// Its names may be read, but nothing that they stand for.
	chmodSync(join(root, 'theirs/no entry'), 0o744);
}

async function surveyed(storage: LocalStorage, path: string): Promise<{ items: string[]; leftOut: number }> {
	const found = { items: [] as string[], leftOut: 0 };
	for await (const { items, leftOut } of storage.survey(p(path))) {
		found.items.push(...items.map(({ name }) => name));
		found.leftOut += leftOut;
	}
	return found;
}

test.after.always(() => {
	if (isRoot) process.seteuid?.(0);
	rmSync(folder, { recursive: true, force: true });
});

storageSuite(test, 'LocalStorage without rights', (t) => localDriver(t));

for (const [way, calls] of Object.entries(ways)) {
	test(`files of another owner are read as far as they may be (${way})`, async (t) => {
		if (!isRoot) {
			t.log('not run as root: nobody else to own a file');
			t.not(process.getuid?.(), 0);
			return;
		}
		t.is(process.geteuid?.(), nobody);
		const root = join(folder, way);
		const storage = (await localStorageDriver(root, { calls }).open(undefined)) as LocalStorage;
		t.deepEqual(await names(storage, 'theirs'), ['closed', 'no entry', 'readable', 'unreadable']);
		t.is(await readText(storage, 'theirs/readable'), 'theirs');
		t.deepEqual(await surveyed(storage, 'theirs'), { items: ['readable'], leftOut: 3 });
		await refused(t, 'forbidden', () => storage.open(p('theirs/unreadable')));
		await refused(t, 'forbidden', () => names(storage, 'theirs/closed'));
		await refused(t, 'forbidden', () => names(storage, 'theirs/no entry'));
		await refused(t, 'forbidden', () => surveyed(storage, 'theirs/no entry'));
		await refused(t, 'forbidden', () => storage.count(p('theirs/closed')));
		await refused(t, 'forbidden', () => storage.stat(p('theirs/closed/readable')));
		await refused(t, 'forbidden', () => storage.move(p('theirs/readable'), p('mine')));
		await refused(t, 'forbidden', () => storage.remove(p('theirs/readable')));
		await refused(t, 'forbidden', () => storage.remove(p('theirs')));
		await refused(t, 'forbidden', () => storage.makeDirectory(p('theirs/new')));
		await refused(t, 'forbidden', () => put(storage, 'theirs/new', 'x'));
		await refused(t, 'forbidden', () => storage.copy(p('theirs'), p('copy')));
		t.deepEqual(await names(storage, ''), ['ours', 'theirs']);
		t.deepEqual(await names(storage, 'theirs'), ['closed', 'no entry', 'readable', 'unreadable']);

		// In a folder of ours they may be moved and removed, whoever owns them.
		await storage.move(p('ours/unreadable'), p('ours/moved'));
		t.is((await storage.stat(p('ours/moved'))).size, 6);
		await storage.copy(p('ours/readable'), p('copy'));
		t.is(await readText(storage, 'copy'), 'theirs');
		await storage.remove(p('ours/moved'));
		t.deepEqual(await names(storage, 'ours'), ['readable']);
		t.deepEqual(
			readdirSync(join(root, '.stowage/staging')).filter((name) => name.startsWith('scratch-')),
			[],
		);
		await storage.close();
	});
}

test('files and folders are made as the umask says, the private folder for nobody else', async (t) => {
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

test('a copy of a program with set-user-id is no such program', async (t) => {
	const { driver, root: own } = await localDriver(t);
	const storage = await driver.open(undefined);
	writeFileSync(join(own, 'program'), 'x');
	chmodSync(join(own, 'program'), 0o4755);
	await storage.copy(p('program'), p('copy'));
	t.is(execFileSync('stat', ['-c', '%a', join(own, 'copy')], { encoding: 'utf8' }).trim(), '640');
	await storage.close();
});
