import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { sendFile } from '../downloads/sendFile.js';
import { decodePath } from '../http/rawPath.js';
import type { Services } from '../services.js';

/** What answers until a plugin brings archives. */
const noArchives = () => new Failure('unavailable', 'ZIP archives are not available on this server.');

export function downloadRoutes({ config, files, log }: Services) {
	const prefix = `${config.basePath}/api/download/`;
	return [
		route(contract.download, async ({ viewer, query, request, h }) => {
			const path = decodePath(request.raw.req.url ?? '', prefix);
			const ref = { area: query.type, path, ...(query.owner === undefined ? {} : { owner: query.owner }) };
			const found = await files.find(viewer, ref);
			if (found.type === 'directory') throw noArchives();
			const { entry, file } = await files.open(viewer, {
				...ref,
				...(found.owner === undefined ? {} : { owner: found.owner }),
			});
			return sendFile(request, h, file, { name: entry.name, isInline: query.inline === '1', log });
		}),

		route(contract.downloadZip, ({ payload }) => {
			if (payload.files.length === 0) throw new Failure('invalid', 'No files selected for download');
			throw noArchives();
		}),
	];
}
