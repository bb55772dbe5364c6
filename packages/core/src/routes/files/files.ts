import * as contract from '@stowage/contract';
import { type Call, type ItemRef, type Request, route } from '@stowage/plugin-api';
import { type Area, baseName, isFailure, type Owner, parentPath, type StoragePath, type Viewer } from '@stowage/rules';
import { conflictOf } from '../../files/placing/placeItem.js';
import { clientGone } from '../../http/connections/clientGone.js';
import { trimBlanks } from '../../http/requests/trimBlanks.js';
import type { Services } from '../../services.js';
import { changeRoutes } from '../changeRoutes.js';
import { ownerOf } from '../jobs.js';
import { browseFolder } from './browseFolder.js';
import { whilePermitted } from './whilePermitted.js';

const item = (area: Area, path: StoragePath, owner: Owner | undefined): ItemRef => ({
	area,
	path,
	...(owner === undefined ? {} : { owner }),
});

type ChangeCall = Pick<
	Call<typeof contract.moveItem | typeof contract.copyItem>,
	'viewer' | 'payload' | 'request' | 'h'
>;

/** RFC 7240: the client prefers an immediate response to one with the result. */
const respondAsync = 'respond-async';

/** Work that takes less time is answered with its result all the same. */
const asyncAfterMs = 1000;

function prefersAsync({ headers }: Pick<Request, 'headers'>): boolean {
	const preferences = [headers.prefer ?? []].flat().join(',').split(',');
	return preferences.some((each) => trimBlanks(each.split(/[=;]/)[0] ?? '').toLowerCase() === respondAsync);
}

/** Browsing, and everything that changes a tree but for bytes that arrive. */
export function fileRoutes(services: Services) {
	const { files, pasting, uploadLimits } = services;
	/** Responds once it is done, or after a moment with the job that continues. */
	const asJob = async (
		{ viewer, payload, request, h }: ChangeCall,
		kind: 'copy' | 'move',
		{ area: from, path, owner }: ItemRef,
		to: Area,
		message: string,
	) => {
		const directory = parentPath(payload.toPath);
		const chosen = { path, name: baseName(payload.toPath), ...(owner === undefined ? {} : { owner }) };
		const { address } = request.client;
		const { onConflict, ifMatch } = payload;
		const input = { from, to, directory, items: [chosen], address, onConflict, ifMatch };
		const outcome = await pasting.startSingle(ownerOf(viewer), kind, input, asyncAfterMs);
		if ('entry' in outcome) return { message, entry: outcome.entry };
		return h.response(outcome).code(202).header('preference-applied', respondAsync);
	};

	const change = changeRoutes(services);
	return [
		route(contract.browse, (call) => {
			const { viewer, query, request } = call;
			return whilePermitted(services, request, () => browseFolder(services, call, viewer, query.type, query));
		}),
		route(contract.browsePublic, (call) => {
			// A user sees here what visitors would see who may read.
			const viewer: Viewer = call.viewer.kind === 'user' ? { kind: 'anonymous', access: 'read' } : call.viewer;
			return whilePermitted(services, call.request, () => browseFolder(services, call, viewer, 'public', call.query));
		}),

		change(contract.createFile, async ({ viewer, payload }) => ({
			message: 'File created.',
			entry: await files.createFile(viewer, item(payload.type, payload.directory, undefined), payload.fileName),
		})),

		change(contract.createFolder, async ({ viewer, payload }) => ({
			message: 'Folder created.',
			entry: await files.createFolder(viewer, item(payload.type, payload.directory, undefined), payload.folderName),
		})),

		change(contract.renameItem, async ({ viewer, payload }) => ({
			message: 'Renamed.',
			entry: await files.rename(viewer, item(payload.type, payload.oldPath, payload.owner), payload.newName),
		})),

		change(contract.moveItem, async (call) => {
			const { viewer, payload } = call;
			const from = item(payload.type, payload.fromPath, payload.owner);
			try {
				// One rename, whatever its size.
				const entry = await files.move(viewer, from, payload.toPath, { onConflict: conflictOf(payload) });
				return { message: 'Moved.', entry };
			} catch (error) {
				// The home is on its way to another disk, which a job waits for.
				if (!isFailure(error, 'locked') || !prefersAsync(call.request)) throw error;
				return asJob(call, 'move', from, payload.type, 'Moved.');
			}
		}),

		change(contract.copyItem, async (call) => {
			const { viewer, payload, request } = call;
			const from = item(payload.fromType ?? payload.type, payload.fromPath, payload.owner);
			const onConflict = conflictOf(payload);
			if (prefersAsync(request)) return asJob(call, 'copy', from, payload.type, 'Copied.');
			const entry = await uploadLimits.counted(viewer, request.client.address, { files: 0, bytes: 0 }, (counting) =>
				files.copy(viewer, from, item(payload.type, payload.toPath, undefined), {
					signal: clientGone(request),
					onConflict,
					beforeItem: async ({ type, size }) => {
						if (type === 'file') await counting.createdFile(size);
					},
				}),
			);
			return { message: 'Copied.', entry };
		}),

		change(contract.deleteItem, async ({ viewer, payload }) => {
			const chosen = item(payload.type, payload.filePath, payload.owner);
			return { message: 'Deleted.', ...(await files.remove(viewer, chosen, { isForGood: payload.permanent })) };
		}),
	];
}
