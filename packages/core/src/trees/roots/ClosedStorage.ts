import type { OpenFile, StagedFile, StorageEntry, StorageItem, StorageProvider } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';

/** Replaces a root that can't be opened right now: each of its calls throws `unavailable`, with the reason as its cause. */
export class ClosedStorage implements StorageProvider {
	constructor(
		/** Empty for a root that has no id yet. */
		readonly rootId: string,
		readonly reason: Error,
	) {}

	#refuse = async (): Promise<never> => {
		throw new Failure('unavailable', 'The storage is not available right now.', { cause: this.reason });
	};

	// biome-ignore lint/correctness/useYield: There is nothing to list.
	async *list(): AsyncGenerator<StorageEntry[]> {
		await this.#refuse();
	}

	readonly count: () => Promise<number> = this.#refuse;
	readonly stat: () => Promise<StorageItem> = this.#refuse;
	readonly open: () => Promise<OpenFile> = this.#refuse;
	readonly makeDirectory: () => Promise<StorageItem> = this.#refuse;
	readonly move: () => Promise<StorageItem> = this.#refuse;
	readonly copy: () => Promise<StorageItem> = this.#refuse;
	readonly discardCopy: () => Promise<void> = this.#refuse;
	readonly remove: () => Promise<void> = this.#refuse;
	readonly removeEmptyFolder: () => Promise<void> = this.#refuse;
	readonly stage: () => Promise<StagedFile> = this.#refuse;
	readonly findPublished: () => Promise<StorageItem | undefined> = this.#refuse;
	readonly sweepStaging: () => Promise<void> = this.#refuse;
	readonly freeSpace: () => Promise<number | undefined> = this.#refuse;
	readonly totalSpace: () => Promise<number | undefined> = this.#refuse;
	readonly check: () => Promise<void> = this.#refuse;

	async close(): Promise<void> {}
}
