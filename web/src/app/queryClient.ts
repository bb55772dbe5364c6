import { isFailure } from '@stowage/rules';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { sessionQuery } from '../api/session/sessionQuery.js';

/** Any call may be the one that finds out that the session has ended; then the page asks who is signed in. */
function noticeEndedSession(error: Error): void {
	const session = queryClient.getQueryData(sessionQuery.queryKey);
	if (isFailure(error, 'notSignedIn') && session?.isLoggedIn) {
		void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
	}
}

export const queryClient: QueryClient = new QueryClient({
	queryCache: new QueryCache({ onError: noticeEndedSession }),
	mutationCache: new MutationCache({ onError: noticeEndedSession }),
	defaultOptions: {
		queries: {
			retry: (failures, error) => isFailure(error, 'unavailable') && failures < 2,
			refetchOnWindowFocus: false,
		},
	},
});
