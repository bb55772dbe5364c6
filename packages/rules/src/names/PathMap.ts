/** Characters that are looked up at once. V8 hashes a text of more than 16,383 characters by its length alone. */
const pieceLength = 8000;
const maxPieceLength = 2 * pieceLength;

/** The key of nothing: no path contains a NUL. */
const noPath = '\0';

/**
 * A map by texts that may be long, such as paths of folders that lie deep: in a `Map` all long keys of one length are compared with each
 * other, from their beginning, which for a thousand paths of 60,000 characters takes seconds. In the order in which they were set.
 */
export class PathMap<Value> {
	readonly #values = new Map<string, Value>();
	/** The pieces of long paths, each with the number of what stands before it. No path contains a NUL. */
	readonly #pieces = new Map<string, number>();
	/** Of long paths. What has another length, such as a folder above, is none of them, whatever its pieces are. */
	readonly #lengths = new Set<number>();

	constructor(entries: Iterable<readonly [path: string, value: Value]> = []) {
		for (const [path, value] of entries) this.set(path, value);
	}

	get size(): number {
		return this.#values.size;
	}

	get(path: string): Value | undefined {
		return this.#values.get(this.#keyOf(path));
	}

	has(path: string): boolean {
		return this.#values.has(this.#keyOf(path));
	}

	set(path: string, value: Value): this {
		if (path.length > maxPieceLength) this.#lengths.add(path.length);
		this.#values.set(
			this.#keyOf(path, (piece) => {
				this.#pieces.set(piece, this.#pieces.size + 1);
				return this.#pieces.size;
			}),
			value,
		);
		return this;
	}

	delete(path: string): boolean {
		return this.#values.delete(this.#keyOf(path));
	}

	values(): MapIterator<Value> {
		return this.#values.values();
	}

	/** The key of a path. Without `add`, a piece that is not known has a number that none has. */
	#keyOf(path: string, add: (piece: string) => number = () => -1): string {
		if (path.length > maxPieceLength && !this.#lengths.has(path.length)) return noPath;
		let [before, start] = [0, 0];
		for (; before >= 0 && path.length - start > maxPieceLength; start += pieceLength) {
			const piece = `${before}\0${path.slice(start, start + pieceLength)}`;
			before = this.#pieces.get(piece) ?? add(piece);
		}
		return before === 0 ? path : `${before}\0${path.slice(start)}`;
	}
}

/** A set of texts that may be long, as `PathMap` has them. */
export class PathSet<Path extends string = string> {
	readonly #paths = new PathMap<Path>();
	/** Since `covering` was asked for first: most sets are not, and may have hundreds of thousands of paths. */
	#ends: PathEnds | undefined;

	constructor(paths: Iterable<Path> = []) {
		for (const path of paths) this.add(path);
	}

	get size(): number {
		return this.#paths.size;
	}

	add(path: Path): this {
		if (this.#paths.has(path)) return this;
		this.#paths.set(path, path);
		this.#ends?.add(path);
		return this;
	}

	has(path: string): boolean {
		return this.#paths.has(path);
	}

	delete(path: string): boolean {
		return this.#paths.delete(path);
	}

	/** Whether a path, or a folder that it lies in, is one of these. */
	covers(path: string): boolean {
		for (const _ of this.covering(path)) return true;
		return false;
	}

	/** Those of them that a path is or lies in, the innermost first. A path may have a thousand folders, of which few are looked up. */
	*covering(path: string): Generator<Path> {
		this.#ends ??= new PathEnds(this);
		for (let end = path.length; end >= this.#ends.shortest; ) {
			const slash = path.lastIndexOf('/', end - 1);
			const above = this.#ends.has(path.slice(slash + 1, end), end) ? path.slice(0, end) : undefined;
			if (above !== undefined && this.has(above)) yield above as Path;
			if (end === 0) return;
			end = Math.max(0, slash);
		}
	}

	[Symbol.iterator](): MapIterator<Path> {
		return this.#paths.values();
	}
}

/** The last names of paths, by their lengths: what is none of them is no path of a set, and is not looked up. */
class PathEnds {
	readonly #names = new Map<number, Set<string>>();
	shortest = Number.POSITIVE_INFINITY;

	constructor(paths: Iterable<string>) {
		for (const path of paths) this.add(path);
	}

	add(path: string): void {
		this.shortest = Math.min(this.shortest, path.length);
		const names = this.#names.get(path.length);
		const name = path.slice(path.lastIndexOf('/') + 1);
		if (names === undefined) this.#names.set(path.length, new Set([name]));
		else names.add(name);
	}

	has(name: string, length: number): boolean {
		return this.#names.get(length)?.has(name) === true;
	}
}
