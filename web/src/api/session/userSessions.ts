import { endOtherSessions, endSession, type ResultOf, sessions } from '@stowage/contract';
import { isFailure } from '@stowage/rules';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { call } from '../client/client.js';
import { whileOnline } from '../client/retries.js';
import { queryKeys } from '../queryKeys.js';
import { sessionQuery } from './sessionQuery.js';

export type UserSession = ResultOf<typeof sessions>[number];

/** The sessions of the signed-in user, the one used last first. */
export const userSessionsQuery = (username: string) =>
	queryOptions({
		queryKey: queryKeys.userSessions(username),
		queryFn: ({ signal }) => call(sessions, { signal }),
		// They are shown seldom and must be current then.
		staleTime: 0,
		gcTime: 0,
		refetchInterval: whileOnline(30_000),
	});

/** Ends one session of the user's, which may have ended already. */
export async function endUserSession(id: string): Promise<void> {
	try {
		await call(endSession, { params: { id } });
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
}

/** Ends all sessions of the user's but the page's own. */
export async function endOtherUserSessions(): Promise<void> {
	await call(endOtherSessions);
}

/** Fetches again what the end of all sessions has changed, once the page's own was replaced. */
export function refreshAfterReplacement(queryClient: QueryClient, username: string): void {
	void queryClient.invalidateQueries({ queryKey: userSessionsQuery(username).queryKey });
	// Between the end of the old session and the cookie of the new one they may have been fetched as a visitor.
	void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
	void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
}
