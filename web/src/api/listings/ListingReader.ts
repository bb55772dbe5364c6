import { browse, isEntry, type ResultOf, schemas } from '@stowage/contract';
import { NameOrder } from '@stowage/rules';

type Listing = ResultOf<typeof browse>;

/** No string of JSON holds these: quotes in it are escaped. */
const opening = '"entries":[';
const between = '},{"';

const head = schemas.listing.omit({ entries: true });

/** Reads a listing, checks it and sorts it by name while it comes, so that hardly anything is left to do when its last byte is there. */
export class ListingReader {
	readonly #order = new NameOrder();
	#opening = '';
	#rest = '';

	push(text: string): void {
		this.#rest += text;
		if (this.#opening === '') {
			const start = this.#rest.indexOf(opening);
			if (start < 0) return;
			this.#opening = this.#rest.slice(0, start + opening.length);
			this.#rest = this.#rest.slice(this.#opening.length);
		}
		const end = this.#rest.lastIndexOf(between);
		if (end < 0) return;
		this.#take(JSON.parse(`[${this.#rest.slice(0, end + 1)}]`));
		this.#rest = this.#rest.slice(end + 2);
	}

	/** The whole of it. Throws if that is no listing. */
	finish(): Listing {
		const last: unknown = JSON.parse(this.#opening + this.#rest);
		const listing = head.parse(last);
		this.#take((last as { entries?: unknown }).entries);
		return { ...listing, entries: this.#order.entries() };
	}

	#take(entries: unknown): void {
		if (!Array.isArray(entries) || !entries.every(isEntry)) {
			// Only to say what is wrong.
			browse.result.shape.entries.parse(entries);
			throw new TypeError('The server sent no listing.');
		}
		this.#order.add(entries);
	}
}
