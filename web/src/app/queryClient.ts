import { isFailure } from '@stowage/rules';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { sessionQuery } from '../api/session/sessionQuery.js';

/** Any call may be the first to fail because the session has ended; then the session is fetched anew. */
function refetchEndedSession(error: Error): void {
	const session = queryClient.getQueryData(sessionQuery.queryKey);
	if (isFailure(error, 'notSignedIn') && session?.isLoggedIn) {
		void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
	}
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
