import { isFailure } from '@stowage/rules';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { retriesSoon } from '../api/client/retries.js';
import { queryKeys } from '../api/queryKeys.js';
import { sessionQuery } from '../api/session/sessionQuery.js';

/**
 * Groups of queries that are the same for all users. Previews are kept, too: a text that is being edited stays open until its user is
 * back.
 */
const sharedByUsers: readonly unknown[] = [
	queryKeys.session[0],
	queryKeys.capabilities[0],
	queryKeys.share.all[0],
	queryKeys.previews.all[0],
];

/** What one user has fetched is not shown to the next, however the session changed: here, in another tab, or on the server. */
function forgetOnUserChange(client: QueryClient): void {
	let username: string | null | undefined;
	client.getQueryCache().subscribe((event) => {
		if (
			event.type !== 'updated' ||
			event.action.type !== 'success' ||
			event.query.queryKey[0] !== sessionQuery.queryKey[0]
		)
			return;
		// What was asked for at the same time may have failed for the same reason.
		void client.refetchQueries({
			queryKey: queryKeys.capabilities,
			predicate: ({ state }) => state.status === 'error',
		});
		const before = username;
		username = client.getQueryData(sessionQuery.queryKey)?.username;
		if (before === undefined || before === username) return;
		client.removeQueries({ predicate: ({ queryKey }) => !sharedByUsers.includes(queryKey[0]) });
	});
}

/** The cache of all queries, with the rules that apply to each of them. */
export function createQueryClient(): QueryClient {
	/** Any call may be the first to fail because the session has ended; then the session is fetched anew. */
	const onError = (error: Error) => {
		const session = client.getQueryData(sessionQuery.queryKey);
		if (isFailure(error, 'notSignedIn') && session?.isLoggedIn) {
			void client.invalidateQueries({ queryKey: sessionQuery.queryKey });
		}
	};
	const client = new QueryClient({
		queryCache: new QueryCache({ onError }),
		mutationCache: new MutationCache({ onError }),
		defaultOptions: {
			queries: {
				retry: retriesSoon,
				refetchOnWindowFocus: false,
				// An order may begin with a query, such as for the names in a folder, and what is shown says why it is missing.
				networkMode: 'always',
				// Otherwise false in this mode.
				refetchOnReconnect: true,
			},
			// Without a network an order fails at once. It would be sent later otherwise, also after its dialog was cancelled.
			mutations: { networkMode: 'always' },
		},
	});
	forgetOnUserChange(client);
	return client;
}
