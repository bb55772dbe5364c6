import { maxSearchResults } from '@stowage/rules';
import type { Found } from '../entries.js';

/** An item that matches. */
export interface Hit extends Found {
	rank: number;
	/** Whether it is from the index, and has to be compared with the disk. */
	isIndexed: boolean;
}

/** Characters of paths that an answer has: a path may have 64,000, and a thousand of them are more than a page can show. */
const maxCharacters = 2_000_000;

/** The best of all hits, so that a term that very many names contain takes no more memory than another. */
export class BestHits<T extends { rank: number }> {
	readonly #lengthOf: (hit: T) => number;
	#hits: T[] = [];
	#characters = 0;
	#isTruncated = false;

	/** `lengthOf` tells how many characters the path of a hit has. */
	constructor(lengthOf: (hit: T) => number) {
		this.#lengthOf = lengthOf;
	}

	add(hit: T): void {
		this.#hits.push(hit);
		this.#characters += this.#lengthOf(hit);
		if (this.#hits.length >= 2 * maxSearchResults || this.#characters >= 2 * maxCharacters) this.#keepBest();
	}

	/** Whether more were added than `best` has had. */
	get isTruncated(): boolean {
		return this.#isTruncated;
	}

	/** Best first, and the shorter path first among equals. */
	best(): readonly T[] {
		this.#keepBest();
		return this.#hits;
	}

	#keepBest(): void {
		const lengthOf = this.#lengthOf;
		this.#hits.sort((one, other) => one.rank - other.rank || lengthOf(one) - lengthOf(other));
		let [kept, characters] = [0, 0];
		for (const hit of this.#hits.slice(0, maxSearchResults)) {
			if (characters + lengthOf(hit) > maxCharacters) break;
			characters += lengthOf(hit);
			kept++;
		}
		if (kept < this.#hits.length) this.#isTruncated = true;
		this.#hits.length = kept;
		this.#characters = characters;
	}
}
