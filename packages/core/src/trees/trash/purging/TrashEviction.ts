import { setTimeout as wait } from 'node:timers/promises';
import type { TrashRecord, TrashSelection, TrashSize } from '@stowage/plugin-api';
import { createKeyedMutex } from '../../../limits/keyedMutex.js';
import type { UnrecordedItems } from '../recording/UnrecordedItems.js';
import { type TrashParts, trashBatch, warnOfTrash } from '../trashParts.js';
import type { PurgedRemoval } from './PurgedRemoval.js';
import type { TrashPurge } from './TrashPurge.js';
import type { TrashRoom } from './TrashRoom.js';

/** Whose trash gives way, or that of which disk. */
type GivingWay = Pick<TrashSelection, 'ownerId' | 'rootId'>;

/** How often it is looked whether there is room, while what gave way is being removed. */
const lookMs = 50;

/** What gave way may be a folder of millions of files: whoever waits for it is refused, and may try again. */
const maxFreeingMs = 15_000;

/** Pauses in which a file system may count as free what was removed. */
const settlingMs = [50, 200, 800, 2_000] as const;

/** Files may be compressed, and others write meanwhile. */
const leastShare = 0.1;

/** After so many steps by which there is no more room than before nothing gives way there for some minutes. */
const maxInVain = 2;
const restMs = 10 * 60_000;

const isNothing = ({ bytes, entries }: TrashSize): boolean => bytes <= 0 && entries <= 0;

/** Eviction: the oldest of the trash gives way to what is written, step by step, until there is room or it helps no more. */
export class TrashEviction {
	readonly #parts: TrashParts;
	readonly #unrecorded: Pick<UnrecordedItems, 'recordIfPossible'>;
	readonly #room: TrashRoom;
	readonly #removal: PurgedRemoval;
	readonly #purge: Pick<TrashPurge, 'end'>;
	readonly #alone = createKeyedMutex();
	/** Until when nothing gives way, since it was in vain here. */
	readonly #restsUntil = new Map<string, number>();

	constructor(
		parts: TrashParts,
		unrecorded: Pick<UnrecordedItems, 'recordIfPossible'>,
		room: TrashRoom,
		removal: PurgedRemoval,
		purge: Pick<TrashPurge, 'end'>,
	) {
		this.#parts = parts;
		this.#unrecorded = unrecorded;
		this.#room = room;
		this.#removal = removal;
		this.#purge = purge;
	}

	/**
	 * Whether so much could give way; nothing does. For what is announced: an announcement costs its client nothing, and what gives way is
	 * gone.
	 */
	async canGiveWay(selection: GivingWay, lack: TrashSize): Promise<boolean> {
		await this.#unrecorded.recordIfPossible();
		return this.#couldGiveWay(selection, lack);
	}

	async #couldGiveWay(selection: GivingWay, lack: TrashSize): Promise<boolean> {
		const key = JSON.stringify(selection);
		if ((this.#restsUntil.get(key) ?? 0) > this.#parts.monotonic()) return false;
		if (!(await this.#room.has(selection, lack))) return false;
		// Each process that found it out for itself would cost some of the trash.
		return (await this.#parts.inVain.get(key)) === undefined;
	}

	/**
	 * Makes room for what is written now: purges the oldest until nothing is lacking any more, if there is so much, versions first; resolves
	 * to whether it is so. `lackNow` is asked again after each step: what gave way to others may be enough for all, and a disk may free less
	 * than its files had (other names or copies that share their bytes, snapshots), or later.
	 */
	async giveWay(selection: GivingWay, lackNow: () => Promise<TrashSize>): Promise<boolean> {
		await this.#unrecorded.recordIfPossible();
		// All who ask in vain are answered by the same sum, and don't wait for each other.
		const lackBefore = await lackNow();
		if (isNothing(lackBefore)) return true;
		if (!(await this.#couldGiveWay(selection, lackBefore))) return false;
		return this.#alone(JSON.stringify(selection), async () => {
			const { rootId } = selection;
			for (let inVain = 0; ; ) {
				await this.#untilFree(rootId, lackNow);
				const lack = await lackNow();
				if (isNothing(lack)) return true;
				// What is still on its way to be free may be enough.
				if (this.#removal.isFreeing(rootId) || !(await this.#couldGiveWay(selection, lack))) return false;
				const given = await this.#endOldest(selection, lack);
				if (given === undefined) return false;
				this.#room.gave(selection, given);
				await this.#removal.freeSpace();
				if (await this.#hasHelped(rootId, lack, given, lackNow)) inVain = 0;
				else if (++inVain === maxInVain) {
					await this.#rest(selection);
					return false;
				}
			}
		});
	}

	/** Chooses the oldest for so much; resolves to how much they have, or to undefined where there is nothing. */
	async #endOldest(selection: GivingWay, lack: TrashSize): Promise<TrashSize | undefined> {
		const { store } = this.#parts;
		const freed: TrashSize = { bytes: 0, entries: 0 };
		const isEnough = () => freed.bytes >= lack.bytes && freed.entries >= lack.entries;
		while (!isEnough()) {
			const chosen: TrashRecord[] = [];
			const oldest = (kind: TrashRecord['kind']) =>
				store.list({ order: 'oldest', limit: trashBatch, kind, ...selection });
			const versions = await oldest('version');
			for (const record of versions.length > 0 ? versions : await oldest('item')) {
				if (isEnough()) break;
				chosen.push(record);
				freed.bytes += record.size?.bytes ?? 0;
				freed.entries += record.size?.entries ?? 0;
			}
			if (chosen.length === 0) return undefined;
			await this.#purge.end(chosen, 'space');
		}
		return freed;
	}

	/** Waits until what was removed from a disk is free, if there is not room enough before. */
	async #untilFree(rootId: string | undefined, lackNow: () => Promise<TrashSize>): Promise<void> {
		const end = this.#parts.monotonic() + maxFreeingMs;
		while (this.#removal.isFreeing(rootId) && this.#parts.monotonic() < end) {
			await wait(lookMs);
			if (isNothing(await lackNow())) return;
		}
	}

	/** Whether a disk, or a quota, has about as much more room as what gave way had. */
	async #hasHelped(
		rootId: string | undefined,
		before: TrashSize,
		given: TrashSize,
		lackNow: () => Promise<TrashSize>,
	): Promise<boolean> {
		await this.#untilFree(rootId, lackNow);
		const hasHelped = async () => {
			const left = await lackNow();
			if (isNothing(left) || this.#removal.isFreeing(rootId)) return true;
			return before.bytes - left.bytes > given.bytes * leastShare || before.entries > left.entries;
		};
		// Some file systems count it as free some moments later.
		for (const ms of settlingMs) {
			if (await hasHelped()) return true;
			await wait(ms);
		}
		return hasHelped();
	}

	async #rest(selection: GivingWay): Promise<void> {
		const key = JSON.stringify(selection);
		this.#restsUntil.set(key, this.#parts.monotonic() + restMs);
		// A full disk may have no room for that either.
		await this.#parts.inVain.set(key, true, restMs).catch((error: unknown) => warnOfTrash(this.#parts, error));
		this.#parts.log.warn(
			selection,
			'items of the trash gave way, and there is no more room than before (snapshots or copies may hold it): nothing more does for some minutes',
		);
	}
}
