import { checkLoginStatus } from '@stowage/contract';
import { queryOptions } from '@tanstack/react-query';
import { call } from '../client/client.js';
import { passwordChangeSettled } from './changePassword.js';

/** Who is signed in. */
export const sessionQuery = queryOptions({
	queryKey: ['session'],
	async queryFn({ signal }) {
		await passwordChangeSettled();
		return call(checkLoginStatus, { signal });
	},
	staleTime: 60_000,
	retry: 1,
	refetchOnWindowFocus: true,
});
