import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { baseName, Failure, isFailure, type Viewer } from '@stowage/rules';
import type { AuditEvent } from '../audit/auditLine.js';
import { clientKey } from '../http/requests/proxy.js';
import { refusalPage, wantsPage } from '../links/refusalPage.js';
import { retryIfChanged } from '../responses/retryIfChanged.js';
import { sendFile } from '../responses/sendFile.js';
import type { Services } from '../services.js';
import { sendArchive } from './sendArchive.js';

/** Temporary links: created, listed and revoked by their owner, used by anybody who has one. */
export function linkRoutes(services: Services) {
	const { audit, config, links, log } = services;
	return [
		route(contract.generateTempLink, async ({ viewer, payload }) => {
			const { token, expiresAt } = await links.make(viewer, payload.filePath, payload.expiration);
			return { token, expiresAt };
		}),

		route(contract.temporaryDownload, async ({ viewer, params, query, request, h }) => {
			const send = async (describe: (details: Partial<AuditEvent>) => void) => {
				const { id, owner, path, file } = await links.resolve(params.token ?? '');
				describe({ link: id, area: 'private', path, ...(owner.kind === 'user' ? { owner: owner.username } : {}) });
				// Before the first byte is sent, so that a client with the response finds it counted.
				const options = { isKept: false, onFirstByte: () => links.countDownload(id) };
				if (file === undefined) {
					const folder = { area: 'private' as const, items: [{ path }] };
					const client = clientKey(viewer, request.client.address);
					return await sendArchive(services, request, h, owner, client, folder, describe, options);
				}
				return await sendFile(request, h, file, {
					name: baseName(path),
					isInline: query.inline === '1',
					log,
					...options,
				});
			};
			try {
				return await audit.sending({ action: 'followLink', viewer }, request.raw.res, (describe) =>
					retryIfChanged(() => send(describe)),
				);
			} catch (error) {
				if (isFailure(error) && wantsPage(request)) return refusalPage(h, error, `${config.basePath}/`);
				throw error;
			}
		}),

		route(contract.temporaryLinks, async ({ viewer }) => {
			const good = (await links.list(idOf(viewer))).filter(({ state }) => state === 'good');
			return good.map(({ id, path, createdAt, expiresAt, downloads }) => ({
				id,
				path,
				createdAt,
				expiresAt,
				downloads,
			}));
		}),

		route(contract.revokeLink, async ({ viewer, params }) => {
			await links.revoke(params.id ?? '', idOf(viewer));
			return { message: 'Revoked.' };
		}),
	];
}

function idOf(viewer: Viewer): string {
	if (viewer.kind === 'anonymous') throw new Failure('notSignedIn', 'Please sign in first.');
	return viewer.id;
}
