import { fsync } from '../system/descriptors.js';
import { type Folder, folderKey } from '../system/openFolder.js';
import type { SystemCalls } from '../system/systemCalls.js';

interface Round {
	readonly running: Promise<void>;
	/** The sync that begins when this one has ended, for all calls made meanwhile. */
	next: Promise<void> | undefined;
}

/** Syncs folders: concurrent calls for the same one share a sync that began after they were made. */
export class FolderSyncs {
	readonly #rounds = new Map<string, Round>();

	constructor(readonly calls: SystemCalls) {}

	/** Resolves when every name that was in the folder at the time of the call would survive a power cut. */
	sync(folder: Folder): Promise<void> {
		const key = folderKey(this.calls, folder);
		const round = this.#rounds.get(key);
		if (round === undefined) return this.#begin(key, folder);
		// The running one may have begun before the caller's rename, so it proves nothing for it.
		round.next ??= this.#syncNext(key, folder, round);
		return round.next;
	}

	/** Syncs several folders at once: most file systems write what concerns them all together. Settles when each of them has. */
	async syncAll(folders: readonly Folder[]): Promise<void> {
		const settled = await Promise.allSettled(folders.map((folder) => this.sync(folder)));
		for (const each of settled) if (each.status === 'rejected') throw each.reason;
	}

	protected syncNow(folder: Folder): Promise<void> {
		return fsync(folder.fd);
	}

	#begin(key: string, folder: Folder): Promise<void> {
		const running = this.syncNow(folder);
		const round: Round = { running, next: undefined };
		this.#rounds.set(key, round);
		const end = () => {
			if (this.#rounds.get(key) === round && round.next === undefined) this.#rounds.delete(key);
		};
		running.then(end, end);
		return running;
	}

	async #syncNext(key: string, folder: Folder, round: Round): Promise<void> {
		try {
			// Its failure is thrown to its callers.
			await round.running.catch(() => {});
			// The first caller lends its folder: it stays open until this promise settles.
			await this.#begin(key, folder);
		} finally {
			if (this.#rounds.get(key) === round) this.#rounds.delete(key);
		}
	}
}
