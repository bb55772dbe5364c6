import type { StoragePath } from '@stowage/rules';
import type { FileVersion } from './trash.js';

/** A file that has versions, by its identity, and its path relative to the home. */
export interface VersionedFile {
	file: string;
	path: StoragePath;
}

export interface VersionCount extends VersionedFile {
	count: number;
}

/**
 * Versions by the files that have them. They are rows of the trash, which removes them; here they follow their files.
 * One that is just becoming a version still belongs to itself: only `unfinished` has it. None but `hasAny` has one
 * that is `purging`.
 */
export interface VersionStore {
	/** Whether there may be something to look for: also what is `purging` counts, of which there may be very much. */
	hasAny(ownerId: string): Promise<boolean>;
	/** Whether there are any of the file at the path, or of files in a folder and below, finished or not. */
	hasWithin(ownerId: string, path: StoragePath): Promise<boolean>;
	/** The versions of one file, and of files that had its path before, the newest first. */
	of(ownerId: string, file: VersionedFile): Promise<FileVersion[]>;
	/**
	 * The version counts of up to `limit` files that lie directly in these folders, in some order. With one folder,
	 * from the file that follows `after`.
	 */
	countsIn(
		ownerId: string,
		folders: readonly StoragePath[],
		page: { limit: number; after?: VersionedFile | undefined },
	): Promise<VersionCount[]>;
	/** Calls `use`, one call after the other, with the version counts of the file at the path, or of all files in a folder and below. */
	countsWithin(ownerId: string, path: StoragePath, use: (some: VersionCount[]) => Promise<void>): Promise<void>;
	/** The versions at a path that are being made, or were when their process ended. */
	unfinished(ownerId: string, path: StoragePath): Promise<FileVersion[]>;
	/**
	 * A file, or a folder with all in it, is at another path now. Moves some, and resolves to how many, to 0 once none is
	 * left: there may be very many.
	 */
	move(ownerId: string, from: StoragePath, to: StoragePath): Promise<number>;
	/**
	 * What belonged to a file belongs to the other one from now on. Resolves to how many versions that are. `next` is kept with the one that
	 * is still its own.
	 */
	bind(ownerId: string, former: string, file: string, next?: FileVersion['next']): Promise<number>;
	/**
	 * The member who is known to have written the item with this content, which is the file now. With `isBeginning` it is the item whose
	 * text begins so.
	 */
	writerOf(
		ownerId: string,
		file: string,
		item: string,
		options?: { isBeginning?: boolean },
	): Promise<string | undefined>;
	/** Corrects the path of a file. */
	place(ownerId: string, file: VersionedFile): Promise<void>;
	/** Marks all versions of these files as `purging`. Resolves to how many were not before. */
	beginPurging(ownerId: string, files: readonly string[]): Promise<number>;
	/** Makes a version an ordinary item of the trash, which was at this path. */
	detach(id: string, path: StoragePath): Promise<void>;
}
