import type { Disk } from '../root/Disk.js';
import type { Folder } from '../system/openFolder.js';
import { addressableName } from '../system/rawNames.js';

/** The most child folders that are watched: checking each takes a microsecond or two. */
const maxFolders = 200;

/** Names read to find them; in a larger folder the counts of its folders are not watched. */
const maxNames = 5000;

/** The folders in a watched one. Changes in them change their counts, which the notifications for the watched folder don't include. */
export class ChildFolders {
	/** Set when there may be others than before. */
	mayHaveChanged = true;
	#times = new Map<string, number | undefined>();

	constructor(readonly disk: Disk) {}

	/** Whether an entry was created in or removed from one of them since the last call. A new folder counts as changed. */
	async haveChanged(folder: Folder): Promise<boolean> {
		const { entrySync } = this.disk.calls;
		if (entrySync === undefined) return false;
		if (this.mayHaveChanged) {
			this.mayHaveChanged = false;
			const names = await this.#names(folder);
			this.#times = new Map(names.map((name) => [name, this.#times.get(name)]));
		}
		let changed = false;
		for (const [name, before] of this.#times) {
			const time = entrySync(folder.fd, name)?.mtime;
			if (time !== before) changed = true;
			this.#times.set(name, time);
		}
		return changed;
	}

	async #names(folder: Folder): Promise<string[]> {
		const names: string[] = [];
		let read = 0;
		for await (const batch of this.disk.calls.readNames(folder)) {
			read += batch.length;
			for (const { name, type } of batch) {
				const addressable = type === 'directory' ? addressableName(name) : undefined;
				if (addressable !== undefined) names.push(addressable);
			}
			if (read > maxNames || names.length > maxFolders) return [];
		}
		return names;
	}
}
