import { browse, isEntry, type ResultOf, schemas } from '@stowage/contract';
import { NameOrder } from '@stowage/rules';

export type Listing = ResultOf<typeof browse>;

/** These can't occur inside a JSON string, where quotes are escaped. */
const opening = '"entries":[';
const separator = '},{"';

const head = schemas.listing.omit({ entries: true });

/** Parses, validates and sorts a listing by name while it arrives, so that little is left to do after the last byte. */
export class ListingReader {
	readonly #order = new NameOrder();
	#opening = '';
	#role: Listing['role'];
	#rest = '';

	push(text: string): void {
		this.#rest += text;
		if (this.#opening === '') {
			const start = this.#rest.indexOf(opening);
			if (start < 0) return;
			this.#opening = this.#rest.slice(0, start + opening.length);
			this.#rest = this.#rest.slice(this.#opening.length);
			this.#role = head.parse(JSON.parse(`${this.#opening}]}`)).role;
		}
		const end = this.#rest.lastIndexOf(separator);
		if (end < 0) return;
		this.#add(JSON.parse(`[${this.#rest.slice(0, end + 1)}]`));
		this.#rest = this.#rest.slice(end + 2);
	}

	/** The complete listing. Throws if it is not valid. */
	finish(): Listing {
		const last: unknown = JSON.parse(this.#opening + this.#rest);
		const listing = head.parse(last);
		this.#role = listing.role;
		this.#add((last as { entries?: unknown }).entries);
		return { ...listing, entries: this.#order.entries() };
	}

	#add(entries: unknown): void {
		if (!Array.isArray(entries) || !entries.every(isEntry)) {
			// Throws an error with the reason.
			browse.result.shape.entries.parse(entries);
			throw new TypeError('The server sent no listing.');
		}
		// An entry of a shared folder that names no role has that of its folder.
		if (this.#role !== undefined) for (const entry of entries) entry.role ??= this.#role;
		this.#order.add(entries);
	}
}
