import { z } from 'zod';
import { endpoint } from './define.js';
import { area, itemPath, message, messageWithEntry } from './schemas.js';

export const versionId = z.string().regex(/^[0-9a-f]{32}$/, 'is no id of a version');

const version = z.object({
	id: z.string(),
	/** Bytes. */
	size: z.number(),
	/** When it was written. Milliseconds since the epoch, as all times. */
	mtime: z.number(),
	/** When another content took its place. */
	replacedAt: z.number(),
	/** The name of the user who replaced it. */
	replacedBy: z.string(),
	/** When it is removed for good, or before that if its space is needed. */
	expiresAt: z.number(),
});

/** The former contents of a file of the caller's own, the newest first. The path follows as in a download. */
export const listVersions = endpoint({
	method: 'GET',
	path: '/api/versions/{path*}',
	audience: 'user',
	query: z.object({ type: area.default('private') }),
	result: z.object({ versions: z.array(version) }),
});

/** Gives a file the content of a version again; what it had becomes a version. */
export const restoreVersion = endpoint({
	method: 'POST',
	path: '/api/versions/restore',
	audience: 'user',
	payload: z.strictObject({ filePath: itemPath, type: area, id: versionId }),
	result: messageWithEntry,
});

/** Removes one version for good. */
export const purgeVersion = endpoint({
	method: 'DELETE',
	path: '/api/versions/{id}',
	audience: 'user',
	result: message,
});
