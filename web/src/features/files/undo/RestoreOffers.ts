import type { Undo } from './undoStack.js';

/** A notice is on screen for some seconds, and longer while it is pointed at. */
const longestMs = 60_000;

/** Events of the trash that come so soon after a deletion are its own. A listing that begins later has what it has deleted. */
const ownMs = 1000;

interface Offer {
	trashIds: readonly string[];
	since: number;
	withdraw: () => void;
}

/**
 * The notices that offer to restore what was deleted. One that could restore nothing any more is withdrawn: its items were restored,
 * or deleted forever, on another page or by another client.
 */
export class RestoreOffers {
	#offers: readonly Offer[] = [];
	#fetchedAt = Number.NEGATIVE_INFINITY;

	constructor(private readonly now = () => performance.now()) {}

	add(undo: Undo, withdraw: () => void): void {
		if (undo.kind !== 'restore') return;
		const trashIds = undo.items.map(({ trashId }) => trashId);
		this.#offers = [
			...this.#offers.filter((offer) => this.#isRecent(offer)),
			{ trashIds, since: this.now(), withdraw },
		];
	}

	/** Whether the trash is to be listed once it has changed: somebody else may have restored what is on offer. */
	get isToCheck(): boolean {
		const now = this.now();
		return this.#offers.some((offer) => offer.since + ownMs <= now && this.#isRecent(offer));
	}

	/** The trash begins to be listed: what is deleted from now on may be missing in the answer, however late that comes. */
	onFetching(): void {
		this.#fetchedAt = this.now();
	}

	/** All that was in the trash at some time since the last `onFetching`, or a part of it. */
	onListed({ entries, truncated = false }: { entries: readonly { id: string }[]; truncated?: boolean }): void {
		const listed = new Set(entries.map(({ id }) => id));
		const isGone = (offer: Offer) =>
			offer.since + ownMs <= this.#fetchedAt && !truncated && !offer.trashIds.some((id) => listed.has(id));
		const gone = this.#offers.filter(isGone);
		this.#offers = this.#offers.filter((offer) => !gone.includes(offer));
		for (const { withdraw } of gone) withdraw();
	}

	#isRecent({ since }: Offer): boolean {
		return this.now() - since < longestMs;
	}
}
