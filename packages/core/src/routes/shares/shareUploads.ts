import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { baseName, Failure, isWithin, joinPath, parsePath, relativePath, type User } from '@stowage/rules';
import { secretHash } from '../../secretHash.js';
import type { Services } from '../../services.js';
import type { Visit } from '../../shares/createGuests.js';
import type { Upload } from '../../uploads/resumable/createUpload.js';
import { answerInspected, answerOptions, answerUpload } from '../files/resumableUploads.js';
import { noNames, type ShareCall, visitor } from './shareGuests.js';

/** Files that guests send into the folder of a share: resumable uploads on behalf of its owner. */
export function shareUploadRoutes(services: Services) {
	const { config, guests, inFlightUploads, resumableUploads, shareCookies, shareTransfers } = services;
	const visit = visitor(services);

	/** Runs `work` as the owner, who receives; it ends with the share. */
	const receiving = async <T>(call: ShareCall, work: (owner: User, visit: Visit) => Promise<T>): Promise<T> => {
		const visited = await visit(call, noNames);
		const { share, guest } = visited;
		if (share.mode === 'view') throw new Failure('forbidden', 'This share receives no files.');
		const client = secretHash(shareCookies.clientOf(call.request, share));
		const leave = shareTransfers.enter(guests.passOf(share), () => call.request.raw.req.destroy());
		try {
			return await work({ ...guest.owner, receives: { share: share.id, client } }, visited);
		} finally {
			leave();
		}
	};
	/** An upload with the path that the guest may know. */
	const shown = (upload: Upload, { share, guest }: Visit): Upload => {
		if (upload.entryPath === null) return upload;
		const path = parsePath(upload.entryPath);
		const folder = guest.root.kind === 'folder' ? guest.root.folder.path : undefined;
		if (share.mode === 'upload') return { ...upload, entryPath: joinPath(upload.directory, upload.name) };
		const isInside = folder !== undefined && isWithin(path, folder);
		return { ...upload, entryPath: isInside ? relativePath(path, folder) : baseName(path) };
	};

	return [
		route(contract.shareUploadOptions, (call) => answerOptions(call, config)),
		route(contract.shareUploadOptionsOfOne, (call) => answerOptions(call, config)),

		route(contract.createShareUpload, (call) =>
			receiving(call, async (owner, visit) => {
				const upload = await inFlightUploads.run(() => resumableUploads.create(owner, call.request));
				const location = `${config.basePath}/api/share/${call.params.token}/uploads/${upload.id}`;
				return answerUpload(call, 201, shown(upload, visit)).header('location', location);
			}),
		),

		route(contract.inspectShareUpload, (call) =>
			receiving(call, async (owner, visit) => {
				const upload = await resumableUploads.inspect(owner, call.params.id ?? '', call.request);
				return answerInspected(call, shown(upload, visit));
			}),
		),

		route(contract.writeShareUpload, (call) =>
			receiving(call, async (owner, visit) => {
				const write = () => resumableUploads.write(owner, call.params.id ?? '', call.request);
				return answerUpload(call, 204, shown(await inFlightUploads.run(write), visit));
			}),
		),

		route(contract.removeShareUpload, (call) =>
			receiving(call, async (owner) => {
				await resumableUploads.takeBack(owner, call.params.id ?? '');
				return call.h.response().code(204);
			}),
		),
	];
}
