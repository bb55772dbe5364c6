import { maxSharedItems, passwordLength, shareModes, shareStates, shareTextLength } from '@stowage/rules';
import { z } from 'zod';
import { endpoint } from './define.js';
import { maxLinksOfPage } from './links.js';
import { itemPath, listOf, message } from './schemas.js';

const text = (limit: number) => z.string().max(limit, `must have at most ${limit} characters`);
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
	/** With their current paths in the private area. */
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
