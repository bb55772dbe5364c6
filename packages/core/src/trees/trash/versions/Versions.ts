import type { FileVersion, OpenFile, StorageItem, VersionedFile } from '@stowage/plugin-api';
import { type StoragePath, type User, undefinedIf } from '@stowage/rules';
import { createKeyedMutex } from '../../../limits/keyedMutex.js';
import { filterInBatches } from '../../filterInBatches.js';
import { identityOf } from '../../identity.js';
import type { HomeStorage } from '../../storage/HomeStorage.js';
import { prefixedFile } from '../../storage/rootIds.js';
import { isTrashed, locateTrashed } from '../locateTrashed.js';
import { withTrashFolder } from '../moveTrash.js';
import type { TrashBin } from '../TrashBin.js';
import { type ExchangeOptions, type TrashParts, trashedBy, warnOfTrash } from '../trashParts.js';
import { trashedPath } from '../trashPaths.js';
import { bindVersions, settleHere } from './finishVersion.js';
import { VersionCounts } from './VersionCounts.js';
import { VersionPaths } from './VersionPaths.js';

/** Versions of one file. */
const maxVersions = 50;

/** Where members replace each other's contents, a file may have this many times as many versions before these give way as well. */
const alternatingFactor = 4;

/** A file that is about to be replaced. */
interface Replaced {
	user: User;
	storage: HomeStorage;
	/** Relative to the home. */
	path: StoragePath;
	item: StorageItem;
}

/**
 * The former contents of files. A version is an item of the trash that belongs to a file: by its identity, so that it
 * follows the file wherever that goes, and by its path, so that those of a folder are found, and a file that another
 * program has put in the place of the former one has them as well. Its row is written, as its own version, right before the
 * replacement, and bound to the new file after it: what is interrupted between the two is completed by what the disk
 * says.
 */
export class Versions {
	readonly counts: VersionCounts;
	readonly paths: VersionPaths;
	readonly #parts: TrashParts;
	readonly #bin: TrashBin;
	/** One list of a user after the other: others' calls of the disk would wait behind all that is looked up. */
	readonly #inTurn = createKeyedMutex();

	constructor(parts: TrashParts, bin: TrashBin) {
		this.counts = new VersionCounts(parts);
		this.paths = new VersionPaths(parts, bin);
		this.#parts = parts;
		this.#bin = bin;
	}

	/** Whether former contents are kept at all. */
	get isOn(): boolean {
		return this.keepFor > 0;
	}

	/** Milliseconds. */
	get keepFor(): number {
		return this.#parts.config.versions.keepFor;
	}

	/**
	 * Runs `replace`, which replaces a file, keeps it under the given path, and awaits `beforeNaming` before that. The new file has all
	 * versions of the former one.
	 */
	async keep(
		{ user, storage, path, item }: Replaced,
		replace: (keepAs: StoragePath, beforeNaming: () => Promise<void>) => Promise<StorageItem>,
		options?: ExchangeOptions,
	): Promise<StorageItem> {
		const replacedId = identityOf(item);
		const version = {
			...trashedBy(user),
			rootId: (await storage.mount()).storage.rootId,
			path,
			type: 'file',
			size: { bytes: item.size, entries: 1 },
			mtime: item.mtime,
			versionOf: replacedId,
			replacedId,
		} as const;
		const exchange = async (to: StoragePath, begin: () => Promise<void>) => {
			const made = await withTrashFolder(storage, () => replace(to, begin));
			await this.#bind(version, made, user.member?.username);
			return made;
		};
		return this.#bin.moves.keepVersion(version, exchange, options);
	}

	/** What a file that was replaced without becoming a version had, the new one has. */
	async follow({ user, path, item }: Pick<Replaced, 'user' | 'path' | 'item'>, made: StorageItem): Promise<void> {
		await this.#bind({ ownerId: user.id, path, replacedId: identityOf(item) }, made);
	}

	/** The versions of a file that can be restored, the newest first. */
	async list(ownerId: string, path: StoragePath, item: StorageItem): Promise<FileVersion[]> {
		const { versions } = this.#parts;
		if (!this.isOn || !(await versions.hasAny(ownerId))) return [];
		// What a process had no time to bind.
		for (const version of await versions.unfinished(ownerId, path))
			if (version.replacedId !== identityOf(item) && (await isTrashed(this.#parts, version)))
				await settleHere(this.#parts, version, 'moving');
		const file = identityOf(item);
		const found = await versions.of(ownerId, { file, path });
		if (found.some((version) => version.path !== path)) await versions.place(ownerId, { file, path });
		// Whatever its row says: one that was just taken out by a process that has died is listed by no other.
		return this.#inTurn(ownerId, () => filterInBatches(found, (version) => isTrashed(this.#parts, version)));
	}

	/** The caller closes it. Undefined once it is gone. */
	async open(version: FileVersion): Promise<OpenFile | undefined> {
		const located = await locateTrashed(this.#parts, version);
		if (located === undefined) return undefined;
		const { storage, idPrefix } = located.mount;
		const file = await undefinedIf(storage.open(trashedPath(version.id)), 'notFound');
		return file && prefixedFile(file, idPrefix);
	}

	/** Files, given by their identities, are gone for good, and all their versions with them. */
	async end(ownerId: string, files: ReadonlySet<string>): Promise<void> {
		try {
			const ended = await this.#parts.versions.beginPurging(ownerId, [...files]);
			if (ended > 0) void this.#bin.removePurged();
		} catch (error) {
			warnOfTrash(this.#parts, error);
		}
	}

	/** `member` is who has replaced it, if that is not its owner. */
	async #bind(
		version: Pick<FileVersion, 'ownerId' | 'path' | 'replacedId'>,
		made: StorageItem,
		member?: string,
	): Promise<void> {
		try {
			const file = identityOf(made);
			const count = await bindVersions(this.#parts, version, file);
			if (count > maxVersions) await this.#limit(version.ownerId, { file, path: version.path }, member);
		} catch (error) {
			// The file is replaced, and a sweep completes it.
			warnOfTrash(this.#parts, error);
		}
	}

	async #limit(ownerId: string, file: VersionedFile, member: string | undefined): Promise<void> {
		const all = await this.#parts.versions.of(ownerId, file);
		await this.#bin.endSuperfluous(superfluous(all, maxVersions, member), member);
	}
}

/**
 * The versions to remove so that `limit` are left: each time the one that is closest to its neighbours, never the first
 * or the last. A replacement by `member` removes only contents that this member has written, so others' may exceed the
 * limit. Where members take turns, their contents remove each other's from four times the limit on, and never the
 * owner's.
 */
export function superfluous<T extends { deletedAt: number; deletedBy: string; ownerName: string }>(
	versions: readonly T[],
	limit: number,
	member?: string,
): T[] {
	const left = [...versions].sort((one, other) => one.deletedAt - other.deletedAt);
	const removed: T[] = [];
	const gapAt = (at: number) => (left[at + 1]?.deletedAt ?? 0) - (left[at - 1]?.deletedAt ?? 0);
	const thin = (count: number, isOf: (each: T) => boolean) => {
		// What follows a content that somebody has replaced is theirs. Both must be, or the next one would count as such
		// once this one is gone.
		const mayGo = (at: number) => [left[at - 1], left[at]].every((each) => each !== undefined && isOf(each));
		while (left.length > count) {
			let closest: number | undefined;
			for (let at = 1; at < left.length - 1; at++)
				if (mayGo(at) && (closest === undefined || gapAt(at) < gapAt(closest))) closest = at;
			if (closest === undefined) break;
			removed.push(...left.splice(closest, 1));
		}
	};
	thin(limit, ({ deletedBy }) => member === undefined || deletedBy === member);
	thin(limit * alternatingFactor, ({ deletedBy, ownerName }) => deletedBy !== ownerName);
	return removed;
}
