import * as contract from '@stowage/contract';
import { type LinkPosition, route } from '@stowage/plugin-api';
import { baseName, isFailure, signedIn } from '@stowage/rules';
import type { AuditEvent } from '../audit/auditLine.js';
import { clientKey } from '../http/requests/proxy.js';
import { retryIfChanged } from '../responses/retryIfChanged.js';
import { sendFile } from '../responses/sendFile.js';
import type { Services } from '../services.js';
import { changeRoutes } from './changeRoutes.js';
import { sendArchive } from './files/sendArchive.js';
import { queued } from './queued.js';

/** Temporary links: created, listed and revoked by their owner, used by anybody who has one. */
export function linkRoutes(services: Services) {
	const { audit, links, linkTransfers, log } = services;
	const change = changeRoutes(services);
	return [
		change(contract.generateTempLink, async ({ viewer, payload, request }) => {
			const make = () => links.make(viewer, payload.filePath, payload.expiration);
			const { token, expiresAt } = await make().catch(async (error: unknown) => {
				if (!isFailure(error, 'rateLimited')) throw error;
				// Links whose items are gone count as well, and their owner sees none of them that could be revoked.
				if ((await queued(services, viewer, request, (signal) => links.purgeOf(signedIn(viewer), signal))) === 0)
					throw error;
				return make();
			});
			return { token, expiresAt };
		}),

		route(contract.temporaryDownload, async ({ viewer, params, query, request, h }) => {
			const send = async (describe: (details: Partial<AuditEvent>) => void) => {
				const token = params.token ?? '';
				const { id, owner, path, file } = await links.resolve(token);
				describe({ link: id, area: 'private', path, ...(owner.kind === 'user' ? { owner: owner.username } : {}) });
				// Before the first byte is sent, so that a client with the response finds it counted.
				const options = { isKept: false, onFirstByte: () => links.countDownload(id) };
				const leave = linkTransfers.enter(token, () => request.raw.res.destroy());
				try {
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
				} finally {
					leave();
				}
			};
			return audit.sending({ action: 'followLink', viewer }, request.raw.res, (describe) =>
				retryIfChanged(() => send(describe)),
			);
		}),

		route(contract.temporaryLinks, async ({ viewer, query, request }) => {
			const { limit, after } = query;
			const options = { limit, after: after === undefined ? undefined : positionOf(after) };
			const found = await queued(services, viewer, request, (signal, turn) =>
				links.page(signedIn(viewer).id, { ...options, signal, turn }),
			);
			return found.map(({ id, path, createdAt, expiresAt, downloads }) => ({
				id,
				path,
				createdAt,
				expiresAt,
				downloads,
			}));
		}),

		change(contract.revokeLink, async ({ viewer, params }) => {
			await links.revoke(params.id ?? '', signedIn(viewer).id);
			return { message: 'Revoked.' };
		}),
	];
}

/** What `after` of a list says. */
export function positionOf(after: string): LinkPosition {
	const dash = after.indexOf('-');
	return { createdAt: Number(after.slice(0, dash)), id: after.slice(dash + 1) };
}
