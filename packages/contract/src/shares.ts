import { maxSharedItems, passwordLength, rootPath, shareModes, shareStates, shareTextLength } from '@stowage/rules';
import { z } from 'zod';
import { endpoint } from './define.js';
import { followedTickets } from './events.js';
import { maxSelectionBytes, thumbnailSize, ticket } from './files.js';
import { maxLinksOfPage } from './links.js';
import { entry, itemPath, listing, listOf, message, path, searching, wantedOrder } from './schemas.js';

const text = (limit: number) =>
	z
		.string()
		.max(limit, `must have at most ${limit} characters`)
		// No database keeps it.
		.refine((value) => !value.includes('\0'), 'must not contain NUL');
const count = z.int().min(1).max(Number.MAX_SAFE_INTEGER);

/** What its owner can choose again later. Null takes a limit, the end or the password away. */
const settings = {
	title: text(shareTextLength.title).optional(),
	message: text(shareTextLength.message).optional(),
	/** Milliseconds since the epoch; the server may allow less. */
	expiresAt: z.int().min(0).nullable().optional(),
	password: z
		.string()
		.min(passwordLength.min, `must have at least ${passwordLength.min} characters`)
		.max(passwordLength.max, `must have at most ${passwordLength.max} characters`)
		.nullable()
		.optional(),
	maxDownloads: count.nullable().optional(),
	/** What it may receive in all. */
	maxUploadBytes: count.nullable().optional(),
};

const share = z.object({
	id: z.string(),
	/** The whole address of its page; null if it was made with another key of the server. */
	url: z.string().nullable(),
	title: z.string(),
	message: z.string(),
	mode: z.enum(shareModes),
	askName: z.boolean(),
	/** The shared items with their current paths in the private area. */
	items: z.array(z.object({ path: z.string(), type: z.enum(['file', 'directory']) })),
	createdAt: z.number(),
	expiresAt: z.number().nullable(),
	hasPassword: z.boolean(),
	maxDownloads: z.number().nullable(),
	maxUploadBytes: z.number().nullable(),
	downloads: z.number(),
	bytesSent: z.number(),
	uploads: z.number(),
	bytesReceived: z.number(),
	lastUsedAt: z.number().nullable(),
	isPaused: z.boolean(),
	state: z.enum(shareStates),
});

/** Shares items of the caller's private area. */
export const createShare = endpoint({
	method: 'POST',
	path: '/api/shares',
	audience: 'user',
	payload: z.strictObject({
		items: listOf(z.strictObject({ path: itemPath }), maxSharedItems),
		mode: z.enum(shareModes),
		askName: z.boolean().optional(),
		...settings,
	}),
	// Room for as many long paths.
	maxPayloadBytes: 2 * 1024 * 1024,
	result: share,
});

/** The caller's shares, the newest first: all, or up to `limit` that follow `after`. */
export const listShares = endpoint({
	method: 'GET',
	path: '/api/shares',
	audience: 'user',
	query: z.object({
		limit: z.coerce.number().int().min(1).max(maxLinksOfPage).optional(),
		/** The last share of the page before: its `createdAt`, a dash and its `id`. */
		after: z
			.string()
			.regex(/^\d{1,15}-[0-9a-f-]{36}$/, 'This is no share of a page before.')
			.optional(),
	}),
	result: z.object({ shares: z.array(share) }),
});

/**
 * What the caller's shares have received in the last 30 days, by whom, the latest first: what is sent with pauses
 * under an hour is one.
 */
export const listReceived = endpoint({
	method: 'GET',
	path: '/api/shares/received',
	audience: 'user',
	result: z.object({
		received: z.array(
			z.object({
				id: z.string(),
				/** The share, which may be deleted by now. */
				share: z.string(),
				/** What it was called. */
				title: z.string(),
				/** Null where no name was asked for. */
				sender: z.string().nullable(),
				/** The number of files, without those that the sender took back. */
				files: z.number(),
				bytes: z.number(),
				begunAt: z.number(),
				endedAt: z.number(),
			}),
		),
	}),
});

export const getShare = endpoint({ method: 'GET', path: '/api/shares/{id}', audience: 'user', result: share });

/** A new password ends what was opened with the old one. */
export const changeShare = endpoint({
	method: 'PATCH',
	path: '/api/shares/{id}',
	audience: 'user',
	payload: z.strictObject({ ...settings, isPaused: z.boolean().optional() }),
	result: share,
});

export const deleteShare = endpoint({ method: 'DELETE', path: '/api/shares/{id}', audience: 'user', result: message });

/**
 * What the page of a share shows, for anybody who has its address: 401 `PASSWORD_REQUIRED` until it is opened, 404 for
 * one that is unknown, deleted, paused or gone, 410 for one that has ended. The answers, and so the cookie that the
 * first one sets, are for this address alone.
 */
export const lookAtShare = endpoint({
	method: 'GET',
	path: '/api/share/{token}',
	result: z.object({
		title: z.string(),
		message: z.string(),
		/** The owner's name. */
		from: z.string(),
		mode: z.enum(shareModes),
		expiresAt: z.number().nullable(),
		askName: z.boolean(),
		/** Whether it can be looked at only by downloading it: downloads are counted. */
		isLimited: z.boolean(),
		items: z.array(entry),
	}),
});

/** Opens a share that has a password, for this client. */
export const openShare = endpoint({
	method: 'POST',
	path: '/api/share/{token}/open',
	payload: z.strictObject({ password: z.string().max(passwordLength.max) }),
	result: message,
});

export const browseShare = endpoint({
	method: 'GET',
	path: '/api/share/{token}/browse',
	query: z.object({ directory: path.default(rootPath), ...wantedOrder, ...searching }),
	result: listing,
});

/** The path of an item follows in the URL, as in `download`; without one it is all that is shared. */
export const downloadFromShare = endpoint({
	method: 'GET',
	path: '/api/share/{token}/download/{path*}',
	query: z.object({ inline: z.string().optional() }),
});

/** Creates a download ticket for items of a share, as `makeTicket` does for those of an area; the path '' means all of them. */
export const makeShareTicket = endpoint({
	method: 'POST',
	path: '/api/share/{token}/downloadTickets',
	payload: z.strictObject({
		files: listOf(z.strictObject({ path, name: z.string().optional() }), 100_000),
		directory: path.optional(),
	}),
	maxPayloadBytes: maxSelectionBytes / 2,
	result: ticket,
});

/** A stream of server-sent events, as `events` is, with the `ticket` events of the tickets in the query. It ends with the share. */
export const shareEvents = endpoint({
	method: 'GET',
	path: '/api/share/{token}/events',
	query: z.object({ ticket: followedTickets }),
});

export const shareThumbnail = endpoint({
	method: 'GET',
	path: '/api/share/{token}/thumbnail/{path*}',
	query: z.object({ size: thumbnailSize }),
});

/**
 * Files that are sent into the folder of a share, as by `createUpload` and its neighbours. `Upload-Metadata` has no `directory` and no
 * `onConflict`, and `sender` where the share asks for a name. `Stowage-Entry-Path` is relative to the folder; where
 * nothing of that is shown, it is what was wished.
 */
export const createShareUpload = endpoint({ method: 'POST', path: '/api/share/{token}/uploads' });

/** HEAD. It may publish a complete file. */
export const inspectShareUpload = endpoint({
	method: 'GET',
	path: '/api/share/{token}/uploads/{id}',
	changesState: true,
});

export const writeShareUpload = endpoint({ method: 'PATCH', path: '/api/share/{token}/uploads/{id}' });

/** Removes an upload, and the file that it has become, for an hour and from the same client. */
export const removeShareUpload = endpoint({ method: 'DELETE', path: '/api/share/{token}/uploads/{id}' });

/** The capabilities of the server. */
export const shareUploadOptions = endpoint({ method: 'OPTIONS', path: '/api/share/{token}/uploads' });

export const shareUploadOptionsOfOne = endpoint({ method: 'OPTIONS', path: '/api/share/{token}/uploads/{id}' });
