import { constants } from 'node:os';
import { storageSuite } from '@stowage/conformance';
import { hasSharing } from '@stowage/plugin-api';
import test from 'ava';
import { hasOwnLocksOnly } from '../src/root/sharingFaults.js';
import { nodeCalls } from '../src/system/nodeCalls.js';
import type { SystemCalls } from '../src/system/systemCalls.js';
import { systemError } from '../src/system/systemErrors.js';
import { coldCalls } from './coldCalls.js';
import { best, localDriver, localStorage, names, p, put, readText, refused } from './steps.js';

storageSuite(test, 'LocalStorage with calls of Node only', (t) => localDriver(t, { calls: nodeCalls }));
storageSuite(test, 'LocalStorage with a cold cache', (t) => localDriver(t, { calls: coldCalls(best) }));

test('native calls are used where koffi and the kernel support them', (t) => {
	if (process.platform === 'linux') t.not(best, nodeCalls);
	else t.is(best, nodeCalls);
});

test('a root says why several machines must not change it at once', async (t) => {
	const faults = async (calls: SystemCalls) => {
		const { storage } = await localStorage(t, { calls });
		const found = hasSharing(storage) ? await storage.sharingFaults() : undefined;
		t.deepEqual(await names(storage, ''), []);
		return found;
	};
	t.deepEqual(await faults(best), []);
	t.deepEqual(await faults(nodeCalls), [
		'A rename may replace what has the name: its file system can’t refuse that.',
		'Its file system has no locks.',
	]);
	t.deepEqual(await faults({ ...best, tryLock: () => true }), ['Its file system has no locks.']);
});

test('an NFS mount with locks of its own machine is recognized', (t) => {
	const mounts = (options: string, type = 'nfs4') =>
		`36 35 0:44 / /mnt/files rw,noatime shared:1 - ${type} server:/files rw,vers=4.2,${options},addr=10.0.0.1\n`;
	const device = 44n;
	t.false(hasOwnLocksOnly(mounts('local_lock=none'), device));
	t.true(hasOwnLocksOnly(mounts('local_lock=flock'), device));
	t.true(hasOwnLocksOnly(mounts('nolock', 'nfs'), device));
	t.false(hasOwnLocksOnly(mounts('local_lock=all'), 45n));
	t.false(hasOwnLocksOnly(mounts('local_lock=all', 'fuse'), device));
});

for (const code of ['EINVAL', 'ENOSYS', 'EPERM'] as const) {
	test(`a file system whose rename without replacing fails with ${code} is supported`, async (t) => {
		const calls = {
			...best,
			async renameNoReplace() {
				throw systemError('renameat2', constants.errno[code]);
			},
		};
		const { storage } = await localStorage(t, { calls });
		await storage.makeDirectory(p('folder'));
		await put(storage, 'file', 'mine');
		await refused(t, 'alreadyExists', () => put(storage, 'file', 'another'));
		await refused(t, 'alreadyExists', () => storage.move(p('folder'), p('file')));
		await storage.move(p('file'), p('folder/moved'));
		await storage.copy(p('folder'), p('copy'));
		t.deepEqual(await names(storage, ''), ['copy', 'folder']);
		t.is(await readText(storage, 'copy/moved'), 'mine');
	});
}
