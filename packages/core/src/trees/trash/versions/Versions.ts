import type { FileVersion, OpenFile, StorageItem } from '@stowage/plugin-api';
import { type StoragePath, type User, undefinedIf, type Viewer } from '@stowage/rules';
import { createKeyedMutex } from '../../../limits/keyedMutex.js';
import { filterInBatches } from '../../filterInBatches.js';
import { identityOf, versionOf } from '../../identity.js';
import type { HomeStorage } from '../../storage/HomeStorage.js';
import { prefixedFile } from '../../storage/rootIds.js';
import { isTrashed, locateTrashed } from '../locateTrashed.js';
import { withTrashFolder } from '../moveTrash.js';
import type { TrashBin } from '../TrashBin.js';
import { type NewContent, type TrashParts, trashedBy, warnOfTrash } from '../trashParts.js';
import { trashedPath } from '../trashPaths.js';
import { ContentWriters } from './ContentWriters.js';
import { bindVersions, settleHere } from './finishVersion.js';
import { VersionCounts } from './VersionCounts.js';
import { type FileContent, VersionLimit } from './VersionLimit.js';
import { VersionPaths } from './VersionPaths.js';

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
	readonly #limit: VersionLimit;
	readonly #writers: ContentWriters;
	/** One list of a user after the other: others' calls of the disk would wait behind all that is looked up. */
	readonly #inTurn = createKeyedMutex();

	constructor(parts: TrashParts, bin: TrashBin) {
		this.counts = new VersionCounts(parts);
		this.paths = new VersionPaths(parts, bin, (ownerId, path) => this.#endWithin(ownerId, path));
		this.#parts = parts;
		this.#bin = bin;
		this.#limit = new VersionLimit(parts, bin);
		this.#writers = new ContentWriters(parts);
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
	 * versions of the former one. Throws `forbidden` where a member may add no more to them, and `locked` where a move from or to its path
	 * is left to be completed.
	 */
	async keep(
		{ user, storage, path, item }: Replaced,
		content: NewContent,
		replace: (keepAs: StoragePath, beforeNaming: () => Promise<void>) => Promise<StorageItem>,
	): Promise<StorageItem> {
		const replacedId = identityOf(item);
		// A move from here that is completed later would take these with it, and one to here would not find its file any more.
		await this.paths.completeAt(user.id, path);
		// Most replacements are the owner's: these don't look up who has created the file, as its first version stays in any case.
		const writtenBy = await this.#writers.of(user.id, item, { isCreatorSought: user.member !== undefined });
		const version = {
			...trashedBy(user),
			rootId: (await storage.mount()).storage.rootId,
			path,
			kind: 'version',
			type: 'file',
			size: { bytes: item.size, entries: 1 },
			mtime: item.mtime,
			versionOf: replacedId,
			replacedId,
			...(writtenBy === undefined ? {} : { writtenBy }),
		} as const;
		const exchange = async (to: StoragePath, begin: () => Promise<void>) => {
			let brought: number | undefined;
			let moved: FileContent | undefined;
			const made = await withTrashFolder(storage, () =>
				// Not before: others add versions meanwhile, and moves come one after the other there.
				replace(to, async () => {
					moved = content.kind === 'moved' ? await this.#writers.at(user.id, storage, content.from) : undefined;
					const former = { file: replacedId, path, writtenBy };
					brought = await this.#limit.assertRoom(user, former, content, moved);
					await begin();
				}),
			);
			const writer = async () => (brought === undefined ? undefined : this.#writers.ofNew(user, content, made, moved));
			await this.#bind(version, made, writer, ({ file, count }) =>
				this.#limit.apply(user.id, { file, path }, { count, brought: brought ?? 0 }, user.member),
			);
			return made;
		};
		return this.#bin.moves.keepReplaced(version, replacedId, exchange, content);
	}

	/** Notes that the viewer has created a file with a content of their own: of members it is kept for a while. */
	async created(viewer: Viewer, made: StorageItem): Promise<void> {
		if (!this.isOn || viewer.kind !== 'user' || viewer.member === undefined || made.type !== 'file') return;
		await this.#writers.created(viewer.id, viewer.member, made);
	}

	/** What a file that was replaced without becoming a version had, the new one has. */
	async follow({ user, path, item }: Pick<Replaced, 'user' | 'path' | 'item'>, made: StorageItem): Promise<void> {
		await this.#bind({ ownerId: user.id, path, replacedId: identityOf(item) }, made);
	}

	/** The versions of a file that can be restored, the newest first. Throws `locked` where it is not known which are its own. */
	async list(ownerId: string, path: StoragePath, item: StorageItem): Promise<FileVersion[]> {
		const { versions } = this.#parts;
		if (!this.isOn || !(await versions.hasAny(ownerId))) return [];
		// Those of what was here before would be this file's.
		await this.paths.completeFrom(ownerId, path);
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

	/** The versions of what is at a path of an owner's home, or below, end. */
	async #endWithin(ownerId: string, path: StoragePath): Promise<void> {
		const owner = await this.#parts.users.get(ownerId);
		if (owner !== undefined) await this.end(ownerId, await this.counts.filesWithin({ ...owner, kind: 'user' }, path));
	}

	/** `writer` resolves to the member who is known to have written the new content. */
	async #bind(
		version: Pick<FileVersion, 'ownerId' | 'path' | 'replacedId'>,
		made: StorageItem,
		writer?: () => Promise<string | undefined>,
		onBound?: (bound: { file: string; count: number }) => Promise<void>,
	): Promise<void> {
		try {
			const file = identityOf(made);
			const writtenBy = await writer?.();
			const next = writtenBy === undefined ? undefined : { item: versionOf(made), writtenBy };
			const count = await bindVersions(this.#parts, version, file, next);
			await onBound?.({ file, count });
		} catch (error) {
			// The file is replaced, and a sweep completes it.
			warnOfTrash(this.#parts, error);
		}
	}
}
