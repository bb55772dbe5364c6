import * as contract from '@stowage/contract';
import { type ItemRef, type Request, route } from '@stowage/plugin-api';
import type { Area, Owner, StoragePath } from '@stowage/rules';
import { clientGone } from '../http/clientGone.js';
import type { Services } from '../services.js';

const item = (area: Area, path: StoragePath, owner: Owner | undefined): ItemRef => ({
	area,
	path,
	...(owner === undefined ? {} : { owner }),
});

/** Browsing, and everything that changes a tree but for bytes that arrive. */
export function fileRoutes({ files }: Services) {
	const browse = async (
		viewer: Parameters<typeof files.list>[0],
		type: Area,
		directory: StoragePath,
		search: string | undefined,
		request: Request,
	) => {
		const folder = item(type, directory, undefined);
		const found =
			search === undefined || search === ''
				? await files.list(viewer, folder)
				: await files.search(viewer, folder, search, clientGone(request));
		return { type, directory, ...found };
	};
	return [
		route(contract.browse, ({ viewer, query, request }) =>
			browse(viewer, query.type, query.directory, query.search, request),
		),
		route(contract.browsePublic, ({ query, request }) =>
			browse({ kind: 'anonymous' }, 'public', query.directory, query.search, request),
		),

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
			entry: await files.copy(
				viewer,
				item(payload.fromType ?? payload.type, payload.fromPath, payload.owner),
				item(payload.type, payload.toPath, undefined),
				clientGone(request),
			),
		})),

		route(contract.deleteItem, async ({ viewer, payload }) => {
			await files.remove(viewer, item(payload.type, payload.filePath, payload.owner));
			return { message: 'Deleted.' };
		}),
	];
}
