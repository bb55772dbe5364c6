import { checkLoginStatus } from '@stowage/contract';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { call } from '../client/client.js';
import { retryIntervalAfter } from '../client/retries.js';
import { queryKeys } from '../queryKeys.js';
import { sessionSettled } from './replaceSession.js';

/** Asks the server who is signed in. */
export async function fetchSession(signal: AbortSignal) {
	await sessionSettled();
	return call(checkLoginStatus, { signal });
}

/** Who is signed in. */
export const sessionQuery = queryOptions({
	queryKey: queryKeys.session,
	queryFn: ({ signal }) => fetchSession(signal),
	staleTime: 60_000,
	retry: 1,
	// A server that is just restarting has not said that nobody is signed in.
	refetchInterval: ({ state }) => state.data === undefined && retryIntervalAfter(state.error),
	// While the page was hidden somebody else may have signed in on another one: what it shows would act on their files.
	refetchOnWindowFocus: 'always',
});

/** The name of who is signed in, as far as the page knows: null for nobody, undefined before the server has said so. */
export function signedInAs(queryClient: QueryClient): string | null | undefined {
	return queryClient.getQueryData(sessionQuery.queryKey)?.username;
}

/** Whether another user than this one is signed in by now, as far as the page knows. Nobody is not another one. */
export function isReplaced(queryClient: QueryClient, username: string | null | undefined): boolean {
	const now = signedInAs(queryClient);
	return typeof username === 'string' && typeof now === 'string' && now !== username;
}
