import * as contract from '@stowage/contract';
import { type LinkPosition, route } from '@stowage/plugin-api';
import { baseName, type Guest, isFailure, parsePath, signedIn } from '@stowage/rules';
import type { AuditEvent } from '../audit/auditLine.js';
import { clientKey } from '../http/requests/proxy.js';
import type { ResolvedLink } from '../links/createLinks.js';
import { retryIfChanged } from '../responses/retryIfChanged.js';
import { sendFile } from '../responses/sendFile.js';
import type { Services } from '../services.js';
import { identityOf } from '../trees/identity.js';
import { changeRoutes } from './changeRoutes.js';
import { sendArchive } from './files/sendArchive.js';
import { queued } from './queued.js';

/** How often a folder that is moved while its ZIP begins is looked up anew. */
const maxMoves = 3;

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
			const token = params.token ?? '';
			// Before the first byte is sent, so that a client with the response finds it counted.
			const optionsOf = (id: string) => ({ isKept: false, onFirstByte: () => links.countDownload(id) });
			const sendFolder = (link: ResolvedLink, describe: (details: Partial<AuditEvent>) => void) => {
				const { guest, items } = guestOf(link);
				const folder = { area: 'private' as const, items };
				const client = clientKey(viewer, request.client.address);
				return sendArchive(services, request, h, guest, client, folder, describe, optionsOf(link.id));
			};
			const send = async (describe: (details: Partial<AuditEvent>) => void) => {
				for (let left = maxMoves; ; left--) {
					const link = await links.resolve(token);
					const { id, owner, path, file } = link;
					describe({ link: id, area: 'private', path, owner: owner.username });
					const leave = linkTransfers.enter(token, () => request.raw.res.destroy());
					try {
						if (file === undefined) return await sendFolder(link, describe);
						const isInline = query.inline === '1';
						return await sendFile(request, h, file, { name: baseName(path), isInline, log, ...optionsOf(id) });
					} catch (error) {
						// A folder that was moved since is the same one where it is now.
						if (file !== undefined || left === 0 || !isFailure(error, 'notFound')) throw error;
					} finally {
						leave();
					}
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

/**
 * Whoever follows a link to a folder, as the guest of a share is: the walk may wait for its turn and take long, and by then
 * another folder may have the path. The folder is looked at before and after each reading.
 */
function guestOf({ id, owner, path, item }: ResolvedLink) {
	const name = baseName(path);
	const folder = { name, type: 'directory', path, itemId: identityOf(item) } as const;
	const guest: Guest = { kind: 'guest', share: id, owner, root: { kind: 'items', items: [folder] } };
	return { guest, items: [{ path: parsePath(name) }] };
}

/** What `after` of a list says. */
export function positionOf(after: string): LinkPosition {
	const dash = after.indexOf('-');
	return { createdAt: Number(after.slice(0, dash)), id: after.slice(dash + 1) };
}
