import { z } from 'zod';
import { endpoint } from './define.js';

export const health = endpoint({
	method: 'GET',
	path: '/api/health',
	result: z.object({ status: z.literal('ok'), version: z.string() }),
});

const availability = z.enum(['ok', 'unavailable']);

/**
 * Whether all that the server needs is available, in the same words for everybody; 503 unless it is. `storage` stands for all storage
 * roots. `draining`: the server is about to end, and only answers what is on its way.
 *
 * With `of=node` it says whether this node of several can serve: `storage` is the default root alone, `otherStorage`
 * are all others, which take no node out, and `clock` is `off` where the clocks of the node and of its database differ
 * by more than two seconds.
 */
export const ready = endpoint({
	method: 'GET',
	path: '/api/ready',
	query: z.object({ of: z.literal('node').optional() }),
	result: z.object({
		status: z.enum(['ok', 'unavailable', 'draining']),
		checks: z.object({
			database: availability,
			storage: availability,
			plugins: availability,
			otherStorage: availability.optional(),
			clock: z.enum(['ok', 'off']).optional(),
		}),
	}),
});

export const capabilities = endpoint({
	method: 'GET',
	path: '/api/capabilities',
	result: z.object({
		registration: z.enum(['open', 'closed']),
		/** What callers without an account may do in the public area. */
		visitors: z.enum(['upload', 'read', 'off']),
		/** Bytes; 0 for no limit. */
		maxFileSize: z.number(),
		externalViewers: z.boolean(),
		/** Whether the server has a public https address, without which no external viewer can fetch a file. */
		hasPublicHttps: z.boolean(),
		/** What addresses for others begin with, such as `https://files.example`; null where only callers know how they reach the server. */
		publicOrigin: z.string().nullable(),
		handbrake: z.boolean(),
		/** How long what is deleted stays in the trash, in milliseconds; 0 where there is no trash. */
		trashKeepFor: z.number(),
		/** How long the former content of a replaced file is kept, in milliseconds; 0 where it is not. */
		versionsKeepFor: z.number(),
		/** Whether users may make shares, how long one lives at most (milliseconds; 0 is no limit), and whether it needs a password. */
		shares: z.object({ enabled: z.boolean(), maxLifetime: z.number(), requirePassword: z.boolean() }),
		/** Whether a plugin renders thumbnails of files. */
		thumbnails: z.boolean(),
		/** Which files may have one besides images, videos and PDFs; in lower case, without their dots. */
		thumbnailExtensions: z.array(z.string()),
	}),
});
