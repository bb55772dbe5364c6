import type { SharedItem, StoragePath } from '@stowage/rules';

/** Characters of a path that are kept together; a path of no more is kept as it is. */
const pieceLength = 1024;

/**
 * Keeps items for as long as a guest is sent them in little memory where their paths begin alike, as those below one
 * deep folder do: such a path may have 64,000 characters, and a share a thousand of them.
 */
export class KeptPaths {
	readonly #known = new Map<string, string>();
	#last: readonly string[] = [];

	keep(item: SharedItem): SharedItem {
		const { path } = item;
		if (path.length <= pieceLength) return item;
		const pieces: string[] = [];
		for (let start = 0; start < path.length; ) {
			const end = pieceEnd(path, start);
			const piece = path.slice(start, end);
			const last = this.#last[pieces.length];
			// Compared first, which takes less time than to look it up.
			pieces.push(last === piece ? last : this.#shared(piece));
			start = end;
		}
		this.#last = pieces;
		return inPieces({ name: item.name, type: item.type, itemId: item.itemId }, pieces);
	}

	#shared(piece: string): string {
		const known = this.#known.get(piece);
		if (known !== undefined) return known;
		// A slice would keep the whole path.
		const copy = Buffer.from(piece).toString();
		this.#known.set(copy, copy);
		return copy;
	}
}

/** No character is parted. */
function pieceEnd(path: string, start: number): number {
	const end = start + pieceLength;
	const code = path.charCodeAt(end);
	return code >= 0xdc00 && code <= 0xdfff ? end + 1 : end;
}

/** By itself: a function inside of `keep` would keep its path. */
function inPieces(item: Omit<SharedItem, 'path'>, pieces: readonly string[]): SharedItem {
	return {
		...item,
		get path() {
			return pieces.join('') as StoragePath;
		},
	};
}
