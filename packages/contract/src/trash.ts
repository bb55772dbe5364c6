import { z } from 'zod';
import { endpoint } from './define.js';
import { listOf, message } from './schemas.js';

const trashId = z.string().regex(/^[0-9a-f]{32}$/, 'is no id of an item in the trash');

const trashEntry = z.object({
	id: z.string(),
	name: z.string(),
	/** Where it was, as in `type=private`. */
	path: z.string(),
	type: z.enum(['file', 'directory']),
	/** Bytes; of a folder with all in it. */
	size: z.number(),
	/** Milliseconds since the epoch, as all times. */
	deletedAt: z.number(),
	/** When it is removed for good, or before that if its space is needed. */
	expiresAt: z.number(),
	/** The name of the user who deleted it. */
	deletedBy: z.string(),
});

/** The trash of the caller's home, the newest first. */
export const listTrash = endpoint({
	method: 'GET',
	path: '/api/trash',
	audience: 'user',
	result: z.object({
		entries: z.array(trashEntry),
		/** The bytes of all that is in the trash. */
		size: z.number(),
		/** How long an item is kept, in milliseconds. */
		keepFor: z.number(),
		/** Where more is in the trash than is listed. */
		truncated: z.literal(true).optional(),
	}),
});

/** Each item goes to where it was, with missing folders; a taken name becomes ` (1)`. One that fails does not stop the others. */
export const restoreTrash = endpoint({
	method: 'POST',
	path: '/api/trash/restore',
	audience: 'user',
	payload: z.strictObject({ ids: listOf(trashId, 10_000) }),
	maxPayloadBytes: 1024 * 1024,
	result: z.object({
		restored: z.array(z.object({ id: z.string(), path: z.string() })),
		failed: z.array(z.object({ id: z.string(), code: z.string(), message: z.string() })),
	}),
});

/** Removes one item for good. */
export const purgeTrash = endpoint({ method: 'DELETE', path: '/api/trash/{id}', audience: 'user', result: message });

/** Removes all that is in the caller's trash for good. */
export const emptyTrash = endpoint({ method: 'DELETE', path: '/api/trash', audience: 'user', result: message });
