import type { QueryClient } from '@tanstack/react-query';
import { sessionQuery } from '../../../api/session/sessionQuery.js';

/**
 * Fetches the session, so that the page notices when it has ended, and resolves once a user is signed in, by the page's
 * own dialog or in another tab. Calls `onWait` if no user is signed in.
 */
export async function waitForSignIn(queryClient: QueryClient, onWait: () => void, signal: AbortSignal): Promise<void> {
	const session = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0, retry: false });
	signal.throwIfAborted();
	if (session.isLoggedIn) return;
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
			if (!queryClient.getQueryData(sessionQuery.queryKey)?.isLoggedIn) return;
			end();
			resolve();
		});
		signal.addEventListener('abort', abort);
	});
}
