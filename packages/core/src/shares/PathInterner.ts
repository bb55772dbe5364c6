import type { SharedItem, StoragePath } from '@stowage/rules';

/** Characters of a piece; a path of no more is kept as it is. */
const pieceLength = 1024;

/** A piece in an item's list of them, and one that is known, besides its characters. */
const pointerBytes = 8;
const pieceBytes = 60;

/**
 * Interns the pieces of the paths of items, which are in memory for as long as a guest is sent them: paths below one deep folder begin
 * alike, each may have 64,000 characters, and a share a thousand of them.
 */
export class PathInterner {
	readonly #known = new Map<string, string>();
	#last: readonly string[] = [];
	#bytes = 0;

	/** The memory that the paths take which were interned: those that begin in many ways have little in common. */
	get bytes(): number {
		return this.#bytes;
	}

	/** The same item, with a path that is put together when it is read. */
	intern(item: SharedItem): SharedItem {
		const { path } = item;
		if (path.length <= pieceLength) {
			this.#bytes += Buffer.byteLength(path);
			return item;
		}
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
		this.#bytes += pointerBytes * pieces.length;
		return inPieces({ name: item.name, type: item.type, itemId: item.itemId }, pieces);
	}

	#shared(piece: string): string {
		const known = this.#known.get(piece);
		if (known !== undefined) return known;
		// A slice would keep the whole path.
		const bytes = Buffer.from(piece);
		const copy = bytes.toString();
		this.#bytes += pieceBytes + bytes.length;
		this.#known.set(copy, copy);
		return copy;
	}
}

/** Where the piece ends that begins at `start`: not within a character. */
function pieceEnd(path: string, start: number): number {
	const end = start + pieceLength;
	const code = path.charCodeAt(end);
	return code >= 0xdc00 && code <= 0xdfff ? end + 1 : end;
}

/** The item with its path in pieces. Not within `intern`, whose closures would keep the whole path. */
function inPieces(item: Omit<SharedItem, 'path'>, pieces: readonly string[]): SharedItem {
	return {
		...item,
		get path() {
			return pieces.join('') as StoragePath;
		},
	};
}
