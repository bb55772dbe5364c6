import { constants } from 'node:os';
import { storageSuite } from '@stowage/conformance';
import test from 'ava';
import { nodeCalls } from '../src/system/nodeCalls.js';
import { systemError } from '../src/system/systemErrors.js';
import { coldCalls } from './coldCalls.js';
import { best, localDriver, localStorage, names, p, put, readText, refused } from './steps.js';

storageSuite(test, 'LocalStorage by Node alone', (t) => localDriver(t, { calls: nodeCalls }));
storageSuite(test, 'LocalStorage on a cold disk', (t) => localDriver(t, { calls: coldCalls(best) }));

test('where koffi and the kernel can, the strong path is taken', (t) => {
	if (process.platform === 'linux') t.not(best, nodeCalls);
	else t.is(best, nodeCalls);
});

for (const code of ['EINVAL', 'ENOSYS', 'EPERM'] as const) {
	test(`a file system that answers ${code} to a rename that must not replace is served all the same`, async (t) => {
		const calls = {
			...best,
			async renameNoReplace() {
				throw systemError('renameat2', constants.errno[code]);
			},
		};
		const { storage } = await localStorage(t, { calls });
		await storage.makeDirectory(p('folder'));
		await put(storage, 'file', 'mine');
		await refused(t, 'alreadyExists', () => put(storage, 'file', 'theirs'));
		await refused(t, 'alreadyExists', () => storage.move(p('folder'), p('file')));
		await storage.move(p('file'), p('folder/moved'));
		await storage.copy(p('folder'), p('copy'));
		t.deepEqual(await names(storage, ''), ['copy', 'folder']);
		t.is(await readText(storage, 'copy/moved'), 'mine');
	});
}
