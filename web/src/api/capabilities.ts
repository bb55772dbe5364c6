import { capabilities } from '@stowage/contract';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { call } from './client/client.js';
import { queryKeys } from './queryKeys.js';

/** The capabilities of the server. */
export const capabilitiesQuery = queryOptions({
	queryKey: queryKeys.capabilities,
	queryFn: ({ signal }) => call(capabilities, { signal }),
	staleTime: 5 * 60_000,
	retry: false,
	// A hidden page has no event stream, whose end would tell that the server was restarted.
	refetchOnWindowFocus: true,
});

/** How long what is deleted stays in the trash, in milliseconds; 0 without a trash, and until it is known. */
export function useTrashKeepFor(): number {
	return useQuery(capabilitiesQuery).data?.trashKeepFor ?? 0;
}

/** How long former versions of files are kept, in milliseconds; 0 where none are, and until it is known. */
export function useVersionsKeepFor(): number {
	return useQuery(capabilitiesQuery).data?.versionsKeepFor ?? 0;
}

/** What addresses that are given to others begin with: as the server is reached by the public, or else as it was here. */
export function usePublicOrigin(): string {
	return useQuery(capabilitiesQuery).data?.publicOrigin ?? window.location.origin;
}
