import { type Folder, folderKey } from '../system/openFolder.js';
import type { SystemCalls } from '../system/systemCalls.js';

/** Serializes what calls of this process do in the same folder. */
export class FolderLocks {
	/**
	 * Whether changes of names are serialized: only where a name can't be taken atomically. Everywhere else the system call is atomic, and
	 * there is no wait. Set for good at the first use of the fallback.
	 */
	isNeeded = false;
	readonly #last = new Map<string, Promise<void>>();

	constructor(readonly calls: SystemCalls) {}

	/** Runs `work` while no other call in this process changes these folders. */
	async hold<T>(folders: readonly Folder[], work: () => Promise<T>): Promise<T> {
		if (!this.isNeeded) return work();
		return this.#serialize([...new Set(folders.map((folder) => folderKey(this.calls, folder)))], work);
	}

	/**
	 * Runs `work` while no other call in this process searches for an alternative to this name in the folder. All of them would find the
	 * same one, and all but one would try the next: a thousand files of one name would cost half a million attempts. `work` may call
	 * `hold`, and not the other way round.
	 */
	holdName<T>(folder: Folder, name: string, work: () => Promise<T>): Promise<T> {
		return this.#serialize([`${folderKey(this.calls, folder)}/${name}`], work);
	}

	async #serialize<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
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
