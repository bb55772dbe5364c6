import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { decodePath } from '../../http/requests/rawPath.js';
import type { Services } from '../../services.js';
import { queued } from '../queued.js';

/** The former contents of the caller's files. They are downloaded as any file is. */
export function versionRoutes(services: Services) {
	const { config, versions } = services;
	const prefix = `${config.basePath}/api/versions/`;
	return [
		route(contract.listVersions, async ({ viewer, query, request }) => {
			const path = decodePath(request.raw.req.url ?? '', prefix);
			const { keepFor } = versions;
			const found = await queued(services, viewer, request, () => versions.list(viewer, { area: query.type, path }));
			return {
				versions: found.map(({ id, size, mtime, deletedAt, deletedBy }) => ({
					id,
					size: size.bytes,
					mtime,
					replacedAt: deletedAt,
					replacedBy: deletedBy,
					expiresAt: deletedAt + keepFor,
				})),
			};
		}),

		route(contract.restoreVersion, async ({ viewer, payload, request }) => {
			const file = { area: payload.type, path: payload.filePath };
			const entry = await queued(services, viewer, request, () => versions.restore(viewer, file, payload.id));
			return { message: 'Restored.', entry };
		}),

		route(contract.purgeVersion, async ({ viewer, params, request }) => {
			const { id = '' } = params;
			if (!contract.versionId.safeParse(id).success)
				throw new Failure('notFound', 'There is no such version of this file any more.');
			await queued(services, viewer, request, () => versions.purge(viewer, id));
			return { message: 'Deleted forever.' };
		}),
	];
}
