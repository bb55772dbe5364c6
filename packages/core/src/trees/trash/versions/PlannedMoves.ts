import { Failure, isFailure, type StoragePath } from '@stowage/rules';
import { z } from 'zod';
import type { Lease } from '../../../leases/createLeases.js';
import { identityOf } from '../../identity.js';
import { type TrashParts, warnOfTrash } from '../trashParts.js';
import { isHomeThere, itemAt, trashedPartOf } from './finishVersion.js';

/** A move that has begun, of a file or a folder with versions in it. */
const plannedMove = z.object({ from: z.string(), to: z.string(), item: z.string() });
type PlannedMove = z.infer<typeof plannedMove>;

/** Of one user's at most, the newest: there are several only where an interrupted one can't be looked up, as on a root that is away. */
const maxPlans = 100;
const maxCharacters = 300_000;

/** Milliseconds for which a move waits for one of the same user in another process. */
const waitMs = 20_000;

type Parts = Pick<
	TrashParts,
	'moves' | 'leases' | 'databaseReserve' | 'storage' | 'store' | 'users' | 'log' | 'config'
>;

/** Sets the paths of versions, after the move of the item that they are of or in. */
type MoveRows = (from: StoragePath, to: StoragePath) => Promise<void>;

/**
 * The moves of files with versions that are under way, by their owners. A move that is interrupted between the disk and the rows, by a
 * kill, a failed sync or an outage of the database, is completed by what the disk says before these rows are used again: until then they
 * would be those of whatever gets the former path, and none of the item's own once its home is on another disk. A lease says which plan
 * is of a move that goes on: nobody else completes that.
 */
export class PlannedMoves {
	readonly #parts: Parts;
	readonly #moveRows: (ownerId: string, from: StoragePath, to: StoragePath) => Promise<void>;

	constructor(parts: Parts, moveRows: (ownerId: string, from: StoragePath, to: StoragePath) => Promise<void>) {
		this.#parts = parts;
		this.#moveRows = moveRows;
	}

	/**
	 * The right to move files of that user that have versions, until it is released. Throws `locked` where another process has it for long.
	 * Undefined on a full database: the move is made all the same, and would be completed by nobody.
	 */
	async begin(ownerId: string): Promise<MoveRight | undefined> {
		try {
			const right = await this.#acquire(ownerId, waitMs);
			if (right === undefined) throw beingMoved();
			await right.complete().catch((error: unknown) => warnOfTrash(this.#parts, error));
			return right;
		} catch (error) {
			if (isFailure(error, 'storageFull')) return undefined;
			throw error;
		}
	}

	/**
	 * Completes what was interrupted. What is being moved right now is completed by who moves it. Resolves to false while there may be
	 * something left to complete.
	 */
	async complete(ownerId: string): Promise<boolean> {
		try {
			return (await this.#completeNow(ownerId, 0)) === true;
		} catch (error) {
			// Whoever asks next tries it again.
			warnOfTrash(this.#parts, error);
			return false;
		}
	}

	/** As `complete` does, and waits for moves that go on. Throws where something could not be completed. */
	async completeAll(ownerId: string): Promise<void> {
		if ((await this.#completeNow(ownerId, waitMs)) === undefined) throw beingMoved();
	}

	/** Resolves to whether nothing is left, and to undefined while another one moves files of that user. */
	async #completeNow(ownerId: string, wait: number): Promise<boolean | undefined> {
		if ((await plansOf(this.#parts, ownerId)).length === 0) return true;
		const right = await this.#acquire(ownerId, wait);
		try {
			return await right?.complete();
		} finally {
			await right?.release();
		}
	}

	async #acquire(ownerId: string, wait: number): Promise<MoveRight | undefined> {
		const lease = await this.#parts.leases.acquire(`versions ${ownerId}`, { waitMs: wait });
		return lease && new MoveRight(this.#parts, ownerId, lease, (from, to) => this.#moveRows(ownerId, from, to));
	}
}

/** The right of one process to move files of one user that have versions. */
export class MoveRight {
	readonly #parts: Parts;
	readonly #ownerId: string;
	readonly #lease: Lease;
	readonly #moveRows: MoveRows;

	constructor(parts: Parts, ownerId: string, lease: Lease, moveRows: MoveRows) {
		this.#parts = parts;
		this.#ownerId = ownerId;
		this.#lease = lease;
		this.#moveRows = moveRows;
	}

	/** Writes that the item at `from` is about to be moved, in place of what was written of it. Throws `locked` once the right is lost. */
	async plan(from: StoragePath, to: StoragePath): Promise<void> {
		const item = await itemAt(this.#parts, this.#ownerId, from);
		if (item === undefined) return;
		const plans = await plansOf(this.#parts, this.#ownerId);
		const kept = newest([...plans.filter((each) => each.from !== from), { from, to, item: identityOf(item) }]);
		// Another process may have the right by now, after this one was suspended.
		if (!this.#lease.isHeld()) throw beingMoved();
		try {
			await this.#write(kept, this.#parts.databaseReserve.optional(this.#parts.moves));
		} catch (error) {
			// The move is made all the same.
			if (!isFailure(error, 'storageFull')) throw error;
		}
	}

	/**
	 * Sets the paths of versions of what was moved, as the disk says. Resolves to whether nothing is left that may appear at its target.
	 * Throws the first error once all others are completed.
	 */
	async complete(): Promise<boolean> {
		const left: PlannedMove[] = [];
		const errors: unknown[] = [];
		const plans = await plansOf(this.#parts, this.#ownerId);
		for (const plan of plans) {
			try {
				if (!this.#lease.isHeld()) throw beingMoved();
				if (await this.#isAt(plan.to, plan)) await this.#moveRows(plan.from as StoragePath, plan.to as StoragePath);
				else if (await this.#mayAppear(plan)) left.push(plan);
			} catch (error) {
				// A disk that refuses the name has nothing of it.
				if (isFailure(error) && !isFailure(error, 'unavailable') && !isFailure(error, 'locked')) continue;
				errors.push(error);
				left.push(plan);
			}
		}
		if (left.length < plans.length && this.#lease.isHeld()) await this.#write(left);
		if (errors.length > 0) throw errors[0];
		return left.length === 0;
	}

	/** Whether what is not found at its target may be found there later. */
	async #mayAppear(plan: PlannedMove): Promise<boolean> {
		if (await this.#isAt(plan.from, plan)) return false;
		const trashed = trashedPartOf(plan.to as StoragePath);
		// What is deleted gets its row a moment later.
		if (trashed !== undefined) return (await this.#parts.store.get(trashed.id)) === undefined;
		return !(await isHomeThere(this.#parts, this.#ownerId));
	}

	async #isAt(path: string, { item }: PlannedMove): Promise<boolean> {
		const found = await itemAt(this.#parts, this.#ownerId, path as StoragePath);
		return found !== undefined && identityOf(found) === item;
	}

	/** The rows of what was moved are right. */
	async end(from: StoragePath, to: StoragePath): Promise<void> {
		const plans = await plansOf(this.#parts, this.#ownerId);
		if (this.#lease.isHeld()) await this.#write(plans.filter((each) => each.from !== from || each.to !== to));
	}

	release(): Promise<void> {
		return this.#lease.release();
	}

	/** What is left of the plans is written also on a full database, or what was moved would be moved again. */
	async #write(plans: readonly PlannedMove[], moves = this.#parts.moves): Promise<void> {
		if (plans.length === 0) await moves.remove(this.#ownerId);
		else await moves.set(this.#ownerId, plans, this.#parts.config.versions.keepFor);
	}
}

async function plansOf({ moves }: Pick<Parts, 'moves'>, ownerId: string): Promise<PlannedMove[]> {
	// What can't be read, as of another version, is not completed.
	return z.array(plannedMove).safeParse((await moves.get(ownerId)) ?? []).data ?? [];
}

function newest(plans: readonly PlannedMove[]): PlannedMove[] {
	let characters = 0;
	const kept = plans
		.toReversed()
		.slice(0, maxPlans)
		.filter(({ from, to }) => {
			characters += from.length + to.length;
			return characters <= maxCharacters;
		});
	return kept.reverse();
}

/** Another process moves something of that user for long. */
export function beingMoved(): Failure {
	return new Failure('locked', 'Something of yours is being moved right now. Please try again in a moment.', {
		retryAfter: 1,
	});
}
