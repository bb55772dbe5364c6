import { mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { StorageProvider } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { loadSystemCalls } from '../src/system/loadSystemCalls.js';
import { nodeCalls } from '../src/system/nodeCalls.js';
import { eventually, localStorage, names, p, plant, put, readText, refused, run } from './steps.js';
import { startSwapping } from './swapping.js';

const ways = {
	'native calls': await loadSystemCalls(),
	'calls of Node only': nodeCalls,
	'real paths': { ...nodeCalls, namesByDescriptor: false },
};

const canary = 'must not be seen';

/** A root with a home full of symbolic links, and their targets outside. */
async function plantLinks(t: ExecutionContext, way: keyof typeof ways) {
	const opened = await localStorage(t, { calls: ways[way] });
	const outside = join(opened.folder, 'outside');
	await plant(outside, { secret: canary, 'folder/deep': canary });
	await plant(opened.root, { 'home/inside/file': 'inside', 'home/plain': 'inside' });
	const links = {
		toFile: join(outside, 'secret'),
		toFolder: outside,
		relative: '../../outside',
		dangling: join(outside, 'not there yet'),
		loop: 'loop',
		loopFolder: '.',
		toInside: 'inside',
		toInsideFile: 'plain',
		toPrivate: '../.stowage',
	};
	for (const [name, target] of Object.entries(links)) await symlink(target, join(opened.root, 'home', name));
	const before = await snapshot(outside);
	const assertUntouched = async () => t.deepEqual(await snapshot(outside), before);
	return { ...opened, outside, links, assertUntouched };
}

async function snapshot(folder: string): Promise<Record<string, string>> {
	const contents: Record<string, string> = {};
	for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
		const path = join(entry.parentPath, entry.name);
		contents[path] = entry.isFile() ? await readFile(path, 'utf8') : 'folder';
	}
	return contents;
}

for (const way of Object.keys(ways) as (keyof typeof ways)[]) {
	test(`symbolic links are neither listed nor counted (${way})`, async (t) => {
		const { storage } = await plantLinks(t, way);
		t.deepEqual(await names(storage, 'home'), ['inside', 'plain']);
		t.is(await storage.count(p('home')), 2);
	});

	test(`every call for a symbolic link or a path through it fails as notFound (${way})`, async (t) => {
		const { storage, links, assertUntouched } = await plantLinks(t, way);
		const behind = ['secret', 'folder', 'folder/deep', 'file', 'plain', 'root.json', 'staging', 'new'];
		for (const link of Object.keys(links)) {
			for (const path of [link, ...behind.map((name) => `${link}/${name}`)]) {
				await assertNotFound(t, storage, `home/${path}`);
			}
		}
		await assertUntouched();
	});

	test(`nothing is written through a symbolic link or in place of it (${way})`, async (t) => {
		const { storage, root, links, assertUntouched } = await plantLinks(t, way);
		for (const [link, target] of Object.entries(links)) {
			const taken = `home/${link}`;
			const behind = `home/${link}/new`;
			const staged = await storage.stage();
			await refused(t, 'alreadyExists', () => staged.commit(p(taken)));
			await refused(t, 'alreadyExists', () => storage.makeDirectory(p(taken)));
			await refused(t, 'alreadyExists', () => storage.move(p('home/plain'), p(taken)));
			await refused(t, 'alreadyExists', () => storage.copy(p('home/plain'), p(taken)));
			await refused(t, 'notFound', () => staged.commit(p(behind)));
			await refused(t, 'notFound', () => storage.makeDirectory(p(behind)));
			await refused(t, 'notFound', () => storage.move(p('home/plain'), p(behind)));
			await refused(t, 'notFound', () => storage.copy(p('home/plain'), p(behind)));
			t.is(await readlink(join(root, taken)), target);
		}
		await assertUntouched();
		t.deepEqual(await names(storage, 'home'), ['inside', 'plain']);
	});

	test(`a folder is copied, moved and removed without the targets of its symbolic links (${way})`, async (t) => {
		const { storage, root, assertUntouched } = await plantLinks(t, way);
		await storage.copy(p('home'), p('copy'));
		t.deepEqual((await readdir(join(root, 'copy'))).sort(), ['inside', 'plain']);
		await storage.move(p('home'), p('moved'));
		t.is((await readdir(join(root, 'moved'))).length, 11);
		await storage.remove(p('moved'));
		await eventually(t, async () => (await readdir(join(root, '.stowage/trash-in-progress'))).length === 0);
		await assertUntouched();
		t.deepEqual(await names(storage, ''), ['copy']);
	});

	test(`every call for a pipe or a socket fails as notFound at once (${way})`, async (t) => {
		const { storage, root } = await localStorage(t, { calls: ways[way] });
		await mkdir(join(root, 'home'));
		await run('mkfifo', [join(root, 'home/pipe')]);
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(join(root, 'home/socket'), resolve));
		for (const name of ['pipe', 'socket', 'pipe/below']) await assertNotFound(t, storage, `home/${name}`);
		t.deepEqual(await names(storage, 'home'), []);
		t.is(await storage.count(p('home')), 0);
		await put(storage, 'home/file', 'x');
		await storage.copy(p('home'), p('copy'));
		t.deepEqual(await names(storage, 'copy'), ['file']);
		await storage.remove(p('home'));
		// Opening a pipe that has no writer would have blocked forever.
		server.close();
	});

	test(`every call for the private folder fails as notFound (${way})`, async (t) => {
		const { storage, root } = await localStorage(t, { calls: ways[way] });
		await put(storage, 'file', 'x');
		const staged = await storage.stage();
		await staged.append((async function* () {})(), 0);
		const before = await readFile(join(root, '.stowage/root.json'), 'utf8');
		for (const spelling of [
			'.stowage',
			'.STOWAGE',
			'.Stowage',
			'.stowage.',
			'.stowage ',
			'．stowage',
			'.ſtowage',
			'.sto\u00ADwage\u200D',
		]) {
			for (const path of ['', '/root.json', '/staging', `/staging/${staged.id.slice(0, 32)}`, '/trash-in-progress']) {
				await assertNotFound(t, storage, spelling + path);
				await refused(t, 'notFound', () => storage.makeDirectory(p(spelling + path)));
				await refused(t, 'notFound', () => staged.commit(p(spelling + path)));
				await refused(t, 'notFound', () => storage.move(p('file'), p(spelling + path)));
				await refused(t, 'notFound', () => storage.copy(p('file'), p(spelling + path)));
			}
		}
		t.deepEqual(await names(storage, ''), ['file']);
		t.is(await storage.count(p('')), 1);
		t.is(await readFile(join(root, '.stowage/root.json'), 'utf8'), before);
	});

	// A real path may lead elsewhere between two calls: this way only makes the race hard to win.
	if (way === 'real paths') continue;

	test(`a folder that is swapped with a symbolic link during calls reveals and changes nothing outside (${way})`, async (t) => {
		const { storage, root, outside, assertUntouched } = await plantLinks(t, way);
		await plant(root, { 'race/door/secret': 'inside', 'race/door/folder/deep': 'inside' });
		await symlink(outside, join(root, 'race/link'));
		const stopSwapping = await startSwapping(t, join(root, 'race'));
		const seen = new Set<string>();
		const end = Date.now() + 2000;
		// On a slow machine the folder itself may be met seldom.
		const isOver = () => Date.now() > end && seen.has('inside');
		await Promise.all([
			repeat(isOver, async () => seen.add(await readText(storage, 'race/door/secret'))),
			repeat(isOver, async () => seen.add(await readText(storage, 'race/door/folder/deep'))),
			repeat(isOver, async () => {
				for (const name of await names(storage, 'race/door')) seen.add(name);
			}),
			repeat(isOver, () => put(storage, `race/door/new ${Math.random()}`, 'written')),
			repeat(isOver, () => storage.makeDirectory(p(`race/door/made ${Math.random()}`))),
			repeat(isOver, async () => {
				const copy = p(`copy ${Math.random()}`);
				await storage.copy(p('race/door'), copy);
				seen.add(await readText(storage, `${copy}/secret`));
				await storage.remove(copy);
			}),
			repeat(isOver, async () => {
				await storage.makeDirectory(p('race/door/victim'));
				await storage.remove(p('race/door/victim'));
			}),
		]);
		await stopSwapping();
		t.true(seen.has('inside'));
		t.false(seen.has(canary));
		await assertUntouched();
	});
}

test('a symbolic link in place of the staging folder is refused', async (t) => {
	const { storage, root, folder } = await localStorage(t);
	await mkdir(join(folder, 'outside'));
	const staged = await storage.stage();
	await run('rm', ['-rf', join(root, '.stowage/staging')]);
	await symlink(join(folder, 'outside'), join(root, '.stowage/staging'));
	await t.throwsAsync(storage.stage());
	await t.throwsAsync(staged.commit(p('a')));
	t.deepEqual(await readdir(join(folder, 'outside')), []);
});

test('a staged file that was swapped for a link or another file is refused', async (t) => {
	const { storage, root, folder } = await localStorage(t);
	await writeFile(join(folder, 'outside'), canary);
	for (const swap of [
		(path: string) => symlink(join(folder, 'outside'), path),
		(path: string) => writeFile(path, 'another file'),
	]) {
		const staged = await storage.stage();
		const path = join(root, '.stowage/staging', staged.id.slice(0, 32));
		await run('mv', [path, `${path}.away`]);
		await swap(path);
		await refused(t, 'notFound', () => staged.append((async function* () {})(), 0));
		await refused(t, 'notFound', () => staged.commit(p('a')));
	}
	t.is(await readFile(join(folder, 'outside'), 'utf8'), canary);
	t.deepEqual(await names(storage, ''), []);
});

async function assertNotFound(t: ExecutionContext, storage: StorageProvider, path: string): Promise<void> {
	await refused(t, 'notFound', () => names(storage, path));
	await refused(t, 'notFound', () => storage.count(p(path)));
	await refused(t, 'notFound', () => storage.stat(p(path)));
	await refused(t, 'notFound', () => storage.open(p(path)));
	await refused(t, 'notFound', () => storage.move(p(path), p('elsewhere')));
	await refused(t, 'notFound', () => storage.copy(p(path), p('elsewhere')));
	await refused(t, 'notFound', () => storage.remove(p(path)));
}

/** Repeats the work. Single failures are in the nature of the race. */
async function repeat(isOver: () => boolean, work: () => Promise<unknown>): Promise<void> {
	while (!isOver()) {
		await work().catch(() => {});
		await new Promise((resolve) => setImmediate(resolve));
	}
}
