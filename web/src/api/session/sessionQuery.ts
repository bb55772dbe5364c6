import { checkLoginStatus } from '@stowage/contract';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../client/client.js';
import { queryKeys } from '../queryKeys.js';
import { sessionSettled } from './replaceSession.js';

/** Who is signed in. */
export const sessionQuery = queryOptions({
	queryKey: queryKeys.session,
	async queryFn({ signal }) {
		await sessionSettled();
		return call(checkLoginStatus, { signal });
	},
	staleTime: 60_000,
	retry: 1,
	refetchOnWindowFocus: true,
});
