import { browse, isEntry, type ResultOf, schemas } from '@stowage/contract';
import { type Entry, NameOrder, type SortMode } from '@stowage/rules';

export type Listing = ResultOf<typeof browse>;

/** The first entries of a listing. No other one comes before them in this order. */
export interface FirstEntries {
	sorted: SortMode;
	entries: readonly Entry[];
}

/** These can't occur inside a JSON string, where quotes are escaped. */
const opening = '"entries":[';
const separator = '},{"';

const head = schemas.listing.omit({ entries: true });

/**
 * Parses, validates and sorts a listing by name while it arrives, so that little is left to do after the last byte. Both are done in steps
 * of some milliseconds.
 */
export class ListingReader {
	readonly #order = new NameOrder();
	#opening = '';
	#role: Listing['role'];
	#sorted: Listing['sorted'];
	#rest = '';

	/** `onFirst` gets the first entries, once, if they come in an order. More follow. */
	constructor(private readonly onFirst: (first: FirstEntries) => void = () => {}) {}

	*push(text: string): Generator<undefined, void> {
		this.#rest += text;
		if (this.#opening === '') {
			const start = this.#rest.indexOf(opening);
			if (start < 0) return;
			this.#opening = this.#rest.slice(0, start + opening.length);
			this.#rest = this.#rest.slice(this.#opening.length);
			const { role, sorted } = head.parse(JSON.parse(`${this.#opening}]}`));
			this.#role = role;
			this.#sorted = sorted;
		}
		const end = this.#rest.lastIndexOf(separator);
		if (end < 0) return;
		const entries = yield* this.#add(JSON.parse(`[${this.#rest.slice(0, end + 1)}]`));
		this.#rest = this.#rest.slice(end + 2);
		if (this.#sorted === undefined) return;
		this.onFirst({ sorted: this.#sorted, entries });
		this.#sorted = undefined;
	}

	/** The complete listing. Throws if it is not valid. */
	*finish(): Generator<undefined, Listing> {
		const last: unknown = JSON.parse(this.#opening + this.#rest);
		const listing = head.parse(last);
		this.#role = listing.role;
		yield* this.#add((last as { entries?: unknown }).entries);
		return { ...listing, entries: yield* this.#order.ordering() };
	}

	*#add(entries: unknown): Generator<undefined, Entry[]> {
		if (!Array.isArray(entries) || !entries.every(isEntry)) {
			// Throws an error with the reason.
			browse.result.shape.entries.parse(entries);
			throw new TypeError('The server sent no listing.');
		}
		// An entry of a shared folder that names no role has that of its folder.
		if (this.#role !== undefined) for (const entry of entries) entry.role ??= this.#role;
		yield* this.#order.adding(entries);
		return entries;
	}
}
