import { Yielder } from '@stowage/plugin-api';
import { isPublicPath, type StoragePath, type User, utf8Length } from '@stowage/rules';
import type { TrashBin } from '../TrashBin.js';
import { assertRoomForLonger, type TrashParts, type UncompletedMoves, warnOfTrash } from '../trashParts.js';
import { isTrashedLink, trashedBytes } from '../trashPaths.js';
import { itemAt } from './finishVersion.js';
import { assertNoneLeft, BeingMoved, isConcerned, type MoveRight, PlannedMoves } from './PlannedMoves.js';

/** Bytes of a target for which the database's disk need not be asked: what a path gets longer by is little then. */
const shortBytes = 140;

/** The paths of versions, which follow those of their files, and may get longer by that. */
export class VersionPaths {
	readonly #parts: TrashParts;
	readonly #bin: Pick<TrashBin, 'allowance' | 'limits'>;
	readonly #planned: PlannedMoves;
	readonly #onMadePublic: (ownerId: string, path: StoragePath) => Promise<void>;

	/** `onMadePublic` is called with what has got into the public folder of its owner, once its versions have its path. */
	constructor(
		parts: TrashParts,
		bin: Pick<TrashBin, 'allowance' | 'limits'>,
		onMadePublic: (ownerId: string, path: StoragePath) => Promise<void>,
	) {
		this.#parts = parts;
		this.#bin = bin;
		this.#onMadePublic = onMadePublic;
		this.#planned = new PlannedMoves(parts, (ownerId, ...move) => this.#move(ownerId, ...move));
	}

	/**
	 * Called before a file is moved, or a folder with all in it, and before the locks of the disk: it may wait for long. Resolves to the
	 * right to do so, which the caller releases, if there are versions in it, or an interrupted move of some leads there. Throws `locked`
	 * where another process moves files of that user for long.
	 */
	async begin(ownerId: string, from: StoragePath, options?: { mayWait: boolean }): Promise<MoveRight | undefined> {
		const hasVersions =
			(await this.#planned.of(ownerId)).leadTo(from) || (await this.#parts.versions.hasWithin(ownerId, from));
		if (hasVersions) return this.#planned.begin(ownerId, options);
		// What was interrupted may concern the target, which is known only later.
		if (options?.mayWait !== false) await this.#planned.complete(ownerId);
		return undefined;
	}

	/**
	 * Called right before it is moved, with the right that `begin` has given, and again where it gets another name. Resolves to the right.
	 * Throws `locked` where a move that is left concerns either path, also where it has no versions.
	 */
	async plan(
		ownerId: string,
		from: StoragePath,
		to: StoragePath,
		begun: MoveRight | undefined,
	): Promise<MoveRight | undefined> {
		// Its first version may have come since.
		const right = begun ?? (await this.begin(ownerId, from, { mayWait: false }));
		try {
			if (right !== undefined) await right.plan(from, to);
			// What is still where it was is not left, and can't be told from the plans alone.
			else if (isConcerned(await this.planned(ownerId), from, to))
				assertNoneLeft(await this.complete(ownerId), from, to);
		} catch (error) {
			if (begun === undefined) await right?.release();
			throw error;
		}
		return right;
	}

	/** Corrects the paths of what was moved as its process, its disk or the database failed. Resolves to what is left of that. */
	complete(ownerId: string): Promise<UncompletedMoves> {
		return this.#planned.complete(ownerId);
	}

	/** All moves that are planned, whether they go on or were interrupted. */
	planned(ownerId: string): Promise<UncompletedMoves> {
		return this.#planned.of(ownerId);
	}

	/** As `complete` does. Throws `locked` where versions at that path may still be of what was moved away from there. */
	completeFrom(ownerId: string, path: StoragePath): Promise<void> {
		return this.#planned.completeBefore(ownerId, (moves) => moves.leadFrom(path));
	}

	/** As `complete` does. Throws `locked` where versions of what is at that path, or below, may still have other paths. */
	completeTo(ownerId: string, path: StoragePath): Promise<void> {
		return this.#planned.completeBefore(ownerId, (moves) => moves.leadTo(path));
	}

	/** As `completeFrom` does, before the file at that path is replaced, and also where it may have been moved there. */
	completeAt(ownerId: string, path: StoragePath): Promise<void> {
		return this.#planned.completeBefore(ownerId, (moves) => moves.leadFrom(path) || moves.endAt(path));
	}

	/** As `complete` does. Throws where that can't be done now. */
	completeAll(ownerId: string): Promise<void> {
		return this.#planned.completeAll(ownerId);
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

	/** A file, or a folder with all in it, has been moved, with the right that `plan` has given. */
	async moved(ownerId: string, from: StoragePath, to: StoragePath, right: MoveRight | undefined): Promise<void> {
		let again: MoveRight | undefined;
		try {
			if (right?.isHeld === false) {
				// Who had the right meanwhile may have looked before the item was moved, and has removed the plan then.
				await right.release();
				again = await this.#planned.begin(ownerId, { mayWait: false });
				// What has got the former path since may have versions of its own.
				if ((await itemAt(this.#parts, ownerId, from)) !== undefined) return;
			}
			await this.#move(ownerId, from, to, again ?? right);
			await (again ?? right)?.end(from, to);
		} catch (error) {
			warnOfTrash(this.#parts, error);
		} finally {
			await again?.release();
		}
	}

	/** A move has failed. The item may be at its target all the same: only a sync, or an answer, has failed. */
	async failed(right: MoveRight | undefined): Promise<void> {
		await right?.complete().catch((error: unknown) => warnOfTrash(this.#parts, error));
	}

	/** What is made public leaves its versions behind, since its former contents are not meant for others. */
	async #move(ownerId: string, from: StoragePath, to: StoragePath, right: MoveRight | undefined): Promise<void> {
		const yielder = new Yielder();
		const longer = Math.max(0, utf8Length(to) - utf8Length(from));
		for (;;) {
			// Who has the right now completes it, and what has got the former path since may have versions by then.
			if (right?.isHeld === false) throw new BeingMoved();
			const count = await this.#parts.versions.move(ownerId, from, to);
			if (count === 0) break;
			if (longer > 0) await this.#bin.limits.lengthened(ownerId, count * longer);
			if (yielder.shouldYield) await yielder.yield();
		}
		// What is restored goes to where it was.
		if (isPublicPath(to) && !isPublicPath(from) && !isTrashedLink(from)) await this.#onMadePublic(ownerId, to);
	}
}
