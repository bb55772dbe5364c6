import { capabilities } from '@stowage/contract';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client/client.js';
import { queryKeys } from './queryKeys.js';

/** The capabilities of the server. */
export const capabilitiesQuery = queryOptions({
	queryKey: queryKeys.capabilities,
	queryFn: ({ signal }) => call(capabilities, { signal }),
	staleTime: 5 * 60_000,
	retry: false,
});
