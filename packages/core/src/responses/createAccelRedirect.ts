import type { Request } from '@stowage/plugin-api';
import { encodePath } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { createPeers } from '../http/requests/proxy.js';
import type { Place } from '../trees/Tree.js';

/**
 * Answers the address under which the proxy in front of us finds a file of the storage and can send it itself; nothing
 * where it can't.
 */
export type AccelRedirect = (request: Request, place: Place) => Promise<string | undefined>;

/**
 * Files are handed over only to a trusted proxy: any other client would get an empty answer. nginx opens the file again by its path and
 * follows no symbolic link there; a file that has replaced it meanwhile is the same owner's, under the same name.
 */
export function createAccelRedirect(
	config: Pick<Config, 'downloads' | 'host' | 'listen' | 'trustedProxies'>,
): AccelRedirect {
	const { accelRedirect } = config.downloads;
	if (accelRedirect === '') return async () => undefined;
	const { addressOf, isTrusted } = createPeers(config);
	return async ({ raw: { req } }, { tree, storagePath }) => {
		// nginx would compare it with a tag of its own.
		if (req.headers['if-match'] !== undefined) return undefined;
		// It would take a date for a version.
		const ifRange = req.headers['if-range'];
		if (ifRange !== undefined && !String(ifRange).startsWith('"')) return undefined;
		if (!isTrusted(addressOf(req.socket))) return undefined;
		const path = await tree.storage.localPath(storagePath);
		return path && `${accelRedirect}/${encodePath(path)}`;
	};
}
