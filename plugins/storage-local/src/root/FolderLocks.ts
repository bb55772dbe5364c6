import type { Folder } from '../system/Folder.js';
import type { SystemCalls } from '../system/systemCalls.js';
import { folderKey } from './folderKey.js';

/**
 * Serializes the changes of names in a folder. Only needed where a name can't be taken atomically;
 * everywhere else the system call is atomic, and there is no wait here.
 */
export class FolderLocks {
	/** Set for good when the weaker path was first taken. */
	isNeeded = false;
	readonly #last = new Map<string, Promise<void>>();

	constructor(readonly calls: SystemCalls) {}

	/** Runs `work` while no other call in this process changes these folders. */
	async hold<T>(folders: readonly Folder[], work: () => Promise<T>): Promise<T> {
		if (!this.isNeeded) return work();
		const keys = [...new Set(folders.map((folder) => folderKey(this.calls, folder)))];
		const before = keys.map((key) => this.#last.get(key));
		let release = () => {};
		const turn = new Promise<void>((resolve) => {
			release = resolve;
		});
		// All taken at once, so two callers that need the same pair never wait for each other.
		for (const key of keys) this.#last.set(key, turn);
		await Promise.all(before);
		try {
			return await work();
		} finally {
			release();
			for (const key of keys) if (this.#last.get(key) === turn) this.#last.delete(key);
		}
	}
}
