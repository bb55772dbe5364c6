import type { Request } from '@stowage/plugin-api';
import type { Services } from '../../services.js';

/**
 * Sends something, which is broken off soon after the caller may no longer have it: once their session ends, in whatever process, or
 * visitors may no longer read, where there is none.
 */
export async function whilePermitted<T>(
	services: Pick<Services, 'sessions' | 'settingTransfers'>,
	request: Request,
	send: () => Promise<T>,
	session?: string,
): Promise<T> {
	const leave = onPermissionEnd(services, request, () => request.raw.res.destroy(), session);
	try {
		return await send();
	} finally {
		leave();
	}
}

/** Calls `end` then, until the returned function is called. */
export function onPermissionEnd(
	{ sessions, settingTransfers }: Pick<Services, 'sessions' | 'settingTransfers'>,
	request: Request,
	end: () => void,
	session = sessions.keyOf(request),
): () => void {
	return session === undefined ? settingTransfers.enter('visitors', end) : sessions.subscribe(session, end);
}
