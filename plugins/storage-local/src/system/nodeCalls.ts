import { constants as fileConstants } from 'node:fs';
import { constants } from 'node:os';
import { batchesOf } from '@stowage/rules';
import { access, readdir } from './descriptors.js';
import { mountOf, mountPoints } from './mounts.js';
import type { RawName } from './rawNames.js';
import type { SystemCalls } from './systemCalls.js';
import { isAllowed, systemError } from './systemErrors.js';

const { R_OK, W_OK, X_OK } = fileConstants;

/** Names in a batch if a folder can only be read as a whole. */
const batchSize = 1000;

/** The calls that work with node:fs alone. */
export const nodeCalls: SystemCalls = {
	namesByDescriptor: process.platform === 'linux',
	async renameNoReplace() {
		throw systemError('renameat2', constants.errno.ENOSYS);
	},
	syncFileSystem: async () => false,
	// A sync would do it, but one that fails in the background consumes the error: the sync that a caller waits for would then succeed over
	// lost bytes.
	async startWriteback() {},
	copyRange: async () => undefined,
	async *readNames(folder) {
		// As bytes and without types: Node asks for a type that it does not know by the decoded name, which may be no name at all.
		const names = await readdir(folder.path, { encoding: 'buffer' });
		for (const batch of batchesOf(names, batchSize))
			yield batch.map((name) => ({ name: name.toString('latin1') as RawName, type: 'unknown' }));
	},
	openCached: () => undefined,
	openRootCached: () => undefined,
	readCached: () => 0,
	statCached: () => undefined,
	ownershipCached: () => undefined,
	mountOf,
	mountPoints,
	/** Checks with the real user id of the process, since Node has no call for the effective one. */
	mayRead: (folder, name, type) => isAllowed(access(folder.at(name), type === 'file' ? R_OK : R_OK | X_OK)),
	/** Checks with the real user id as well. */
	mayChange: (folder) => isAllowed(access(folder.at('.'), W_OK | X_OK)).catch(() => true),
};
