import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { Failure, type Owner, type StoragePath } from '@stowage/rules';
import { type AuditEvent, chosen } from '../../audit/auditLine.js';
import { clientKey } from '../../http/requests/proxy.js';
import { decodePath } from '../../http/requests/rawPath.js';
import { createAccelRedirect } from '../../responses/createAccelRedirect.js';
import { retryIfChanged } from '../../responses/retryIfChanged.js';
import { sendFile } from '../../responses/sendFile.js';
import type { Services } from '../../services.js';
import { placeIn } from '../../trees/Tree.js';
import { sendArchive } from './sendArchive.js';
import { whilePermitted } from './whilePermitted.js';

const at = (path: StoragePath, owner: Owner | undefined) => ({ path, ...(owner === undefined ? {} : { owner }) });

export function downloadRoutes(services: Services) {
	const { audit, config, files, log, trees, versions } = services;
	const handOver = createAccelRedirect(config);
	const prefix = `${config.basePath}/api/download/`;
	return [
		route(contract.download, ({ viewer, query, request, h }) => {
			const path = decodePath(request.raw.req.url ?? '', prefix);
			const area = query.type;
			const wanted = at(path, query.owner);
			const isInline = query.inline === '1';
			const event: AuditEvent = { action: isInline ? 'preview' : 'download', viewer, area, ...wanted };
			const send = (describe: (details: Partial<AuditEvent>) => void) =>
				retryIfChanged(async () => {
					if (query.version !== undefined) {
						describe({ trash: query.version });
						const { entry, file } = await versions.open(viewer, { area, ...wanted }, query.version);
						return sendFile(request, h, file, { name: entry.name, isInline, log });
					}
					const found = await files.find(viewer, { area, ...wanted });
					// An item that was named without an owner was found in one tree, whose owner is used from here on.
					const item = at(path, found.owner);
					describe(item);
					if (found.type === 'directory') {
						describe({ action: 'downloadArchive' });
						const client = clientKey(viewer, request.client.address);
						return sendArchive(services, request, h, viewer, client, { area, items: [item] }, describe);
					}
					const { entry, file } = await files.open(viewer, { area, ...item });
					// What is sent from a shared folder ends with the role, so no proxy sends it.
					const accelRedirect =
						area === 'shared' ? undefined : await handOver(request, placeIn(trees.of(viewer, area, entry.owner), path));
					return sendFile(request, h, file, { name: entry.name, isInline, log, accelRedirect });
				});
			return audit.sending(event, request.raw.res, (describe) =>
				whilePermitted(services, request, () => send(describe)),
			);
		}),

		route(contract.downloadZip, ({ viewer, payload, request, h }) => {
			if (payload.files.length === 0) throw new Failure('invalid', 'No files selected for download');
			const items = payload.files.map(({ path, owner }) => at(path, owner));
			const client = clientKey(viewer, request.client.address);
			const area = payload.type;
			const event = { action: 'downloadArchive', viewer, area, ...chosen(items) } as const;
			const send = (describe: (details: Partial<AuditEvent>) => void) =>
				retryIfChanged(() => sendArchive(services, request, h, viewer, client, { area, items }, describe));
			return audit.sending(event, request.raw.res, (describe) =>
				whilePermitted(services, request, () => send(describe)),
			);
		}),
	];
}
