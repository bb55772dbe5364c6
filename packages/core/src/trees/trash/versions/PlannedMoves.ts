import { Failure, isFailure, isWithin, type StoragePath } from '@stowage/rules';
import { z } from 'zod';
import type { Lease } from '../../../leases/createLeases.js';
import { identityOf } from '../../identity.js';
import { type TrashParts, type UncompletedMoves, warnOfTrash } from '../trashParts.js';
import { isTrashedLink } from '../trashPaths.js';
import { isHomeThere, itemAt } from './finishVersion.js';

/** A move that has begun, of a file or a folder with versions in it. */
const plannedMove = z.object({ from: z.string(), to: z.string(), item: z.string() });
type PlannedMove = z.infer<typeof plannedMove>;

/** Of one user's at most, the newest: there are several only where an interrupted one can't be looked up, as on a root that is away. */
const maxPlans = 100;
const maxCharacters = 300_000;

/** Milliseconds for which a move waits for one of the same user in another process, and for which who uses versions waits for it. */
const waitMs = { move: 20_000, use: 2_000 };

type Parts = Pick<
	TrashParts,
	'moves' | 'leases' | 'databaseReserve' | 'storage' | 'store' | 'users' | 'log' | 'config'
>;

/** Sets the paths of versions, after the move of the item that they are of or in, as long as the caller has the right to. */
type MoveRows = (from: StoragePath, to: StoragePath, right: MoveRight) => Promise<void>;

/** Another process moves something of that user for long, or a move of it is left that can't be completed now. */
export class BeingMoved extends Failure {
	constructor() {
		super('locked', 'Something of yours is being moved right now. Please try again in a moment.', { retryAfter: 1 });
	}
}

/**
 * The moves of files with versions that are under way, by their owners. A move that is interrupted between the disk and the rows, by a
 * kill, a failed sync or an outage of the database, is completed by what the disk says before these rows are used again: until then they
 * would be those of whatever gets the former path, and none of the item's own once its home is on another disk. A lease says which plan
 * is of a move that goes on: nobody else completes that.
 *
 * No two calls wait for each other. A move takes the mutex of its user in this process, then this lease, then that of links
 * (`trackItems`), and only then the home (`Homes.changing`) and the locks of the disk, under which it awaits none of the former. A
 * replacement has the home while it waits, but others change that at the same time: only the move of a home waits for it, which has no
 * lease by then, and while that has the home and waits for this lease, what holds it is refused the home at once. Nobody who has
 * this lease asks for it, or for that of another user. A lease is awaited for a while, and the mutex for those before.
 */
export class PlannedMoves {
	readonly #parts: Parts;
	readonly #moveRows: (ownerId: string, ...move: Parameters<MoveRows>) => Promise<void>;

	constructor(parts: Parts, moveRows: (ownerId: string, ...move: Parameters<MoveRows>) => Promise<void>) {
		this.#parts = parts;
		this.#moveRows = moveRows;
	}

	/**
	 * The right to move files of that user that have versions, until it is released. Throws `locked` where another process has it for long,
	 * or at all where the caller may not wait. Undefined on a full database: a move is made all the same, and would be completed by nobody.
	 */
	async begin(ownerId: string, { mayWait = true } = {}): Promise<MoveRight | undefined> {
		try {
			const right = await this.#acquire(ownerId, mayWait ? waitMs.move : 0);
			if (right === undefined) throw new BeingMoved();
			// That may take as long as a wait. What is left concerns few moves, which are refused then.
			if (mayWait) await right.complete().catch((error: unknown) => warnOfTrash(this.#parts, error));
			return right;
		} catch (error) {
			if (isFailure(error, 'storageFull')) return undefined;
			throw error;
		}
	}

	/** All that is planned, whether it goes on or was interrupted. */
	async of(ownerId: string): Promise<UncompletedMoves> {
		return uncompleted(await plansOf(this.#parts, ownerId));
	}

	/** Completes what was interrupted. What is being moved right now is completed by who moves it. Resolves to what is left. */
	async complete(ownerId: string, wait = 0): Promise<UncompletedMoves> {
		try {
			await this.#completeNow(ownerId, wait);
		} catch (error) {
			// Whoever asks next tries it again.
			warnOfTrash(this.#parts, error);
		}
		const left: PlannedMove[] = [];
		for (const plan of await plansOf(this.#parts, ownerId))
			if (!(await this.#isStillThere(ownerId, plan))) left.push(plan);
		return uncompleted(left);
	}

	/**
	 * As `complete` does, before versions are used that some moves may concern: for one of these it waits a moment. Throws `locked` where it
	 * is left.
	 */
	async completeBefore(ownerId: string, concerns: (moves: UncompletedMoves) => boolean): Promise<void> {
		const plans = await plansOf(this.#parts, ownerId);
		if (plans.length === 0) return;
		const wait = concerns(uncompleted(plans)) ? waitMs.use : 0;
		if (concerns(await this.complete(ownerId, wait))) throw new BeingMoved();
	}

	/** As `complete` does, and waits for moves that go on. Throws where something could not be completed. */
	async completeAll(ownerId: string): Promise<void> {
		if (!(await this.#completeNow(ownerId, waitMs.move))) throw new BeingMoved();
	}

	/** Resolves to false while another one moves files of that user. */
	async #completeNow(ownerId: string, wait: number): Promise<boolean> {
		if ((await plansOf(this.#parts, ownerId)).length === 0) return true;
		const right = await this.#acquire(ownerId, wait);
		try {
			await right?.complete();
		} finally {
			await right?.release();
		}
		return right !== undefined;
	}

	/** Whether an item is known not to be moved yet: its versions have the right paths. */
	async #isStillThere(ownerId: string, plan: PlannedMove): Promise<boolean> {
		try {
			return await isAt(this.#parts, ownerId, plan.from, plan);
		} catch (error) {
			if (!isFailure(error)) throw error;
			return false;
		}
	}

	async #acquire(ownerId: string, wait: number): Promise<MoveRight | undefined> {
		const lease = await this.#parts.leases.acquire(`versions ${ownerId}`, { waitMs: wait });
		return lease && new MoveRight(this.#parts, ownerId, lease, (...move) => this.#moveRows(ownerId, ...move));
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

	/** Whether no other process may have got the right since, as while this one was suspended. */
	get isHeld(): boolean {
		return this.#lease.isHeld();
	}

	/**
	 * Writes that the item at `from` is about to be moved, in place of what was written of it. Throws `locked` once the right is lost, and
	 * where an earlier move is left by which versions would be taken along that are of something else, or left behind.
	 */
	async plan(from: StoragePath, to: StoragePath): Promise<void> {
		const found = await itemAt(this.#parts, this.#ownerId, from);
		if (found === undefined) return;
		const item = identityOf(found);
		const plans = await plansOf(this.#parts, this.#ownerId);
		const others = plans.filter((each) => each.from !== from || each.item !== item);
		assertNoneLeft(uncompleted(others), from, to);
		const kept = newest([...others, { from, to, item }]);
		// Another process may have the right by now, after this one was suspended.
		if (!this.isHeld) throw new BeingMoved();
		try {
			await this.#write(kept, this.#parts.databaseReserve.optional(this.#parts.moves));
		} catch (error) {
			// The move is made all the same.
			if (!isFailure(error, 'storageFull')) throw error;
		}
	}

	/**
	 * Sets the paths of versions of what was moved, as the disk says. What may still appear at its target is left. Throws the first error
	 * once all others are completed.
	 */
	async complete(): Promise<void> {
		const left: PlannedMove[] = [];
		const errors: unknown[] = [];
		const plans = await plansOf(this.#parts, this.#ownerId);
		for (const plan of plans) {
			try {
				if (!this.isHeld) throw new BeingMoved();
				if (await this.#isLeft(plan)) left.push(plan);
			} catch (error) {
				errors.push(error);
				left.push(plan);
			}
		}
		if (left.length < plans.length && this.isHeld) await this.#write(left);
		if (errors.length > 0) throw errors[0];
	}

	/** Completes a move where it was made. Resolves to whether it may be found to have been made later. */
	async #isLeft(plan: PlannedMove): Promise<boolean> {
		// Before its target is asked for. But what has left the trash is looked for there on all roots, of which any may be away for long.
		const isFromTrash = isTrashedLink(plan.from as StoragePath);
		if (!isFromTrash && (await this.#isAt(plan.from, plan))) return false;
		if (await this.#isAt(plan.to, plan)) {
			await this.#moveRows(plan.from as StoragePath, plan.to as StoragePath, this);
			return false;
		}
		if (isFromTrash && (await this.#isAt(plan.from, plan))) return false;
		return !isTrashedLink(plan.to as StoragePath) && !(await isHomeThere(this.#parts, this.#ownerId));
	}

	async #isAt(path: string, plan: PlannedMove): Promise<boolean> {
		try {
			return await isAt(this.#parts, this.#ownerId, path, plan);
		} catch (error) {
			// A disk that refuses the name has nothing of it.
			if (isFailure(error) && !isFailure(error, 'unavailable') && !isFailure(error, 'locked')) return false;
			throw error;
		}
	}

	/** The rows of what was moved are right. */
	async end(from: StoragePath, to: StoragePath): Promise<void> {
		const plans = await plansOf(this.#parts, this.#ownerId);
		if (this.isHeld) await this.#write(plans.filter((each) => each.from !== from || each.to !== to));
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

async function isAt(parts: Parts, ownerId: string, path: string, { item }: PlannedMove): Promise<boolean> {
	const found = await itemAt(parts, ownerId, path as StoragePath);
	return found !== undefined && identityOf(found) === item;
}

function uncompleted(plans: readonly PlannedMove[]): UncompletedMoves {
	const overlap = (one: string, other: StoragePath) =>
		isWithin(one as StoragePath, other) || isWithin(other, one as StoragePath);
	return {
		leadFrom: (path) => plans.some(({ from }) => overlap(from, path)),
		leadTo: (path) => plans.some(({ to }) => overlap(to, path)),
		endAt: (path) => plans.some(({ to }) => to === path),
	};
}

/**
 * Throws `locked` where a move is left by which versions would be taken along with the next one that are of something else, or left
 * behind by it, or that would take those away which it brings.
 */
export function assertNoneLeft(left: UncompletedMoves, from: StoragePath, to: StoragePath): void {
	if (isConcerned(left, from, to)) throw new BeingMoved();
}

export function isConcerned(moves: UncompletedMoves, from: StoragePath, to: StoragePath): boolean {
	return moves.leadFrom(from) || moves.leadTo(from) || moves.leadFrom(to);
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
