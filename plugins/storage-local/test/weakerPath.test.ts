import { constants } from 'node:os';
import { storageSuite } from '@stowage/conformance';
import test from 'ava';
import { systemFault } from '../src/faults.js';
import { nodeCalls } from '../src/nodeCalls.js';
import { loadSystemCalls, type SystemCalls } from '../src/systemCalls.js';
import { localDriver } from './tools.js';

const best = await loadSystemCalls();

/** A file system that does not know how to rename without replacing. */
const noRenameFlags: SystemCalls = {
	...best,
	async renameNoReplace() {
		throw systemFault('renameat2', constants.errno.EINVAL);
	},
};

/** A system where a descriptor has no path. */
const realPaths: SystemCalls = { ...nodeCalls, namesByDescriptor: false };

storageSuite(test, 'LocalStorage without rename flags', (t) => localDriver(t, { calls: noRenameFlags }));
storageSuite(test, 'LocalStorage by Node alone', (t) => localDriver(t, { calls: nodeCalls }));
storageSuite(test, 'LocalStorage by real paths', (t) => localDriver(t, { calls: realPaths }));

test('where koffi and the kernel can, the strong path is taken', (t) => {
	if (process.platform === 'linux') t.not(best, nodeCalls);
	else t.is(best, nodeCalls);
});
