import { lookAtShare, openShare, type ResultOf, removeShareUpload } from '@stowage/contract';
import { sortingByName } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client/client.js';
import { inTurns } from './listings/inTurns.js';
import { listingQuery } from './listings/listingQuery.js';
import { noSearch } from './listings/search.js';
import { queryKeys } from './queryKeys.js';
import { shareSource } from './sources/shareSource.js';

export type SharedView = Omit<ResultOf<typeof lookAtShare>, 'items'> & {
	/** How many items there are, and the only one, if there is one. */
	count: number;
	only: ResultOf<typeof lookAtShare>['items'][number] | undefined;
};

/** What the page of a share shows. Its items are kept as the listing that they are, so that they are not fetched twice. */
export function shareQuery(token: string) {
	return queryOptions({
		queryKey: queryKeys.share.of(token),
		queryFn: async ({ signal, client }): Promise<SharedView> => {
			const { items, ...share } = await call(lookAtShare, { params: { token }, signal });
			const { queryKey } = listingQuery(shareSource(token), '', noSearch);
			if (share.mode !== 'upload') {
				const entries = await inTurns(sortingByName(items), signal);
				client.setQueryData(queryKey, { type: 'private' as const, directory: '', entries });
			}
			return { ...share, count: items.length, only: items.length === 1 ? items[0] : undefined };
		},
		staleTime: 30_000,
		// It may have ended, or got another password.
		refetchOnWindowFocus: true,
	});
}

/** Opens a share for this browser. Throws `badCredentials` for a wrong password, and `rateLimited`. */
export async function enterPassword(token: string, password: string): Promise<void> {
	await call(openShare, { params: { token }, payload: { password } });
}

/**
 * Removes a file for good that this browser has sent within the last hour, by its upload. Throws `notFound` and
 * `expired` where that is too late.
 */
export async function takeBack(token: string, id: string): Promise<void> {
	await call(removeShareUpload, { params: { token, id }, headers: { 'tus-resumable': '1.0.0' } });
}
