import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { decodePath } from '../http/requests/rawPath.js';
import type { Services } from '../services.js';

/** The former contents of the caller's files. They are downloaded as any file is. */
export function versionRoutes({ config, versions }: Services) {
	const prefix = `${config.basePath}/api/versions/`;
	return [
		route(contract.listVersions, async ({ viewer, query, request }) => {
			const path = decodePath(request.raw.req.url ?? '', prefix);
			const { keepFor } = versions;
			const found = await versions.list(viewer, { area: query.type, path });
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

		route(contract.restoreVersion, async ({ viewer, payload }) => ({
			message: 'Restored.',
			entry: await versions.restore(viewer, { area: payload.type, path: payload.filePath }, payload.id),
		})),

		route(contract.purgeVersion, async ({ viewer, params }) => {
			const { id = '' } = params;
			if (!contract.versionId.safeParse(id).success)
				throw new Failure('notFound', 'There is no such version of this file any more.');
			await versions.purge(viewer, id);
			return { message: 'Deleted forever.' };
		}),
	];
}
