import { Yielder } from '@stowage/plugin-api';
import { type StoragePath, type User, utf8Length } from '@stowage/rules';
import type { TrashBin } from '../TrashBin.js';
import { assertRoomForLonger, type TrashParts, warnOfTrash } from '../trashParts.js';
import { isTrashedLink, trashedBytes } from '../trashPaths.js';
import { PlannedMoves } from './PlannedMoves.js';

/** Bytes of a target for which the database's disk need not be asked: what a path gets longer by is little then. */
const shortBytes = 140;

/** The paths of versions, which follow those of their files, and may get longer by that. */
export class VersionPaths {
	readonly #parts: TrashParts;
	readonly #bin: Pick<TrashBin, 'allowance' | 'limits'>;
	readonly #planned: PlannedMoves;

	constructor(parts: TrashParts, bin: Pick<TrashBin, 'allowance' | 'limits'>) {
		this.#parts = parts;
		this.#bin = bin;
		this.#planned = new PlannedMoves(parts);
	}

	/** Called before a file is moved, or a folder with all in it. Resolves to whether there are versions in it. */
	async begin(ownerId: string, from: StoragePath, to: StoragePath): Promise<boolean> {
		let count = 0;
		await this.#parts.versions.countsWithin(ownerId, from, async (files) => {
			count += files.length;
		});
		if (count > 0) await this.#planned.begin(ownerId, from, to);
		return count > 0;
	}

	/** Corrects the paths of what was moved as its process, its disk or the database failed, and of the move from `failed`. */
	complete(ownerId: string, failed?: StoragePath): Promise<void> {
		return this.#planned.complete(ownerId, (from, to) => this.#move(ownerId, from, to), failed);
	}

	/**
	 * Called before a file is moved, or a folder with all in it. Throws `storageFull` where longer paths of versions would take the last room
	 * of the database, unless they are few and leave the trash, and for a member where versions of the owner would have to go for them.
	 */
	async assertRoomAt(
		{ id: ownerId, member }: Pick<User, 'id' | 'member'>,
		from: StoragePath,
		to: StoragePath,
	): Promise<void> {
		const bytes = utf8Length(to);
		const longer = bytes - utf8Length(from);
		if (longer <= 0 || (member === undefined && bytes <= shortBytes)) return;
		let count = 0;
		await this.#parts.versions.countsWithin(ownerId, from, async (files) => {
			for (const file of files) count += file.count;
		});
		if (count === 0) return;
		if (member !== undefined)
			await this.#bin.allowance.assertRoomForVersionPaths(ownerId, member.username, count * longer);
		const isPutBack = isTrashedLink(from) && count * longer <= trashedBytes;
		if (bytes > shortBytes && !isPutBack) await assertRoomForLonger(this.#parts, count * longer);
	}

	/** A file, or a folder with all in it, has been moved. `isPlanned` is what `begin` has said. */
	async moved(ownerId: string, from: StoragePath, to: StoragePath, isPlanned = false): Promise<void> {
		try {
			await this.#move(ownerId, from, to);
			if (isPlanned) await this.#planned.end(ownerId, from, to);
		} catch (error) {
			warnOfTrash(this.#parts, error);
		}
	}

	async #move(ownerId: string, from: StoragePath, to: StoragePath): Promise<void> {
		const yielder = new Yielder();
		const longer = Math.max(0, utf8Length(to) - utf8Length(from));
		for (;;) {
			const count = await this.#parts.versions.move(ownerId, from, to);
			if (count === 0) return;
			if (longer > 0) await this.#bin.limits.lengthened(ownerId, count * longer);
			if (yielder.shouldYield) await yielder.yield();
		}
	}
}
