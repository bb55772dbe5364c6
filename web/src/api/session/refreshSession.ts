import type { QueryClient } from '@tanstack/react-query';
import { fetchSession, sessionQuery } from './sessionQuery.js';

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
