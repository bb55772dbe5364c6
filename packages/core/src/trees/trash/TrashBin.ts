import type { TrashedItem, TrashRecord, TrashSelection, TrashSize } from '@stowage/plugin-api';
import type { Mount } from '../storage/Mounts.js';
import { LeftCopies } from './LeftCopies.js';
import { MemberAllowance } from './limits/MemberAllowance.js';
import { TrashLimits } from './limits/TrashLimits.js';
import { moveAllTrash, moveTrashed } from './moveTrash.js';
import { PurgedRemoval } from './purging/PurgedRemoval.js';
import { TrashEviction } from './purging/TrashEviction.js';
import { type PurgedOfOwner, TrashPurge } from './purging/TrashPurge.js';
import { TrashRoom } from './purging/TrashRoom.js';
import { PendingRecords } from './recording/PendingRecords.js';
import { throwIfWithout, UnrecordedItems, type WithoutRows } from './recording/UnrecordedItems.js';
import { ClockJumps, completeTrash } from './sweepTrash.js';
import { TrashList } from './TrashList.js';
import { TrashMoves } from './TrashMoves.js';
import { TrashSizes } from './TrashSizes.js';
import type { TrashParts } from './trashParts.js';

/** Where there is no trash, what is removed for good may lie in it until it is known to be what was meant. */
const checkedWithinMs = 60 * 60_000;

/**
 * The trash of all roots, for whoever deletes, restores, lists or removes for good: `TrashMoves` gets items there and
 * back, `TrashPurge` and `TrashEviction` choose what leaves it for good, and `PurgedRemoval` removes that from the disks.
 */
export class TrashBin {
	/** Gets items into the trash and out of it. */
	readonly moves: TrashMoves;
	/** Makes room for what is written. */
	readonly eviction: TrashEviction;
	/** How much members of a folder may put in. */
	readonly allowance: MemberAllowance;
	/** How much of a user is kept. */
	readonly limits: TrashLimits;
	/** Guards whatever goes by age, also outside of the trash. */
	readonly clock: ClockJumps;
	readonly #parts: TrashParts;
	readonly #unrecorded: UnrecordedItems;
	readonly #pendingRecords: PendingRecords;
	readonly #sizes: TrashSizes;
	readonly #removal: PurgedRemoval;
	readonly #purge: TrashPurge;
	readonly #list: TrashList;
	readonly #leftCopies: LeftCopies;
	/** The ids of the roots of which each item has a note since this process was started. */
	readonly #notedRoots = new Set<string>();

	constructor(parts: TrashParts) {
		this.#parts = parts;
		const onAdded = (record: TrashRecord, network: string) => this.#onAdded(record, network);
		this.#unrecorded = new UnrecordedItems(parts, onAdded);
		this.#pendingRecords = new PendingRecords(parts);
		this.#sizes = new TrashSizes(parts);
		const room = new TrashRoom(this.#sizes);
		this.#removal = new PurgedRemoval(parts, room);
		this.#purge = new TrashPurge(parts, this.#removal);
		this.eviction = new TrashEviction(parts, this.#unrecorded, room, this.#removal, this.#purge);
		this.limits = new TrashLimits(parts, this.#purge);
		this.allowance = new MemberAllowance(parts);
		const onLeft = (id: string) => this.#removal.onLeft(id);
		this.moves = new TrashMoves(parts, this.#unrecorded, this.#pendingRecords, this.allowance, { onAdded, onLeft });
		this.#list = new TrashList(parts, this.#pendingRecords, this.#sizes);
		this.clock = new ClockJumps(parts);
		this.#leftCopies = new LeftCopies(parts);
	}

	/** Whether what is deleted is kept at all. */
	get isOn(): boolean {
		return this.keepFor > 0;
	}

	/** Milliseconds. */
	get keepFor(): number {
		return this.#parts.config.trash.keepFor;
	}

	/**
	 * Resolves once what this process or another one has just deleted is among the rows, if the database has room: for
	 * who reads those without this class.
	 */
	recordAll(): Promise<void> {
		return this.#unrecorded.recordIfPossible();
	}

	/**
	 * The newest deleted items of a user that are there, with their sizes where those are found in time, and the bytes
	 * of all that are measured by then. Of what is measured later the user's pages are notified. Beyond this many characters of paths
	 * no more are read; `isAll` says whether there are more. Half of the room is for what the user has deleted.
	 */
	async list(
		ownerId: string,
		limit: number,
		maxCharacters?: number,
	): Promise<{ items: TrashedItem[]; bytes: number; isAll: boolean }> {
		await this.recordAll();
		return this.#list.of(ownerId, limit, maxCharacters);
	}

	/** What is in the trash, with versions unless one kind is chosen; folders that are not measured yet are, unless that fails. */
	async totals(selection: TrashSelection): Promise<TrashSize> {
		await this.recordAll();
		return this.#sizes.totals(selection);
	}

	/**
	 * Gone for everybody once it resolves; the space is freed by and by. Resolves to how many. What was just deleted and
	 * can get no row is left: then it throws why, once the others are gone.
	 */
	async purge(selection: TrashSelection): Promise<number> {
		const without = await this.#unrecorded.record();
		const count = await this.#purge.purge(selection);
		throwIfLeft(without, selection, count);
		return count;
	}

	/** Purges as `purge` does, and resolves to how many were whose. */
	async purgeOfEach(selection: TrashSelection): Promise<PurgedOfOwner[]> {
		const without = await this.#unrecorded.record();
		const purged = await this.#purge.purgeOfEach(selection);
		const count = purged.reduce((sum, { entries }) => sum + entries, 0);
		throwIfLeft(without, selection, count);
		return purged;
	}

	/** Purges what nobody chose, since there is too much of it, maybe by a member. Gone for everybody once it resolves, to how many. */
	endSuperfluous(records: readonly TrashRecord[], member: string | undefined): Promise<number> {
		return this.#purge.endSuperfluous(records, member);
	}

	/** Resolves once the space of what was purged before is free, except on roots that are away, or while its versions are on their way. */
	removePurged(): Promise<void> {
		return this.#removal.removePurged();
	}

	/** Moves an item to the trash of the root on which its home lies now. Throws `notFound`. */
	moveTo(record: TrashRecord, target: Mount): Promise<void> {
		return moveTrashed(this.#parts, record, target);
	}

	/** Moves all items of a user to the trash of the root on which their home lies now. */
	async moveAllTo(ownerId: string, target: Mount, signal: AbortSignal): Promise<void> {
		throwIfWithout(await this.#unrecorded.record(), (record) => record.ownerId === ownerId);
		return moveAllTrash(this.#parts, ownerId, target, signal);
	}

	/** Removes what is older than it is kept, and completes what was interrupted. */
	async sweep(): Promise<void> {
		const { now, config, onEnded } = this.#parts;
		await this.recordAll();
		if (this.clock.isTrusted()) {
			const keepFor = { item: this.isOn ? this.keepFor : checkedWithinMs, version: config.versions.keepFor };
			for (const kind of ['item', 'version'] as const) {
				const expired = await this.#purge.mark({ kind, deletedUntil: now() - keepFor[kind] });
				if (expired > 0) await onEnded(kind, expired, 'expired');
			}
		}
		await this.removePurged();
		await completeTrash(this.#parts, this.#notedRoots);
		await this.#leftCopies.sweep();
	}

	/** Writes what waits. */
	async close(): Promise<void> {
		await this.#unrecorded.close();
		await this.#pendingRecords.close();
		await this.removePurged();
	}

	#onAdded(record: TrashRecord, network: string): void {
		void this.limits.added(record);
		if (record.size === undefined) void this.#sizes.of(record, network);
	}
}

/** Throws why a chosen item has no row, where so many were purged. */
function throwIfLeft(without: readonly WithoutRows[], selection: TrashSelection, count: number): void {
	if (selection.kind === 'version' || count === selection.ids?.length) return;
	// Of a root that could not be read it is not known whose items wait there: those of others don't fail for it.
	const meant = selection.ids === undefined ? without.filter(({ records }) => records !== undefined) : without;
	throwIfWithout(meant, (record) => isChosen(record, selection));
}

function isChosen(record: TrashRecord, { ids, ownerId, rootId, deletedUntil }: TrashSelection): boolean {
	if (ids !== undefined && !ids.includes(record.id)) return false;
	if (ownerId !== undefined && record.ownerId !== ownerId) return false;
	if (rootId !== undefined && record.rootId !== rootId) return false;
	return deletedUntil === undefined || record.deletedAt <= deletedUntil;
}
