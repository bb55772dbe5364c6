import type { StorageProvider } from '@stowage/plugin-api';
import { parentPath, pathDepth, type StoragePath, undefinedIf } from '@stowage/rules';

/** Folders of fewer levels are soon found, and which root a home is on is known below it only. */
const leastLevels = 8;

/** Stats the folders that missing ones would lie in: all that search within a moment for folders in the same one share a stat. */
export class MissingParents {
	readonly #stats = new Map<StoragePath, Promise<boolean>>();

	constructor(
		readonly storage: () => Pick<StorageProvider, 'stat'>,
		readonly times: { readonly searchMs: number },
	) {}

	/** Whether the folder that `path` would lie in is missing. False where that is not known. */
	isAboveMissing(path: StoragePath): Promise<boolean> {
		const folder = parentPath(path);
		const isMissing = this.#stats.get(folder) ?? this.#isMissing(folder);
		this.#stats.set(folder, isMissing);
		return isMissing;
	}

	async #isMissing(folder: StoragePath): Promise<boolean> {
		try {
			if (pathDepth(folder) < leastLevels) return false;
			return (await undefinedIf(this.storage().stat(folder), 'notFound')) === undefined;
		} catch {
			// The search for the folder itself says what is wrong.
			return false;
		} finally {
			setTimeout(() => this.#stats.delete(folder), this.times.searchMs / 2).unref();
		}
	}
}
