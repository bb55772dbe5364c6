import { readlinkSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import type { LocalStorage } from '../src/LocalStorage.js';
import { nodeCalls } from '../src/system/nodeCalls.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { best, eventually, localStorage, names, p, plant, refused, run } from './steps.js';

const child = fileURLToPath(new URL('mountChild.js', import.meta.url));
const removed = '.stowage/trash-in-progress';

/** Runs a shell command in which things can be mounted that nobody else sees. */
const apart = (command: string, ...words: string[]) => run('unshare', ['-rm', 'sh', '-ec', command, 'sh', ...words]);

test('what is mounted in a folder is not removed with it', async (t) => {
	const { storage, root, folder } = await localStorage(t);
	await plant(folder, { 'family/deep/album/1': 'one', 'family/2': 'two', 'single file': 'three' });
	await plant(root, { 'home/stuff/own': 'x', 'home/plain/own': 'x', 'home/stuff/in a place/family/.keep': '' });
	await plant(root, { [`${removed}/a/deep/own`]: 'x', [`${removed}/a/deep/mounted file`]: '' });
	// Deeper than a removal goes with all folders open.
	const deep = `a/deep/${Array.from({ length: 80 }, (_, n) => n).join('/')}/family`;
	for (const name of ['a/deep/family', deep]) await mkdir(join(root, removed, name), { recursive: true });
	await storage.close();
	const mounts = [
		['family', `files/home/stuff/in a place/family`],
		['family', `files/${removed}/a/deep/family`],
		['family', `files/${removed}/${deep}`],
		['single file', `files/${removed}/a/deep/mounted file`],
	].flat();
	const command = `n=$1; root=$2; id=$3; node=$4; child=$5; shift 5
		while [ $# -gt 0 ]; do mount --bind "$n/$1" "$n/$2"; shift 2; done; exec "$node" "$child" "$root" "$id"`;
	try {
		await apart('mount --bind "$1" "$1"', folder);
	} catch (error) {
		t.log(`NOT TESTED WITH REAL MOUNTS, which this process may not make: ${error}`);
		t.pass();
		return;
	}
	const words = [folder, root, storage.rootId, process.execPath, child, ...mounts];
	const { left, refused } = JSON.parse((await apart(command, ...words)).stdout);
	const says = (what: string) =>
		`${what} is mounted from another place, where its files may be in use. Unmount it first: until then neither it nor a folder around it can be removed.`;
	t.deepEqual(refused, [
		`home/stuff: ${says('stuff/in a place/family')}`,
		`home/stuff/in a place: ${says('in a place/family')}`,
		`home: ${says('home/stuff/in a place/family')}`,
		'home/plain: removed',
	]);
	t.true(left.includes(`/${removed}/a/deep/family`));
	t.true(left.includes(`/${removed}/a/deep/mounted file`));
	t.true(new Set(left.filter((place: string) => place.endsWith('/family'))).size > 1);
	t.is(await readFile(join(folder, 'family/deep/album/1'), 'utf8'), 'one');
	t.is(await readFile(join(folder, 'family/2'), 'utf8'), 'two');
	t.is(await readFile(join(folder, 'single file'), 'utf8'), 'three');
	t.deepEqual((await readdir(join(root, removed, 'a/deep'))).sort(), ['family', 'mounted file']);
	t.deepEqual(await readdir(join(root, 'home')), ['stuff']);
});

for (const [way, calls] of Object.entries({ 'native calls': best, 'node calls': nodeCalls })) {
	test(`a folder with something mounted in it is removed once that is unmounted (${way})`, async (t) => {
		const mounted = new Set<string>();
		const listed: SystemCalls = { ...calls, mountPoints: async () => [...mounted] };
		const { storage, root } = await localStorage(t, { calls: listed });
		await plant(root, { 'a/b/c/1': 'x', 'ab/1': 'x' });
		mounted.add(join(root, 'a/b'));
		for (const path of ['a', 'a/b']) {
			await refused(t, 'conflict', () => storage.remove(p(path)));
			await refused(t, 'conflict', () => (storage as LocalStorage).assertUnmounted(p(path)));
		}
		await (storage as LocalStorage).assertUnmounted(p('away/at all'));
		await storage.remove(p('a/b/c'));
		await storage.remove(p('ab'));
		mounted.clear();
		await storage.remove(p('a'));
		t.deepEqual(await names(storage, ''), []);
	});

	test(`what is mounted while its folder is being removed is left (${way})`, async (t) => {
		const mountOf = (fd: number) =>
			readlinkSync(`/proc/self/fd/${fd}`).includes('/mounted') ? 'another' : calls.mountOf(fd);
		const { storage, root } = await localStorage(t, { calls: { ...calls, mountOf } });
		await plant(root, { 'a/b/mounted/1': 'x', 'a/own/2': 'x', 'a/b/3': 'x' });
		await storage.remove(p('a'));
		/** Undefined where a folder has vanished while it was read. */
		const filesLeft = () =>
			readdir(join(root, removed), { recursive: true, withFileTypes: true }).then(
				(all) => all.filter((each) => each.isFile()).map(({ name }) => name),
				() => undefined,
			);
		await eventually(t, async () => (await filesLeft())?.length === 1);
		await storage.close();
		t.deepEqual(await filesLeft(), ['1']);
	});
}
