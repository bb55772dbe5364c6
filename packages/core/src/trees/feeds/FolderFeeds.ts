import type { StorageProvider, Watch } from '@stowage/plugin-api';
import { parentPath, type StoragePath } from '@stowage/rules';
import type { Log } from '../../log.js';
import { FolderFeed, feedTimes } from './FolderFeed.js';
import { MissingParents } from './MissingParents.js';

/** Notifies other processes of changes. */
interface Relay {
	relayChange(folder: StoragePath): void;
	/** A client has subscribed to a folder whose storage does not notify of changes. */
	wake(): void;
}

/** How an administrator raises the limits of Linux. */
export const moreWatches = 'sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024';

/** Subscriptions to changes of folders. All subscribers of a folder share one feed. */
export class FolderFeeds {
	readonly #feeds = new Map<StoragePath, FolderFeed>();
	readonly #missingParents: MissingParents;
	/** Whether the log says that folders are polled. */
	#hasReportedLimit = false;

	constructor(
		readonly storage: () => StorageProvider,
		readonly log: Log,
		readonly relay?: Relay,
		readonly times = feedTimes,
	) {
		this.#missingParents = new MissingParents(storage, times);
	}

	/**
	 * Calls `onChange` when the folder's rows may have changed, also when it goes away or appears. When it resolves no
	 * later change is missed.
	 */
	async subscribe(path: StoragePath, onChange: () => void): Promise<Watch> {
		let feed = this.#feeds.get(path);
		if (feed === undefined) {
			feed = new FolderFeed(this.storage(), path, this.log, {
				onWatch: (isAllowed) => this.#reportLimit(isAllowed),
				countFeeds: () => this.#feeds.size,
				isAboveMissing: (folder) => this.#missingParents.isAboveMissing(folder),
				times: this.times,
			});
			this.#feeds.set(path, feed);
		}
		const subscribed = feed;
		subscribed.subscribers.add(onChange);
		await subscribed.ready;
		if (subscribed.isPolled) this.relay?.wake();
		return {
			close: () => {
				subscribed.subscribers.delete(onChange);
				if (subscribed.subscribers.size > 0) return;
				subscribed.close();
				if (this.#feeds.get(path) === subscribed) this.#feeds.delete(path);
			},
		};
	}

	/**
	 * Notifies the subscribers of an item's folder that this server created or removed the item, and those of the folder
	 * above, which shows the number of items.
	 */
	notifyChange(path: StoragePath): void {
		for (const folder of new Set([parentPath(path), parentPath(parentPath(path))])) {
			this.#notifyIn(folder);
			this.relay?.relayChange(folder);
		}
	}

	/** Notifies the subscribers in this process of a change that another process made. */
	notifyRemoteChange(folder: StoragePath): void {
		this.#notifyIn(folder);
	}

	/** Whether any subscribed folder has a storage that does not notify of changes. */
	hasPolled(): boolean {
		return [...this.#feeds.values()].some((feed) => feed.isPolled);
	}

	/** Says once that the system's limit is reached, until it is not. */
	#reportLimit(isAllowed: boolean): void {
		if (!isAllowed && !this.#hasReportedLimit)
			this.log.warn({ remedy: moreWatches }, 'folders are polled for changes: the system allows no more watches');
		this.#hasReportedLimit = !isAllowed;
	}

	#notifyIn(folder: StoragePath): void {
		const feed = this.#feeds.get(folder);
		// A watched storage has notified the feed already.
		if (feed?.isWatched === false) feed.notify();
	}
}
