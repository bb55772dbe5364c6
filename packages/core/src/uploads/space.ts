import type { Database } from '@stowage/database';
import type { StorageProvider } from '@stowage/plugin-api';
import { Failure, type Viewer } from '@stowage/rules';

interface Means {
	storage: StorageProvider;
	database: Database;
	/** Bytes that stay free. */
	reserve: number;
	now(): number;
}

/** Whoever lets an upload lie for longer has no claim to the space that it still needs. */
const claimMs = 60 * 60_000;

/** Less than this is not worth a look at the disk beforehand: it says itself when it is full, and the reserve is kept while bytes arrive. */
const smallBytes = 1024 * 1024;

/** The same for a piece of an upload whose whole length was asked for when it began. */
const smallPieceBytes = 64 * 1024 * 1024;

/** Refuses bytes before they arrive, by what was announced. */
export interface UploadSpace {
	/** Throws `storageFull` unless the next piece of an upload can be written without touching the reserve. */
	demandPiece(bytes: number): Promise<void>;
	/** The same for an upload that begins, which must also leave what others have begun room to end. Visitors take nothing from users. */
	demandNew(viewer: Viewer, bytes: number): Promise<void>;
}

export function createUploadSpace({ storage, database, reserve, now }: Means): UploadSpace {
	const demandBeside = async (bytes: number, claimed: number) => {
		if (bytes > (await storage.freeSpace()) - reserve - claimed) {
			throw new Failure('storageFull', 'There is not enough free space for this upload.');
		}
	};
	return {
		async demandPiece(bytes) {
			if (bytes >= smallPieceBytes) await demandBeside(bytes, 0);
		},
		async demandNew(viewer, bytes) {
			if (bytes < smallBytes) return;
			const isOfUsersOnly = viewer.kind === 'user';
			await demandBeside(bytes, await database.uploads.missingBytes({ touchedAfter: now() - claimMs, isOfUsersOnly }));
		},
	};
}
