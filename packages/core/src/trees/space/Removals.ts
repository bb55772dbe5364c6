import type { StorageProvider } from '@stowage/plugin-api';

/**
 * What this process frees by and by. A server goes on with it after its next start, and others sweep it. A command, after which nobody
 * may do so for months, ends with it.
 */
export class Removals {
	readonly #running = new Set<Promise<void>>();

	/** Takes part in each removal of the storage. */
	watched(storage: StorageProvider): StorageProvider {
		const remove = storage.remove.bind(storage);
		storage.remove = (path, options = {}) =>
			remove(path, {
				...options,
				onFreeing: (freed) => {
					const running = freed.finally(() => this.#running.delete(running));
					this.#running.add(running);
					options.onFreeing?.(freed);
				},
			});
		return storage;
	}

	/** Resolves once all space is free. */
	async close(): Promise<void> {
		await Promise.all(this.#running);
	}
}
