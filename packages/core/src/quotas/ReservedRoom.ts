import { plus } from './amounts.js';
import { HeldBytes } from './HeldBytes.js';
import { LingeringUploads } from './LingeringUploads.js';
import type { Amount } from './measureTree.js';
import type { SharedCount } from './shared/SharedCount.js';

interface Dependencies {
	/** Whether other processes count the home, too; then what unfinished uploads have brought counts by their rows. */
	isShared(): boolean;
	/** What they count, once it is so. */
	shared(): SharedCount | undefined;
	/** The bytes of the owner's unfinished uploads, except these. */
	unfinishedTotals(except: readonly string[]): Promise<Amount>;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** What uploads have taken of a home's quota that are not published there yet. */
export class ReservedRoom {
	/** Staged files whose bytes are among the reserved ones. */
	readonly stagedIds = new Set<string>();
	readonly #parts: Dependencies;
	readonly #lingering = new LingeringUploads();
	readonly #held: HeldBytes;
	/** The bytes of uploads under way in this process. */
	readonly #amount: Amount = { bytes: 0, entries: 0 };

	constructor(parts: Dependencies) {
		this.#parts = parts;
		this.#held = new HeldBytes({ find: () => parts.unfinishedTotals([...this.stagedIds]), monotonic: parts.monotonic });
	}

	/** The bytes of uploads under way in this process, at any time. */
	get amount(): Readonly<Amount> {
		return this.#amount;
	}

	/** That and what unfinished uploads hold. */
	get total(): Amount {
		return plus(this.#amount, this.#parts.shared()?.held ?? this.#held.amount);
	}

	/** Reads what unfinished uploads hold, unless that was done within `maxAgeMs`: of a process that counts alone. */
	refresh(maxAgeMs: number): Promise<void> {
		return this.#held.refresh(maxAgeMs);
	}

	add({ bytes, entries }: Amount, sign: 1 | -1 = 1): void {
		this.#amount.bytes += sign * bytes;
		this.#amount.entries += sign * entries;
	}

	/**
	 * Takes over what the staged file of an unfinished upload has reserved or counts already; resolves to what is
	 * reserved for it from now on.
	 */
	continueUpload(stagedId: string, bytes: number): Amount {
		const kept = this.#lingering.take(stagedId);
		if (this.#parts.isShared()) return kept ?? { bytes: 0, entries: 0 };
		const own = { bytes, entries: 1 };
		// It was among the unfinished uploads without a connection.
		this.#held.add({ bytes: -bytes, entries: -1 });
		this.add(own);
		return own;
	}

	/** Releases what was reserved, of which an unfinished upload goes on to hold so much. */
	release(amount: Amount, held?: Amount): void {
		this.add(amount, -1);
		const shared = this.#parts.shared();
		if (held === undefined) shared?.released(amount);
		else if (shared !== undefined) shared.recorded(held);
		else this.#held.add(held);
	}

	/** Releases what counts by the row of an unfinished upload from now on. */
	recorded(amount: Amount): void {
		this.add(amount, -1);
		this.#parts.shared()?.recorded(amount);
	}

	/** What is reserved for a complete upload stays so until it is published, which begins at once. */
	linger(stagedId: string, amount: Amount): void {
		this.#lingering.keep(stagedId, amount, () => this.release(amount));
	}

	/** An unfinished upload has ended without being published in the home. */
	uploadDropped(): void {
		this.#held.invalidate();
	}

	/** Nothing more is published. */
	close(): void {
		for (const amount of this.#lingering.takeAll()) this.add(amount, -1);
	}
}
