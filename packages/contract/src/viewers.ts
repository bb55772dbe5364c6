import { z } from 'zod';
import { endpoint } from './define.js';
import { area, itemPath, owner } from './schemas.js';

/**
 * Hands one document to an external viewer: an address for that very file, which needs no session. It is good for ten minutes, but no
 * longer than the session of the caller.
 */
export const viewerLink = endpoint({
	method: 'POST',
	path: '/api/viewerLink',
	payload: z.strictObject({ path: itemPath, type: area, owner: owner.optional() }),
	result: z.object({
		/** Absolute, at the public address of the server. */
		url: z.string(),
		expiresAt: z.number(),
	}),
});

/** The file itself; its name follows the token, since viewers go by the extension. */
export const followViewerLink = endpoint({ method: 'GET', path: '/api/viewerLink/{token}/{name}' });
