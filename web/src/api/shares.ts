import {
	changeShare as changeShareEndpoint,
	createShare as createShareEndpoint,
	deleteShare as deleteShareEndpoint,
	listReceived,
	listShares,
	maxLinksOfPage,
	type PayloadInput,
	type ResultOf,
} from '@stowage/contract';
import { infiniteQueryOptions, queryOptions, useQuery } from '@tanstack/react-query';
import { capabilitiesQuery } from './capabilities.js';
import { call } from './client/client.js';
import { whileOnline } from './client/retries.js';
import { queryKeys } from './queryKeys.js';

export type Share = ResultOf<typeof createShareEndpoint>;
export type NewShare = PayloadInput<typeof createShareEndpoint>;
export type ShareChanges = PayloadInput<typeof changeShareEndpoint>;

export interface SharesPage {
	shares: Share[];
	/** Where the next page begins; undefined for the last one. */
	next: string | undefined;
}

/** The shares of the signed-in user, the newest first. */
export const sharesQuery = infiniteQueryOptions({
	queryKey: queryKeys.shares,
	async queryFn({ signal, pageParam }): Promise<SharesPage> {
		const query = { limit: maxLinksOfPage, ...(pageParam === '' ? {} : { after: pageParam }) };
		const { shares } = await call(listShares, { signal, query });
		const last = shares.length < maxLinksOfPage ? undefined : shares.at(-1);
		return { shares, next: last && `${last.createdAt}-${last.id}` };
	},
	initialPageParam: '',
	getNextPageParam: ({ next }) => next,
	// As the temporary links beside them.
	staleTime: 0,
	gcTime: 0,
	refetchInterval: whileOnline(30_000),
	retry: 1,
});

/** What one sender has sent to a share of the signed-in user in one go. */
export type Receipt = ResultOf<typeof listReceived>['received'][number];

/** What the shares of the signed-in user have received, the latest first. */
export const receivedQuery = queryOptions({
	queryKey: queryKeys.received,
	queryFn: async ({ signal }) => (await call(listReceived, { signal })).received,
	staleTime: 0,
	gcTime: 0,
	refetchInterval: whileOnline(15_000),
	retry: 1,
});

/** What the administrator allows: undefined until it is known. */
export function useShareLimits() {
	return useQuery(capabilitiesQuery).data?.shares;
}

export function createShare(payload: NewShare): Promise<Share> {
	return call(createShareEndpoint, { payload });
}

export function changeShare(id: string, payload: ShareChanges): Promise<Share> {
	return call(changeShareEndpoint, { params: { id }, payload });
}

export async function deleteShare(id: string): Promise<void> {
	await call(deleteShareEndpoint, { params: { id } });
}
