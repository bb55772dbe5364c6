import type { LinkStore } from '@stowage/plugin-api';
import { Failure, type StoragePath, type User } from '@stowage/rules';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import { isTrashedLink, trashedBytes } from '../trees/trash/trashPaths.js';

/**
 * Bytes of the paths of one user's links, items of shares and folders with members, beyond which none of them gets longer, and no long
 * one is added.
 */
const maxBytes = 64 * 1024 * 1024;

/**
 * Of a path that is not longer the limits of how many there are suffice, and the database's disk need not be asked. As many as 130
 * characters of Chinese or Japanese take.
 */
const shortBytes = 400;

/** A path is written to its row and to an index of that, and both to the journal. */
const timesWritten = 4;

interface Dependencies {
	links: Pick<LinkStore, 'pathBytes'>;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
}

/** What paths that are about to be written take. */
export class PathSizes {
	/** Bytes of the long ones. */
	long = 0;
	/** Bytes by which all of them get longer. */
	more = 0;

	/** What new paths take. */
	static of(...paths: readonly StoragePath[]): PathSizes {
		const sizes = new PathSizes();
		for (const path of paths) sizes.add(Buffer.byteLength(path));
		return sizes;
	}

	/** Adds a path of so many bytes, in place of a former one. */
	add(bytes: number, former = 0): void {
		if (bytes > shortBytes) this.long += bytes;
		this.more += bytes - former;
	}
}

/** Room in the database for the paths of what follows items: some thousands of them get long by one move of a folder. */
export class PathRoom {
	readonly #parts: Dependencies;
	readonly #maxBytes: number;

	constructor(parts: Dependencies, limit = maxBytes) {
		this.#parts = parts;
		this.#maxBytes = limit;
	}

	/** Throws `storageFull` where the paths would touch the reserve, or their owner would have too many bytes of them. */
	async assertRoom(
		{ id, member }: Pick<User, 'id' | 'member'>,
		{ long, more }: PathSizes,
		{ from, to }: { from?: StoragePath; to?: StoragePath } = {},
	): Promise<void> {
		if (long === 0) return;
		const [leavesTrash, isDeleted] = [from, to].map((path) => path !== undefined && isTrashedLink(path));
		if (!(leavesTrash || isDeleted) || long > trashedBytes)
			await this.#parts.databaseReserve.assertRoom(timesWritten * long);
		// There a path gets longer by the name of the item in the trash at most.
		if (isDeleted) return;
		if (more <= 0 || (await this.#parts.links.pathBytes(id)) + more <= this.#maxBytes) return;
		const whose = member === undefined ? 'You have' : 'The owner of this folder has';
		throw new Failure('storageFull', `${whose} no room for more long paths of what is shared.`);
	}
}
