import type { Changes } from '../connection/sqlite/sqliteChanges.js';

/** The most cached rows; each takes about a kilobyte. */
const maxRows = 1000;

/** Rows by their keys, cached for as long as the database has not changed. */
export class CachedRows<Row> {
	readonly #changes: Pick<Changes, 'version'>;
	readonly #rows = new Map<string, Row>();
	/** The version of the database that they are from. */
	#version: number | undefined;

	constructor(changes: Pick<Changes, 'version'>) {
		this.#changes = changes;
	}

	/** The row with this key. One that is not cached is looked up, and an unknown one each time. */
	async find(key: string, lookUp: () => Promise<Row | undefined>): Promise<Row | undefined> {
		const version = this.#forgetOlder();
		const known = this.#rows.get(key);
		if (known !== undefined) return known;
		const found = await lookUp();
		// A change during the query may be missing in its result.
		if (found !== undefined && version !== undefined && version === this.#version) {
			if (this.#rows.size >= maxRows) this.#rows.clear();
			this.#rows.set(key, found);
		}
		return found;
	}

	/** Returns the version that subsequent rows belong to. */
	#forgetOlder(): number | undefined {
		const version = this.#changes.version();
		if (version === undefined || version !== this.#version) this.#rows.clear();
		this.#version = version;
		return version;
	}
}
