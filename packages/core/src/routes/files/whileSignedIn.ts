import type { Request } from '@stowage/plugin-api';
import type { Services } from '../../services.js';

/** Sends something, which is broken off once the caller's session ends, in whatever process. A visitor has none. */
export async function whileSignedIn<T>(
	sessions: Services['sessions'],
	request: Request,
	send: () => Promise<T>,
	session = sessions.keyOf(request),
): Promise<T> {
	if (session === undefined) return send();
	const unsubscribe = sessions.subscribe(session, () => request.raw.res.destroy());
	try {
		return await send();
	} finally {
		unsubscribe();
	}
}
