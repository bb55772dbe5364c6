import type { StorageProvider, Watch } from '@stowage/plugin-api';
import { parentPath, type StoragePath } from '@stowage/rules';
import type { Log } from '../../log.js';
import { FolderFeed } from './FolderFeed.js';

/** What tells other processes of folders that this one has changed. */
interface Relay {
	changedHere(folder: StoragePath): void;
	/** Somebody follows a folder whose storage tells of no changes. */
	wake(): void;
}

/** News of folders for whoever follows them: one feed a folder, whatever the number of followers. */
export class FolderFeeds {
	readonly #feeds = new Map<StoragePath, FolderFeed>();

	constructor(
		readonly storage: () => StorageProvider,
		readonly log: Log,
		readonly relay?: Relay,
	) {}

	/** Calls `onChange` when the folder's rows may have changed, also when it goes away or appears. When it resolves no later change is missed. */
	async subscribe(path: StoragePath, onChange: () => void): Promise<Watch> {
		let feed = this.#feeds.get(path);
		if (feed === undefined) {
			feed = new FolderFeed(this.storage(), path, this.log);
			this.#feeds.set(path, feed);
		}
		const followed = feed;
		followed.subscribers.add(onChange);
		await followed.ready;
		if (followed.isPolled) this.relay?.wake();
		return {
			close: () => {
				followed.subscribers.delete(onChange);
				if (followed.subscribers.size > 0) return;
				followed.close();
				if (this.#feeds.get(path) === followed) this.#feeds.delete(path);
			},
		};
	}

	/** Tells of something that came or went by this very server: in its folder, and as a count in the folder above. */
	publish(path: StoragePath): void {
		for (const folder of new Set([parentPath(path), parentPath(parentPath(path))])) {
			this.#publishIn(folder);
			this.relay?.changedHere(folder);
		}
	}

	/** Tells of a folder that was changed by another process. */
	changedElsewhere(folder: StoragePath): void {
		this.#publishIn(folder);
	}

	/** Whether any folder is followed whose storage tells of no changes. */
	hasPolled(): boolean {
		return [...this.#feeds.values()].some((feed) => feed.isPolled);
	}

	#publishIn(folder: StoragePath): void {
		const feed = this.#feeds.get(folder);
		// A storage that tells by itself has done so.
		if (feed?.isTold === false) feed.publish();
	}
}
