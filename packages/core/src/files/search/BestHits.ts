import type { StorageEntry } from '@stowage/plugin-api';
import { maxSearchResults } from '@stowage/rules';
import type { Place } from '../../trees/Tree.js';
import type { Found } from '../entries.js';

/** An item that matches. */
export interface Hit extends Found {
	rank: number;
	/** Whether it is from the index, and has to be compared with the disk. */
	isIndexed: boolean;
}

/** The best of all hits, so that a term that very many names contain takes no more memory than another. */
export class BestHits {
	#hits: Hit[] = [];
	#count = 0;

	add(folder: Place, item: StorageEntry, rank: number, isIndexed: boolean): void {
		this.#count++;
		this.#hits.push({ folder, item, rank, isIndexed });
		if (this.#hits.length >= 2 * maxSearchResults) this.#hits = this.best();
	}

	/** How many were added. */
	get count(): number {
		return this.#count;
	}

	/** Best first, and the shorter path first among equals. */
	best(): Hit[] {
		const length = ({ folder, item }: Found) => folder.path.length + item.name.length;
		const sorted = this.#hits.toSorted((one, other) => one.rank - other.rank || length(one) - length(other));
		return sorted.slice(0, maxSearchResults);
	}
}
