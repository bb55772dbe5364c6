import { linkExpirations } from '@stowage/rules';
import { z } from 'zod';
import { endpoint } from './define.js';
import { itemPath, message } from './schemas.js';

/** Creates a link to a file or folder of the caller's private area. The token is in this response only. */
export const generateTempLink = endpoint({
	method: 'POST',
	path: '/api/generateTempLink',
	audience: 'user',
	payload: z.strictObject({ filePath: itemPath, expiration: z.enum(linkExpirations) }),
	result: z.object({ token: z.string(), expiresAt: z.number() }),
});

/** The item of a link, for anybody who has the link. */
export const temporaryDownload = endpoint({
	method: 'GET',
	path: '/api/temp/{token}',
	query: z.object({ inline: z.string().optional() }),
});

const temporaryLink = z.object({
	id: z.string(),
	path: z.string(),
	createdAt: z.number(),
	expiresAt: z.number(),
	downloads: z.number(),
});

/** The most links of a page. */
export const maxLinksOfPage = 100;

/**
 * The caller's links that are good now, the newest first: all, or up to `limit` that follow `after`. Fewer than `limit`
 * are the last ones.
 */
export const temporaryLinks = endpoint({
	method: 'GET',
	path: '/api/links',
	audience: 'user',
	query: z.object({
		limit: z.coerce.number().int().min(1).max(maxLinksOfPage).optional(),
		/** The last link of the page before: its `createdAt`, a dash and its `id`. */
		after: z
			.string()
			.regex(/^\d{1,15}-[0-9a-f-]{36}$/, 'This is no link of a page before.')
			.optional(),
	}),
	result: z.array(temporaryLink),
});

export const revokeLink = endpoint({ method: 'DELETE', path: '/api/links/{id}', audience: 'user', result: message });
