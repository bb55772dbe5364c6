import { isAbsolute } from 'node:path';
import { Failure, isFailure, type StorageDriver } from '@stowage/plugin-api';
import { LocalStorage } from './LocalStorage.js';
import { Disk, type NotRemoved } from './root/Disk.js';
import { claimRoot, findRootId } from './root/marker.js';
import { Root } from './root/Root.js';
import { loadSystemCalls } from './system/loadSystemCalls.js';
import type { SystemCalls } from './system/systemCalls.js';
import { systemErrorCode } from './system/systemErrors.js';

export interface LocalStorageOptions {
	/** The operating system's calls to use; by default the best that work here. */
	calls?: SystemCalls;
	/** Called with the path of what is mounted in a tree that was removed, and is left. */
	onMountLeft?: (path: string) => void;
	/** Called once a removal has ended that had to leave something. */
	onNotRemoved?: (left: NotRemoved) => void;
}

/** A storage in the folder `path` of this machine, which must be absolute. */
export function localStorageDriver(path: string, options: LocalStorageOptions = {}): StorageDriver {
	const systemCalls = async () => options.calls ?? (await loadSystemCalls());
	return {
		folder: path,
		async open(knownId, location = path) {
			assertAbsolute(location);
			const calls = await systemCalls();
			const rootId = knownId ?? (await claimRoot(location, calls).catch((error) => throwUnusable(error, location)));
			const root = new Root(location, rootId, calls);
			const storage = new LocalStorage(new Disk(root, calls, options.onMountLeft, options.onNotRemoved));
			await storage.prepare();
			return storage;
		},
		async identify(location) {
			assertAbsolute(location);
			return findRootId(location, await systemCalls()).catch((error) => throwUnreadable(error, location));
		},
	};
}

function assertAbsolute(location: string): void {
	if (!isAbsolute(location))
		throw new Failure('invalid', `A storage root lies in an absolute path, not in ${location}.`);
}

function throwUnusable(cause: unknown, location: string): never {
	// A marker that can't be read has its own sentence.
	const code = isFailure(cause) ? undefined : systemErrorCode(cause);
	if (code === undefined) throw cause;
	const isNoFolder = noFolder.includes(code);
	throw new Failure(
		// A disk mounted later would not correct this: the configuration or the folder must be changed.
		isNoFolder ? 'invalid' : 'unavailable',
		`${location} can't become a storage root, for ${reasonOf(code)}: name a folder that the server's user may make and write to.`,
		{ cause },
	);
}

function throwUnreadable(cause: unknown, location: string): never {
	const code = isFailure(cause) ? undefined : systemErrorCode(cause);
	if (code === undefined) throw cause;
	throw new Failure('unavailable', `${location} can't be read, for ${reasonOf(code)}.`, { cause });
}

/** The system's error for a file in the place of a folder. */
const noFolder = ['EEXIST', 'ENOTDIR'];

function reasonOf(code: string): string {
	return noFolder.includes(code) ? 'it is no folder' : `the system says ${code}`;
}
