import { hasWatch, type StorageProvider, type Watch } from '@stowage/plugin-api';
import { isFailure, type StoragePath } from '@stowage/rules';
import type { Log } from '../../log.js';
import { fingerprintOf } from './fingerprint.js';

/** How often a folder is looked for that is not there, and how often one is looked at that nobody tells of. */
const searchMs = 1000;
const pollMs = 5000;

/** Looking takes at most this share of the time: a large folder far away is looked at less often. */
const pollShare = 0.25;

/**
 * News of one folder, whether it is there or not: from the storage where it tells of changes, else by looking at it again and again. What could not be found
 * out counts as a change, so that whoever is told asks.
 */
export class FolderFeed {
	readonly subscribers = new Set<() => void>();
	/** Resolves when no later change is missed. */
	readonly ready: Promise<void>;
	#watch: Watch | undefined;
	#timer: NodeJS.Timeout | undefined;
	#last: string | undefined;
	#isPolled = false;
	#isClosed = false;

	constructor(
		readonly storage: StorageProvider,
		readonly path: StoragePath,
		readonly log: Log,
	) {
		this.ready = this.#look();
	}

	/** Whether the storage tells of changes, so that nothing has to be looked for. */
	get isTold(): boolean {
		return this.#watch !== undefined;
	}

	/** Whether it is there, and its storage tells of no changes: it is looked at again and again. */
	get isPolled(): boolean {
		return this.#watch === undefined && this.#isPolled;
	}

	publish(): void {
		for (const onChange of this.subscribers) onChange();
	}

	close(): void {
		this.#isClosed = true;
		clearTimeout(this.#timer);
		this.#watch?.close();
	}

	async #look(): Promise<void> {
		const started = performance.now();
		let next = searchMs;
		let found: string;
		try {
			this.#watch = await this.#listen();
			this.#isPolled = this.#watch === undefined;
			if (this.#isPolled) {
				found = await fingerprintOf(this.storage.list(this.path));
				next = Math.max(pollMs, (performance.now() - started) / pollShare);
			} else found = 'followed';
		} catch (error) {
			if (!isFailure(error)) this.log.warn({ err: error }, 'a folder could not be watched');
			found = 'away';
			this.#isPolled = false;
		}
		if (this.#isClosed) return this.#watch?.close();
		if (found !== 'followed') this.#lookIn(next);
		if (this.#last !== undefined && this.#last !== found) this.publish();
		this.#last = found;
	}

	async #listen(): Promise<Watch | undefined> {
		if (!hasWatch(this.storage)) return undefined;
		return this.storage.watch(this.path, {
			onChange: () => this.publish(),
			onEnd: () => {
				if (this.#isClosed) return;
				this.#watch = undefined;
				// Whatever is there next is a change.
				this.#last = 'ended';
				this.publish();
				this.#lookIn(searchMs);
			},
		});
	}

	#lookIn(ms: number): void {
		this.#timer = setTimeout(() => void this.#look(), ms);
		this.#timer.unref();
	}
}
