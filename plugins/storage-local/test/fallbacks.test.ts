import { constants } from 'node:os';
import { storageSuite } from '@stowage/conformance';
import test from 'ava';
import { nodeCalls } from '../src/system/nodeCalls.js';
import { systemError } from '../src/system/systemErrors.js';
import { coldCalls } from './coldCalls.js';
import { best, localDriver, localStorage, names, p, put, readText, refused } from './steps.js';

storageSuite(test, 'LocalStorage with calls of Node only', (t) => localDriver(t, { calls: nodeCalls }));
storageSuite(test, 'LocalStorage with a cold cache', (t) => localDriver(t, { calls: coldCalls(best) }));

test('native calls are used where koffi and the kernel support them', (t) => {
	if (process.platform === 'linux') t.not(best, nodeCalls);
	else t.is(best, nodeCalls);
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
