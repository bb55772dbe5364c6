import {
	generateTempLink,
	maxLinksOfPage,
	type ResultOf,
	revokeLink,
	temporaryDownload,
	temporaryLinks,
} from '@stowage/contract';
import { Failure, type LinkExpiration } from '@stowage/rules';
import { infiniteQueryOptions } from '@tanstack/react-query';
import { call, endpointUrl } from './client/client.js';
import { whileOnline } from './client/retries.js';
import { queryKeys } from './queryKeys.js';

export type TemporaryLink = ResultOf<typeof temporaryLinks>[number];

export interface LinksPage {
	links: TemporaryLink[];
	/** Where the next page begins; undefined for the last one. */
	next: string | undefined;
}

/** The temporary links of the signed-in user, the newest first. */
export const linksQuery = infiniteQueryOptions({
	queryKey: queryKeys.links,
	async queryFn({ signal, pageParam }): Promise<LinksPage> {
		const query = { limit: maxLinksOfPage, ...(pageParam === '' ? {} : { after: pageParam }) };
		const links = await call(temporaryLinks, { signal, query });
		const last = links.length < maxLinksOfPage ? undefined : links.at(-1);
		return { links, next: last && `${last.createdAt}-${last.id}` };
	},
	initialPageParam: '',
	getNextPageParam: ({ next }) => next,
	// They are opened seldom and must be current then.
	staleTime: 0,
	gcTime: 0,
	refetchInterval: whileOnline(30_000),
	retry: 1,
});

/** Creates a temporary link; returns its URL, which begins with this origin, and when it expires. */
export async function createLink(
	filePath: string,
	expiration: LinkExpiration,
	origin: string,
): Promise<{ url: string; expiresAt: number }> {
	const { token, expiresAt } = await call(generateTempLink, { payload: { filePath, expiration } });
	return { url: `${origin}${endpointUrl(temporaryDownload, { params: { token } })}`, expiresAt };
}

export async function revokeTemporaryLink(id: string): Promise<void> {
	await call(revokeLink, { params: { id } });
}

/**
 * Revokes a link that was just made, and of which only this is known here. Throws `notFound` for one that is not listed, as if it was
 * revoked.
 */
export async function revokeMadeLink(path: string, expiresAt: number): Promise<void> {
	const latest = await call(temporaryLinks, { query: { limit: maxLinksOfPage } });
	const made = latest.find((link) => link.path === path && link.expiresAt === expiresAt);
	if (made === undefined) throw new Failure('notFound', 'There is no such link.');
	await revokeTemporaryLink(made.id);
}
