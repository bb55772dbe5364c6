import type { Request, UploadRecord } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import type { Leases } from '../../leases/createLeases.js';
import { secretHash } from '../../secretHash.js';
import { createUpload, type Upload } from './createUpload.js';
import { inspectUpload } from './inspectUpload.js';
import { takeBack } from './receivedUpload.js';
import { removeAnyUpload, removeUpload } from './removeUpload.js';
import { forgetSurplus, sweepUploads } from './sweepUploads.js';
import { UploadExpiry } from './UploadExpiry.js';
import type { UploadParts } from './UploadParts.js';
import { Writers } from './Writers.js';
import { writeUpload } from './writeUpload.js';

/** An upload as the administrator may know it: its id stays its client's. */
export interface UnfinishedUpload extends UploadRecord {
	idHash: string;
	/** The storage root that its bytes lie on; undefined if that was removed. */
	root: string | undefined;
}

/** Uploads over several requests, controlled by their headers. Errors are thrown as Failures. */
export interface ResumableUploads {
	/** Begins an upload, with its first bytes if the request has some. */
	create(viewer: Viewer, request: Request): Promise<Upload>;
	/**
	 * The offset of an upload. A complete one that is not published yet is published. Throws `expired` for a finished one whose file is
	 * gone.
	 */
	inspect(viewer: Viewer, id: string, request: Request): Promise<Upload>;
	/** Receives the request's body as the next chunk. The last one publishes the file. */
	write(viewer: Viewer, id: string, request: Request): Promise<Upload>;
	/** Ends an upload of a guest of a share, or takes back the file that became of it. Throws `notFound`, and `expired` after an hour. */
	takeBack(viewer: Viewer, id: string): Promise<void>;
	/** Ends an upload; a file that is in its place stays there. */
	remove(viewer: Viewer, id: string): Promise<void>;
	/** The unfinished uploads of everybody, the most recently written first. */
	listUnfinished(): Promise<UnfinishedUpload[]>;
	/** Ends an unfinished upload of anybody as `remove` does, for the administrator. Its client gets 404. Throws `notFound`. */
	removeAny(idHash: string): Promise<void>;
	/** Removes expired uploads. */
	sweep(): Promise<void>;
	/** Forgets ended ones beyond those that are remembered of all, which depends on no clock. */
	forgetSurplus(): Promise<void>;
}

interface Dependencies extends Omit<UploadParts, 'writers' | 'expiry'> {
	leases: Leases;
}

/** Uploads of tus, one call in each file. */
export function createResumableUploads({ leases, ...given }: Dependencies): ResumableUploads {
	const { config, database, storage, log, now, monotonic } = given;
	const writers = new Writers({ leases, uploads: database.uploads, log, monotonic });
	const expiry = new UploadExpiry({ config, now, monotonic });
	const parts: UploadParts = { ...given, writers, expiry };
	return {
		create: (viewer, request) => createUpload(parts, viewer, request),
		inspect: async (viewer, id, request) => ({ ...(await inspectUpload(parts, viewer, secretHash(id), request)), id }),
		write: async (viewer, id, request) => ({ ...(await writeUpload(parts, viewer, secretHash(id), request)), id }),
		async takeBack(viewer, id) {
			const idHash = secretHash(id);
			if (!(await takeBack(parts, viewer, idHash))) await removeUpload(parts, viewer, idHash);
		},
		remove: (viewer, id) => removeUpload(parts, viewer, secretHash(id)),
		async listUnfinished() {
			const found = await database.uploads.listAllUnfinished();
			return found.map((each) => ({ ...each, root: storage.rootOfStaged(each.stagedId ?? '') }));
		},
		removeAny: (idHash) => removeAnyUpload(parts, idHash),
		sweep: () => sweepUploads(parts),
		forgetSurplus: () => forgetSurplus(parts),
	};
}
