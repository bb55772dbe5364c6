import type * as contract from '@stowage/contract';
import type { Call } from '@stowage/plugin-api';
import type { Area, Owner, SearchQuery, Viewer } from '@stowage/rules';
import { clientGone } from '../http/connections/clientGone.js';
import { clientKey } from '../http/requests/proxy.js';
import { listingText, sendListing } from '../responses/sendListing.js';
import type { Services } from '../services.js';

type BrowseCall = Pick<Call<typeof contract.browsePublic>, 'viewer' | 'request' | 'h'>;
type BrowseQuery = Call<typeof contract.browsePublic>['query'];

/** What is searched for; nothing where the folder itself is meant. */
function searchOf({ search = '', kind, minSize, maxSize, after, before }: BrowseQuery): SearchQuery | undefined {
	const bounds = { kinds: kind, minSize, maxSize, after, before };
	const isFiltered = Object.values(bounds).some((bound) => bound !== undefined);
	return search === '' && !isFiltered ? undefined : { term: search, ...bounds };
}

/** Answers with a folder of an area as `viewer` sees it, or with what is found in it. A search is counted for the caller. */
export async function browseFolder(
	{ files, walkQueue, log }: Pick<Services, 'files' | 'walkQueue' | 'log'>,
	call: BrowseCall,
	viewer: Viewer,
	type: Area,
	query: BrowseQuery,
) {
	const { request, h } = call;
	const { directory } = query;
	const folder = { area: type, path: directory };
	const wanted = searchOf(query);
	if (wanted === undefined) {
		const missing: Owner[] = [];
		const batches = files.list(viewer, folder, (owner) => missing.push(owner));
		return sendListing(request, h, listingText({ type, directory }, batches, missing), log);
	}
	const signal = clientGone(request);
	const client = clientKey(call.viewer, request.client.address);
	const found = await walkQueue.run(client, (turn) => files.search(viewer, folder, wanted, signal, turn), signal);
	return { type, directory, ...found };
}
