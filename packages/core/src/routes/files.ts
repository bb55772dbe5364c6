import * as contract from '@stowage/contract';
import { type Call, type ItemRef, route } from '@stowage/plugin-api';
import type { Area, Owner, StoragePath, Viewer } from '@stowage/rules';
import { clientGone } from '../http/clientGone.js';
import { clientKey } from '../limits/clientKey.js';
import { listingText } from '../responses/listingText.js';
import { sendListing } from '../responses/sendListing.js';
import type { Services } from '../services.js';

const item = (area: Area, path: StoragePath, owner: Owner | undefined): ItemRef => ({
	area,
	path,
	...(owner === undefined ? {} : { owner }),
});

type BrowseCall = Pick<Call<typeof contract.browsePublic>, 'request' | 'h'>;
type BrowseQuery = Call<typeof contract.browsePublic>['query'];

/** Browsing, and everything that changes a tree but for bytes that arrive. */
export function fileRoutes({ files, uploadLimits, walkQueue, log }: Services) {
	const browse = async ({ request, h }: BrowseCall, viewer: Viewer, type: Area, { directory, search }: BrowseQuery) => {
		const folder = item(type, directory, undefined);
		if (search === undefined || search === '') {
			return sendListing(request, h, listingText({ type, directory }, files.list(viewer, folder)), log);
		}
		const signal = clientGone(request);
		const client = clientKey(viewer, request.client.address);
		return {
			type,
			directory,
			...(await walkQueue.run(client, () => files.search(viewer, folder, search, signal), signal)),
		};
	};
	return [
		route(contract.browse, (call) => browse(call, call.viewer, call.query.type, call.query)),
		route(contract.browsePublic, (call) => browse(call, { kind: 'anonymous' }, 'public', call.query)),

		route(contract.createFolder, async ({ viewer, payload }) => ({
			message: 'Folder created.',
			entry: await files.createFolder(viewer, item(payload.type, payload.directory, undefined), payload.folderName),
		})),

		route(contract.renameItem, async ({ viewer, payload }) => ({
			message: 'Renamed.',
			entry: await files.rename(viewer, item(payload.type, payload.oldPath, payload.owner), payload.newName),
		})),

		route(contract.moveItem, async ({ viewer, payload }) => ({
			message: 'Moved.',
			entry: await files.move(viewer, item(payload.type, payload.fromPath, payload.owner), payload.toPath),
		})),

		route(contract.copyItem, async ({ viewer, payload, request }) => ({
			message: 'Copied.',
			entry: await uploadLimits.counted(viewer, request.client.address, { files: 0, bytes: 0 }, (counting) =>
				files.copy(
					viewer,
					item(payload.fromType ?? payload.type, payload.fromPath, payload.owner),
					item(payload.type, payload.toPath, undefined),
					{
						signal: clientGone(request),
						beforeItem: async ({ type, size }) => {
							if (type === 'file') await counting.one(size);
						},
					},
				),
			),
		})),

		route(contract.deleteItem, async ({ viewer, payload }) => {
			await files.remove(viewer, item(payload.type, payload.filePath, payload.owner));
			return { message: 'Deleted.' };
		}),
	];
}
