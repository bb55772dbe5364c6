import type { KeyValueStore, TrashRecord, TrashStore, UserStore, VersionStore } from '@stowage/plugin-api';
import { anonymousOwner, type StoragePath, type User, utf8Length, type Visitor } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import type { Leases } from '../../leases/createLeases.js';
import type { DatabaseReserve } from '../../limits/databaseReserve.js';
import type { Log } from '../../log.js';
import type { MountedStorage } from '../storage/MountedStorage.js';
import type { Mount } from '../storage/Mounts.js';

/** Whom something in the trash belongs to, with the name of the time when it was deleted. */
export type TrashOwner = Pick<TrashRecord, 'ownerId' | 'ownerName'>;

/** What the trash works with. */
export interface TrashParts {
	store: TrashStore;
	versions: VersionStore;
	/** Where more of the trash would give way in vain: none of the processes tries it for a while. */
	inVain: Pick<KeyValueStore, 'get' | 'set'>;
	/** The moves under way of files with versions (`PlannedMoves`), and the leases of who makes them. */
	moves: KeyValueStore;
	leases: Pick<Leases, 'acquire'>;
	/** The members who have written the first contents of files, of which no version can tell it. */
	creators: Pick<KeyValueStore, 'get' | 'set'>;
	users: Pick<UserStore, 'get'>;
	/** Throws until it is open. */
	storage(): MountedStorage;
	config: Pick<Config, 'trash' | 'versions' | 'uploads'>;
	databaseReserve: DatabaseReserve;
	/** Called when a user's trash is another one than it was. */
	onChanged(ownerId: string): void;
	/** Called with each item whose space is free again. */
	onPurged(record: TrashRecord): void;
	/**
	 * Called when items are removed for good that nobody chose: their space was wanted, or there were too many of one user, or those of all
	 * users that were old enough. `member` is the name of the one whose replacement was one too many, where that is not the owner.
	 */
	onEnded(
		kind: TrashRecord['kind'],
		entries: number,
		reason: 'expired' | 'space' | 'number',
		owner?: TrashOwner,
		member?: string,
	): Promise<void>;
	/** Called with each item that was copied from the trash of one root to that of another one, before the first one is removed. */
	onMovedAcross(record: TrashRecord, from: Mount, to: Mount): Promise<void>;
	/** Called before versions of that owner are used by their paths: those of interrupted moves are corrected. Resolves to what is left. */
	completeMoves(ownerId: string): Promise<UncompletedMoves>;
	/** Moves of files with versions of that owner that are planned, whether they go on or were interrupted. */
	plannedMoves(ownerId: string): Promise<UncompletedMoves>;
	/** Called with each file that another one has replaced, maybe more than once: what belonged to the former one belongs to that. */
	onReplaced(replaced: ReplacedFile): Promise<void>;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** Moves of files with versions that were interrupted, and can't be completed now, or that go on in another process. */
export interface UncompletedMoves {
	/** Whether versions at a path, or below, may be those of what was moved away from there. */
	leadFrom(path: StoragePath): boolean;
	/** Whether versions of what is at a path, or below, may still have other paths. */
	leadTo(path: StoragePath): boolean;
	/** Whether what is at this very path may have been moved there: if it is replaced, nobody finds where its versions belong. */
	endAt(path: StoragePath): boolean;
}

/**
 * Where the content that replaces a file comes from: it is written by who replaces it, is moved there with a file from another path
 * of the storage, or was a version, which leaves the trash.
 */
export type NewContent =
	| { kind: 'written' }
	| { kind: 'moved'; from: StoragePath }
	| { kind: 'restored'; writtenBy: string | undefined };

/** A replaced file and the one in its place, by their identities. */
export interface ReplacedFile {
	ownerId: string;
	/** Relative to the home. */
	path: StoragePath;
	former: string;
	file: string;
}

/** Whose an item in the trash will be, and who puts it there: a member of a folder does so into the trash of its owner. */
export function trashedBy(viewer: User | Visitor): TrashOwner & Pick<TrashRecord, 'deletedBy'> {
	if (viewer.kind !== 'user') return { ownerId: anonymousOwner, ownerName: anonymousOwner, deletedBy: anonymousOwner };
	const { id: ownerId, username: ownerName, member } = viewer;
	return { ownerId, ownerName, deletedBy: member?.username ?? ownerName };
}

/** The row of an item that is in no trash is forgotten this long after it was to get there. */
export const lostMs = 24 * 60 * 60_000;

/** Items that are handled together. */
export const trashBatch = 200;

/**
 * Bytes of a row with its indexes but for its path, and how often it has that: SQLite has it in an index again, and of a version its
 * folder.
 */
const rowBytes = 1024;
const pathsOf = { item: 2, version: 4 };

/** Throws `storageFull` where a row of an item would take the last room of the database from others. */
export function assertRoomForRow(
	{ databaseReserve }: Pick<TrashParts, 'databaseReserve'>,
	{ kind, path }: Pick<TrashRecord, 'kind' | 'path'>,
): Promise<void> {
	return databaseReserve.assertRoom(rowBytes + pathsOf[kind] * utf8Length(path));
}

/** Throws `storageFull` where versions whose paths get longer, by so many bytes together, would do so. */
export function assertRoomForLonger(
	{ databaseReserve }: Pick<TrashParts, 'databaseReserve'>,
	pathBytes: number,
): Promise<void> {
	return databaseReserve.assertRoom(pathsOf.version * pathBytes);
}

/** Logs a fault after which the trash is as good as before. */
export function warnOfTrash({ log }: Pick<TrashParts, 'log'>, error: unknown): void {
	log.warn({ err: error }, 'the trash could not be completed: a later sweep does it');
}
