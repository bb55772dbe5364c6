import type { Database } from '@stowage/database';
import type { Files, ItemRef, StagedFile, UploadRecord } from '@stowage/plugin-api';
import {
	assertAllowed,
	Failure,
	type Receiving,
	type StoragePath,
	signedIn,
	uploadDenial,
	type Viewer,
} from '@stowage/rules';
import type { Bodies } from '../../bodies/createBodies.js';
import type { Config } from '../../config/schema.js';
import { visitorOf } from '../../config/strangers.js';
import type { DatabaseReserve } from '../../limits/databaseReserve.js';
import type { Log } from '../../log.js';
import { pathNow, payerOfFolder } from '../../members/payer.js';
import type { SharedFolders } from '../../members/SharedFolders.js';
import type { MountedStorage } from '../../trees/storage/MountedStorage.js';
import type { Admission } from '../admission/Admission.js';
import type { UploadSpace } from '../admission/uploadSpace.js';
import type { UploadExpiry } from './UploadExpiry.js';
import type { Writers } from './Writers.js';

/** What the calls on resumable uploads work with. */
export interface UploadParts {
	config: Config;
	bodies: Pick<Bodies, 'upload'>;
	database: Database;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	files: Files;
	storage: MountedStorage;
	admission: Admission;
	space: UploadSpace;
	writers: Writers;
	expiry: UploadExpiry;
	/** Where a share receives files now. Throws once it does not any more. */
	receiver(share: string): Promise<Receiver>;
	sharedFolders: SharedFolders;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
}

/** The folder of a share. */
export interface Receiver {
	/** The folder's path in the home of its owner. */
	folder: StoragePath;
	/** Whether who sends says their name, which is that of the folder of their files. */
	asksName: boolean;
}

/** The share and the client that a viewer is, if it is a guest who sends something. */
export function receivingOf(viewer: Viewer): Receiving | undefined {
	return viewer.kind === 'user' ? viewer.receives : undefined;
}

/** The row of an upload, for its owner. Throws `notFound`, `notSignedIn`, `expired`, and what the rules refuse a visitor. */
export async function findUpload(parts: UploadParts, viewer: Viewer, idHash: string): Promise<UploadRecord> {
	const record = await findOwnUpload(parts, viewer, idHash);
	// Who may not change the folder any more goes on with nothing.
	if (record.userId !== null && record.entryPath === null) await payerOf(parts, viewer, record);
	return record;
}

/** Finds an upload of the viewer, also where its sender may not go on with it. */
export async function findOwnUpload(parts: UploadParts, viewer: Viewer, idHash: string): Promise<UploadRecord> {
	const record = await parts.database.uploads.find(idHash);
	if (record === undefined) throw unknownUpload();
	// Of a share by its own calls only.
	if (record.received?.share !== receivingOf(viewer)?.share) throw unknownUpload();
	if (record.userId !== null) {
		if (viewer.kind !== 'user') throw new Failure('notSignedIn', 'Please sign in to continue this upload.');
		if (viewer.id !== record.userId) throw unknownUpload();
	} else assertAllowed(uploadDenial(ownerOf(parts, viewer, record), { area: record.area, path: record.directory }));
	if (parts.expiry.hasExpired(idHash, record)) throw new Failure('expired', 'This upload has expired.');
	return record;
}

/** The client whose quota and limits an upload counts for: one that a visitor began stays a visitor's. */
export function ownerOf(
	{ config }: Pick<UploadParts, 'config'>,
	viewer: Viewer,
	{ userId }: Pick<UploadRecord, 'userId'>,
): Viewer {
	return userId === null ? visitorOf(config) : viewer;
}

/** Whose quota and disk an upload takes. Throws for one into a shared folder that the viewer may not change any more. */
export async function payerOf(
	parts: Pick<UploadParts, 'config' | 'sharedFolders'>,
	viewer: Viewer,
	record: Pick<UploadRecord, 'area' | 'directory' | 'folderId' | 'payerId' | 'userId'>,
): Promise<Viewer> {
	if (record.area !== 'shared') return ownerOf(parts, viewer, record);
	return payerOfFolder(parts.sharedFolders, viewer, await targetOf(parts, viewer, record));
}

/**
 * The folder of an upload, with the path that it has now: its owner may have renamed or moved a shared one. One that
 * was shared anew has the name that it had, and is of the same owner. Throws `notFound` for one that is not shared
 * with the viewer any more.
 */
export async function targetOf(
	{ sharedFolders }: Pick<UploadParts, 'sharedFolders'>,
	viewer: Viewer,
	{ area, directory, folderId, payerId }: Pick<UploadRecord, 'area' | 'directory' | 'folderId' | 'payerId'>,
): Promise<ItemRef> {
	if (folderId === undefined) return { area, path: directory };
	const path = await pathNow(sharedFolders, viewer, { folderId, path: directory });
	if (path !== undefined) return { area, path };
	const { folder } = await sharedFolders.at(signedIn(viewer), directory);
	if (folder.owner.id !== payerId) throw unknownUpload();
	return { area, path: directory };
}

/** The staged file of an upload that is not published. */
export async function stagedOf(parts: UploadParts, viewer: Viewer, record: UploadRecord): Promise<StagedFile> {
	const { stagedId } = record;
	if (stagedId === null) throw unknownUpload();
	return parts.files.stage(record.area === 'shared' ? await payerOf(parts, viewer, record) : viewer, stagedId);
}

export function unknownUpload(): Failure {
	return new Failure('notFound', 'That upload is not known.');
}
