import { rootPath } from '@stowage/rules';
import { z } from 'zod';
import { endpoint } from './define.js';
import {
	area,
	itemPath,
	listing,
	listOf,
	message,
	messageWithEntry,
	owner,
	path,
	queryOwner,
	replacing,
	searching,
	uploaded,
	wantedOrder,
} from './schemas.js';
import { versionId } from './versions.js';

export const browse = endpoint({
	method: 'GET',
	path: '/api/browse',
	audience: 'user',
	query: z.object({ type: area.default('public'), directory: path.default(rootPath), ...wantedOrder, ...searching }),
	result: listing,
});

export const browsePublic = endpoint({
	method: 'GET',
	path: '/api/browse/public',
	query: z.object({ directory: path.default(rootPath), ...wantedOrder, ...searching }),
	result: listing,
});

/** The form's fields `onConflict` and `ifMatch` are those of `copyItem`; the latter is for a single file. */
export const upload = endpoint({
	method: 'POST',
	path: '/api/upload',
	audience: 'user',
	payload: 'multipart',
	result: uploaded,
});

export const uploadPublic = endpoint({
	method: 'POST',
	path: '/api/upload/public',
	payload: 'multipart',
	result: uploaded,
});

export const createFolder = endpoint({
	method: 'POST',
	path: '/api/createFolder',
	audience: 'user',
	signInMessage: 'You must be logged in to create folders in public.',
	payload: z.strictObject({ directory: path, folderName: z.string(), type: area }),
	result: messageWithEntry,
});

/** Creates an empty file. */
export const createFile = endpoint({
	method: 'POST',
	path: '/api/createFile',
	audience: 'user',
	payload: z.strictObject({ directory: path, fileName: z.string(), type: area }),
	result: messageWithEntry,
});

export const deleteItem = endpoint({
	method: 'DELETE',
	path: '/api/deleteItem',
	audience: 'user',
	payload: z.strictObject({
		filePath: itemPath,
		type: area,
		owner: owner.optional(),
		/** Whether the item passes the trash by. False is refused where there is none; left out, the item is removed for good there. */
		permanent: z.boolean().optional(),
	}),
	/** The id in the trash; none for what was removed for good. */
	result: message.extend({ trashId: z.string().optional() }),
});

export const moveItem = endpoint({
	method: 'POST',
	path: '/api/moveItem',
	audience: 'user',
	payload: z.strictObject({
		fromPath: itemPath,
		toPath: itemPath,
		type: area,
		owner: owner.optional(),
		...replacing,
	}),
	result: messageWithEntry,
});

export const copyItem = endpoint({
	method: 'POST',
	path: '/api/copyItem',
	audience: 'user',
	payload: z.strictObject({
		fromPath: itemPath,
		toPath: itemPath,
		type: area,
		fromType: area.optional(),
		owner: owner.optional(),
		...replacing,
	}),
	result: messageWithEntry,
});

export const renameItem = endpoint({
	method: 'POST',
	path: '/api/renameItem',
	audience: 'user',
	payload: z.strictObject({ oldPath: itemPath, newName: z.string(), type: area, owner: owner.optional() }),
	result: messageWithEntry,
});

/** The path follows in the URL, each segment percent-encoded exactly once. */
export const download = endpoint({
	method: 'GET',
	path: '/api/download/{path*}',
	query: z.object({
		type: area.default('public'),
		owner: queryOwner.optional(),
		inline: z.string().optional(),
		/** A former content of this file, of the caller's own, by its id. */
		version: versionId.optional(),
	}),
});

/** Longest edges of the server's pictures, in pixels. */
export const thumbnailSizes = [256, 2048] as const;

/** One of them, in a query. */
export const thumbnailSize = z
	.enum(thumbnailSizes.map(String) as ['256', '2048'], `must be one of ${thumbnailSizes.join(', ')}`)
	.transform((size) => Number(size) as ThumbnailSize);

/** A picture of a file as WebP, no larger than `size` at either edge; 415 for a file without one. The path follows as in a download. */
export const thumbnail = endpoint({
	method: 'GET',
	path: '/api/thumbnail/{path*}',
	query: z.object({
		type: area.default('public'),
		owner: queryOwner.optional(),
		size: thumbnailSize,
	}),
});

export type ThumbnailSize = (typeof thumbnailSizes)[number];

/** Room for 10,000 long paths. */
export const maxSelectionBytes = 16 * 1024 * 1024;

/** `name` and `directory` only identify the folder in which the selection was made. */
const selection = z.strictObject({
	files: listOf(z.strictObject({ path: itemPath, name: z.string().optional(), owner: owner.optional() }), 100_000),
	type: area,
	directory: path,
});

export const downloadZip = endpoint({
	method: 'POST',
	path: '/api/downloadZip',
	payload: selection,
	maxPayloadBytes: maxSelectionBytes,
});

export const ticket = z.object({
	ticket: z.string(),
	/** A path of this server, its base path included. */
	url: z.string(),
	fileName: z.string(),
	/** Bytes, exact as long as nothing in the selection changes. */
	size: z.number(),
	/** How many items are not in the archive since they can't be read. */
	skipped: z.number(),
});

/** Freezes a selection under a URL of 256 random bits: a single file as it is, all else as an archive. */
export const makeTicket = endpoint({
	method: 'POST',
	path: '/api/downloadTickets',
	payload: selection,
	// The limit of one row of the database.
	maxPayloadBytes: maxSelectionBytes / 2,
	result: ticket,
});

/** The fixed selection, for some hours, until it is ended, or until the session that made it ends: 410 from then on. */
export const downloadByTicket = endpoint({ method: 'GET', path: '/api/downloadTickets/{ticket}' });

/** Ends a ticket, and its transfers under way. */
export const endTicket = endpoint({ method: 'DELETE', path: '/api/downloadTickets/{ticket}', result: message });
