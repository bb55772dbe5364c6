import { Failure } from '@stowage/rules';
import type { QueryClient } from '@tanstack/react-query';
import { messages } from '../../messages.js';
import { fetchSession, sessionQuery, signedInAs } from './sessionQuery.js';

/**
 * Asks who is signed in unless it was asked within `maxAgeMs`, so that the page notices when that has changed, as in
 * another tab; for what would make a file or a folder of somebody else. Fetches the session itself: a check of the page
 * may have begun too early, or wait for the tab to be shown.
 */
export async function refreshSession(queryClient: QueryClient, maxAgeMs: number, signal: AbortSignal): Promise<void> {
	const { queryKey } = sessionQuery;
	const known = () => queryClient.getQueryState(queryKey);
	const before = known();
	if (before?.data && !before.isInvalidated && Date.now() - before.dataUpdatedAt < maxAgeMs) return;
	const session = await fetchSession(signal);
	// A sign-in meanwhile is newer.
	if (known()?.dataUpdatedAt === before?.dataUpdatedAt) queryClient.setQueryData(queryKey, session);
}

/**
 * Does for a user what can't be taken back, once the server has said that they are signed in. All windows of a browser
 * share a session: in another one somebody else may have signed in, whose account or files it would be done to, and this page not have
 * heard of it. Throws `notSignedIn` then.
 */
export async function asUser<T>(queryClient: QueryClient, username: string, work: () => Promise<T>): Promise<T> {
	await refreshSession(queryClient, 0, new AbortController().signal);
	if (signedInAs(queryClient) !== username) throw new Failure('notSignedIn', messages.signedOut);
	return work();
}
