import type { QueryClient } from '@tanstack/react-query';
import { refreshSession } from '../../../api/session/refreshSession.js';
import { sessionQuery } from '../../../api/session/sessionQuery.js';

export interface SignInWait {
	/** Who is to be signed in; undefined for any user. */
	username: string | undefined;
	/** How old the known session may be, in milliseconds. */
	maxAgeMs: number;
	/** Called if it has to wait. */
	onWait: () => void;
	signal: AbortSignal;
}

/**
 * Asks who is signed in, so that the page notices when that has changed, and resolves once it is this user, by the
 * page's own dialog or in another tab. Resolves to whether it had to wait.
 */
export async function waitForSignIn(
	queryClient: QueryClient,
	{ username, maxAgeMs, onWait, signal }: SignInWait,
): Promise<boolean> {
	const isSignedIn = () => {
		const session = queryClient.getQueryData(sessionQuery.queryKey);
		return session?.isLoggedIn === true && (username === undefined || session.username === username);
	};
	await refreshSession(queryClient, maxAgeMs, signal);
	signal.throwIfAborted();
	if (isSignedIn()) return false;
	onWait();
	await new Promise<void>((resolve, reject) => {
		const end = () => {
			unsubscribe();
			signal.removeEventListener('abort', abort);
		};
		const abort = () => {
			end();
			reject(signal.reason);
		};
		const unsubscribe = queryClient.getQueryCache().subscribe(() => {
			if (!isSignedIn()) return;
			end();
			resolve();
		});
		signal.addEventListener('abort', abort);
	});
	return true;
}
