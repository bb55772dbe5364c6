import { isFailure } from '@stowage/rules';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { queryKeys } from '../api/queryKeys.js';
import { sessionQuery } from '../api/session/sessionQuery.js';

/** Any call may be the first to fail because the session has ended; then the session is fetched anew. */
function refetchEndedSession(error: Error): void {
	const session = queryClient.getQueryData(sessionQuery.queryKey);
	if (isFailure(error, 'notSignedIn') && session?.isLoggedIn) {
		void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
	}
}

/** The listings and jobs of one user are not shown to the next, however the session changed: here, in another tab, or on the server. */
export function forgetOnUserChange(client: QueryClient): void {
	let username: string | null | undefined;
	client.getQueryCache().subscribe((event) => {
		if (
			event.type !== 'updated' ||
			event.action.type !== 'success' ||
			event.query.queryKey[0] !== sessionQuery.queryKey[0]
		)
			return;
		const before = username;
		username = client.getQueryData(sessionQuery.queryKey)?.username;
		if (before === undefined || before === username) return;
		client.removeQueries({ queryKey: queryKeys.listings.all });
		client.removeQueries({ queryKey: queryKeys.jobs.all });
	});
}

export const queryClient: QueryClient = new QueryClient({
	queryCache: new QueryCache({ onError: refetchEndedSession }),
	mutationCache: new MutationCache({ onError: refetchEndedSession }),
	defaultOptions: {
		queries: {
			retry: (failures, error) => isFailure(error, 'unavailable') && failures < 2,
			refetchOnWindowFocus: false,
		},
	},
});

forgetOnUserChange(queryClient);
