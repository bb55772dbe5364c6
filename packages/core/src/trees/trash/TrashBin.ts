import type { TrashedItem, TrashRecord, TrashSelection, TrashSize } from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import type { Mount } from '../storage/Mounts.js';
import { LeftCopies } from './LeftCopies.js';
import { MemberAllowance, type NewInTrash } from './limits/MemberAllowance.js';
import { TrashLimits } from './limits/TrashLimits.js';
import { moveAllTrash, moveTrashed } from './moveTrash.js';
import { PurgedRemoval } from './purging/PurgedRemoval.js';
import { TrashEviction } from './purging/TrashEviction.js';
import { type PurgedOfOwner, TrashPurge } from './purging/TrashPurge.js';
import { TrashRoom } from './purging/TrashRoom.js';
import { ClockJumps, completeTrash } from './sweepTrash.js';
import { TrashList } from './TrashList.js';
import { type Kept, TrashMoves, throwIfWithout } from './TrashMoves.js';
import { TrashSizes } from './TrashSizes.js';
import type { ExchangeOptions, TrashParts } from './trashParts.js';
import type { NewVersion } from './versions/VersionRow.js';

/** Where there is no trash, what is removed for good may lie in it until it is known to be what was meant. */
const checkedWithinMs = 60 * 60_000;

/**
 * The trash of all roots, for whoever deletes, restores, lists or removes for good: `TrashMoves` gets items there and
 * back, `TrashPurge` and `TrashEviction` choose what leaves it for good, and `PurgedRemoval` removes that from the disks.
 */
export class TrashBin {
	readonly #parts: TrashParts;
	readonly #sizes: TrashSizes;
	readonly #removal: PurgedRemoval;
	readonly #purge: TrashPurge;
	readonly #eviction: TrashEviction;
	readonly #limits: TrashLimits;
	readonly #allowance: MemberAllowance;
	readonly #moves: TrashMoves;
	readonly #list: TrashList;
	/** Guards whatever goes by age, also outside of the trash. */
	readonly clock: ClockJumps;
	readonly #leftCopies: LeftCopies;
	/** The ids of the roots of which each item has a note since this process was started. */
	readonly #notedRoots = new Set<string>();

	constructor(parts: TrashParts) {
		this.#parts = parts;
		this.#sizes = new TrashSizes(parts);
		const room = new TrashRoom(this.#sizes);
		this.#removal = new PurgedRemoval(parts, room);
		this.#purge = new TrashPurge(parts, this.#removal);
		this.#eviction = new TrashEviction(parts, room, this.#removal, this.#purge);
		this.#limits = new TrashLimits(parts, this.#purge);
		this.#allowance = new MemberAllowance(parts);
		this.#moves = new TrashMoves(parts, {
			onAdded: (record) => this.#onAdded(record),
			onLeft: (id) => this.#removal.onLeft(id),
		});
		this.#list = new TrashList(parts, this.#moves, this.#sizes);
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
	 * Puts an item into the trash by `move`, which gets its id and the path to move it to, and resolves to what it has moved. Throws
	 * `storageFull`, with nothing moved, where the database has no room for it, or where a member of a folder has put in as much as they may,
	 * unless it is to be removed for good.
	 */
	async keep(...call: Parameters<TrashMoves['keep']>): Promise<Kept> {
		const [kept, , { isForGood = false } = {}] = call;
		if (!isForGood) await this.#allowance.assertRoom({ ...kept, kind: 'item' });
		return this.#moves.keep(...call);
	}

	/** Throws `storageFull` where `keep` would, since a member of a folder has put in as much as they may. */
	assertRoomToKeep(item: Omit<NewInTrash, 'kind'>): Promise<void> {
		return this.#allowance.assertRoom({ ...item, kind: 'item' }, { isOnlyAsked: true });
	}

	/**
	 * Keeps a former content by `replace`, which gets the path to keep it at, and calls `begin` before it is exchanged: that throws
	 * `storageFull` where the database has no room for it. So does this itself where a member has replaced as much as they may, unless it
	 * has the place of another version, which leaves the trash. Resolves to what `replace` does.
	 */
	async keepVersion<T>(
		version: NewVersion,
		replace: (path: StoragePath, begin: () => Promise<void>) => Promise<T>,
		{ isExchange = false }: ExchangeOptions = {},
	): Promise<T> {
		if (!isExchange) await this.#allowance.assertRoom({ ...version, kind: 'version' });
		return this.#moves.keepVersion(version, replace);
	}

	/**
	 * Resolves once what this process or another one has just deleted is among the rows, if the database has room: for
	 * who reads those without this class.
	 */
	recordAll(): Promise<void> {
		return this.#moves.recordIfPossible();
	}

	/** Takes an item, of that user if one is given, out of the trash by `move`. Resolves to undefined if there is none. */
	takeOut<T>(
		id: string,
		ownerId: string | undefined,
		move: (record: TrashedItem) => Promise<T>,
	): Promise<T | undefined> {
		return this.#moves.takeOut(id, ownerId, move);
	}

	/** Takes an item that `isMeant` out of the trash by `move`. Resolves to undefined if there is none. */
	take<T>(
		id: string,
		isMeant: (record: TrashRecord) => boolean,
		move: (record: TrashRecord) => Promise<T>,
	): Promise<T | undefined> {
		return this.#moves.take(id, isMeant, move);
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
	purge(selection: TrashSelection): Promise<number> {
		return this.#purging(
			selection,
			() => this.#purge.purge(selection),
			(count) => count,
		);
	}

	/** Purges as `purge` does, and resolves to how many were whose. */
	purgeOfEach(selection: TrashSelection): Promise<PurgedOfOwner[]> {
		return this.#purging(
			selection,
			() => this.#purge.purgeOfEach(selection),
			(purged) => purged.reduce((sum, { entries }) => sum + entries, 0),
		);
	}

	/**
	 * Purges what nobody chose, since there is too much of it, maybe by a member. Gone for everybody once it resolves, with a line for each
	 * of its users.
	 */
	async endSuperfluous(records: readonly TrashRecord[], member: string | undefined): Promise<void> {
		await this.#purge.endSuperfluous(records, member);
	}

	async #purging<T>(selection: TrashSelection, purge: () => Promise<T>, countOf: (purged: T) => number): Promise<T> {
		const without = await this.#moves.recordAll();
		const purged = await purge();
		// Of a root that could not be read it is not known whose items wait there: those of others don't fail for it.
		const meant = selection.ids === undefined ? without.filter(({ records }) => records !== undefined) : without;
		if (selection.kind !== 'version' && countOf(purged) !== selection.ids?.length)
			throwIfWithout(meant, (record) => isChosen(record, selection));
		return purged;
	}

	/** Resolves once the space of what was purged before is free, except on roots that are away. */
	removePurged(): Promise<void> {
		return this.#removal.removePurged();
	}

	/**
	 * Whether so much could give way; nothing does. For what is announced: an announcement costs its client nothing, and
	 * what gives way is gone.
	 */
	async canGiveWay(selection: Pick<TrashSelection, 'ownerId' | 'rootId'>, lack: TrashSize): Promise<boolean> {
		await this.recordAll();
		return this.#eviction.canGiveWay(selection, lack);
	}

	/**
	 * Makes room for what is written now: purges the oldest items until nothing is lacking, by `lackNow`, which is asked
	 * again and again, if there is so much. Resolves to whether nothing is lacking.
	 */
	async giveWay(
		selection: Pick<TrashSelection, 'ownerId' | 'rootId'>,
		lackNow: () => Promise<TrashSize>,
	): Promise<boolean> {
		await this.recordAll();
		return this.#eviction.giveWay(selection, lackNow);
	}

	/**
	 * Called before a member of a folder makes the paths of its owner's versions longer, by so many bytes together. Throws `storageFull`
	 * where some of these might have to go for it.
	 */
	assertRoomForVersionPaths(ownerId: string, member: string, pathBytes: number): Promise<void> {
		return this.#allowance.assertRoomForVersionPaths(ownerId, member, pathBytes);
	}

	/**
	 * Called for versions whose file is at another path, which are longer now by so many bytes together. Resolves once no more is kept
	 * than a user may have. What goes has no path any more; its removal from the disk, which may take any time, is not waited for: nobody
	 * else moves anything of that user meanwhile.
	 */
	async lengthened(ownerId: string, pathBytes: number): Promise<void> {
		await this.#limits.lengthened(ownerId, pathBytes);
	}

	/** Moves an item to the trash of the root on which its home lies now. Throws `notFound`. */
	moveTo(record: TrashRecord, target: Mount): Promise<void> {
		return moveTrashed(this.#parts, record, target);
	}

	/** Moves all items of a user to the trash of the root on which their home lies now. */
	async moveAllTo(ownerId: string, target: Mount, signal: AbortSignal): Promise<void> {
		throwIfWithout(await this.#moves.recordAll(), (record) => record.ownerId === ownerId);
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
		await this.#moves.close();
		await this.removePurged();
	}

	#onAdded(record: TrashRecord): void {
		void this.#limits.added(record);
		if (record.size === undefined) void this.#sizes.of(record);
	}
}

function isChosen(record: TrashRecord, { ids, ownerId, rootId, deletedUntil }: TrashSelection): boolean {
	if (ids !== undefined && !ids.includes(record.id)) return false;
	if (ownerId !== undefined && record.ownerId !== ownerId) return false;
	if (rootId !== undefined && record.rootId !== rootId) return false;
	return deletedUntil === undefined || record.deletedAt <= deletedUntil;
}
