/** Characters that are looked up at once. V8 hashes a text of more than 16,383 characters by its length alone. */
const pieceLength = 8000;
const maxPieceLength = 2 * pieceLength;

/**
 * A map by texts that may be long, such as paths of folders that lie deep: in a `Map` all long keys of one length are compared with each
 * other, from their beginning, which for a thousand paths of 60,000 characters takes seconds. In the order in which they were set.
 */
export class PathMap<Value> {
	readonly #entries = new Map<string, { path: string; value: Value }>();
	/** The pieces of long paths, each with the number of what stands before it. No path contains a NUL. */
	readonly #pieces = new Map<string, number>();

	constructor(entries: Iterable<readonly [path: string, value: Value]> = []) {
		for (const [path, value] of entries) this.set(path, value);
	}

	get size(): number {
		return this.#entries.size;
	}

	get(path: string): Value | undefined {
		const key = this.#keyOf(path);
		return key === undefined ? undefined : this.#entries.get(key)?.value;
	}

	has(path: string): boolean {
		const key = this.#keyOf(path);
		return key !== undefined && this.#entries.has(key);
	}

	set(path: string, value: Value): this {
		this.#entries.set(this.#newKeyOf(path), { path, value });
		return this;
	}

	delete(path: string): boolean {
		const key = this.#keyOf(path);
		return key !== undefined && this.#entries.delete(key);
	}

	*keys(): Generator<string> {
		for (const { path } of this.#entries.values()) yield path;
	}

	*values(): Generator<Value> {
		for (const { value } of this.#entries.values()) yield value;
	}

	/** Undefined where no path has this one's pieces. */
	#keyOf(path: string): string | undefined {
		let [before, start] = [0, 0];
		for (; path.length - start > maxPieceLength; start += pieceLength) {
			const number = this.#pieces.get(`${before}\0${path.slice(start, start + pieceLength)}`);
			if (number === undefined) return undefined;
			before = number;
		}
		return before === 0 ? path : `${before}\0${path.slice(start)}`;
	}

	#newKeyOf(path: string): string {
		let [before, start] = [0, 0];
		for (; path.length - start > maxPieceLength; start += pieceLength) {
			const piece = `${before}\0${path.slice(start, start + pieceLength)}`;
			before = this.#pieces.get(piece) ?? this.#pieces.size + 1;
			this.#pieces.set(piece, before);
		}
		return before === 0 ? path : `${before}\0${path.slice(start)}`;
	}
}

/** A set of texts that may be long, as `PathMap` has them. */
export class PathSet<Path extends string = string> {
	readonly #paths = new PathMap<Path>();

	constructor(paths: Iterable<Path> = []) {
		for (const path of paths) this.add(path);
	}

	get size(): number {
		return this.#paths.size;
	}

	add(path: Path): this {
		if (!this.#paths.has(path)) this.#paths.set(path, path);
		return this;
	}

	has(path: string): boolean {
		return this.#paths.has(path);
	}

	delete(path: string): boolean {
		return this.#paths.delete(path);
	}

	[Symbol.iterator](): Generator<Path> {
		return this.#paths.values();
	}
}
