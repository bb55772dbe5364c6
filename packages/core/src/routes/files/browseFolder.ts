import type * as contract from '@stowage/contract';
import type { Call, ItemRef } from '@stowage/plugin-api';
import { type Area, type MemberRole, type Owner, type SearchQuery, signedIn, type Viewer } from '@stowage/rules';
import { clientGone } from '../../http/connections/clientGone.js';
import { queueClient } from '../../http/requests/proxy.js';
import { inOrder } from '../../responses/inOrder.js';
import { listingText, sendListing } from '../../responses/sendListing.js';
import type { Services } from '../../services.js';

type BrowseCall = Pick<Call<typeof contract.browsePublic>, 'viewer' | 'request' | 'h'>;
type BrowseQuery = Call<typeof contract.browsePublic>['query'];

/** What is searched for; nothing where the folder itself is meant. */
function searchOf({ search = '', kind, minSize, maxSize, after, before }: BrowseQuery): SearchQuery | undefined {
	const bounds = { kinds: kind, minSize, maxSize, after, before };
	const isFiltered = Object.values(bounds).some((bound) => bound !== undefined);
	return search === '' && !isFiltered ? undefined : { term: search, ...bounds };
}

type ListingHead = Omit<contract.ResultOf<typeof contract.browse>, 'entries'>;

/** Answers with a folder of an area as `viewer` sees it, or with what is found in it. A search is counted for the caller. */
export async function browseFolder(
	services: Pick<Services, 'files' | 'walkQueue' | 'listingQueue' | 'log' | 'sharedFolders'>,
	call: BrowseCall,
	viewer: Viewer,
	type: Area,
	query: BrowseQuery,
) {
	const { files, walkQueue } = services;
	const { request } = call;
	const { directory } = query;
	const from = queueClient(call.viewer, request.client.address);
	const folder = { area: type, path: directory };
	const wanted = searchOf(query);
	const head: ListingHead = { type, directory, ...(await membership(services, viewer, folder)) };
	if (wanted === undefined) {
		const missing: Owner[] = [];
		const { sort } = query;
		const read = files.list(viewer, folder, (owner) => missing.push(owner));
		const onOrder = () => {
			head.sorted = sort;
		};
		const batches = sort === undefined ? read : inOrder(read, sort, from, onOrder);
		return sendListing(services, call, listingText(head, batches, missing));
	}
	const signal = clientGone(request);
	const found = await walkQueue.run(from, (turn) => files.search(viewer, folder, wanted, signal, turn), signal);
	return { ...head, ...found };
}

/**
 * Whose a shared folder is, and what the viewer may do in it. Throws `notSignedIn`, and `notFound` for what is in no
 * folder of the viewer's.
 */
async function membership(
	{ sharedFolders }: Pick<Services, 'sharedFolders'>,
	viewer: Viewer,
	{ area, path }: Pick<ItemRef, 'area' | 'path'>,
): Promise<{ owner?: string; role?: MemberRole }> {
	if (area !== 'shared' || path === '') return {};
	const { folder, role } = await sharedFolders.at(signedIn(viewer), path);
	return { owner: folder.owner.username, role };
}
