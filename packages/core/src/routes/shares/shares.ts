import * as contract from '@stowage/contract';
import { type LinkPosition, type Request, route } from '@stowage/plugin-api';
import { signedIn } from '@stowage/rules';
import { clientGone } from '../../http/connections/clientGone.js';
import { clientKey } from '../../http/requests/proxy.js';
import type { Services } from '../../services.js';
import type { ListedShare } from '../../shares/createShares.js';
import { changeRoutes } from '../changeRoutes.js';
import { positionOf } from '../links.js';
import { listed, queued } from '../queued.js';
import { publicOrigin } from './publicOrigin.js';

/** Lines of what was received that are listed. */
const maxReceipts = 100;

/** Shares, for their owner. */
export function shareRoutes(services: Services) {
	const { config, database, shares } = services;
	const shown = (request: Request, share: ListedShare) => {
		const { id, title, message, mode, createdAt, expiresAt, isPaused, state } = share;
		const { maxDownloads, maxUploadBytes, downloads, bytesSent, uploads, bytesReceived, lastUsedAt } = share;
		return {
			...{
				id,
				url: share.token === undefined ? null : `${publicOrigin(config, request)}${config.basePath}/s/${share.token}`,
			},
			...{ title, message, mode, askName: share.asksName, createdAt, expiresAt, isPaused, state },
			items: share.items.map(({ path, type }) => ({ path, type })),
			hasPassword: share.passwordSecret !== null,
			...{ maxDownloads, maxUploadBytes, downloads, bytesSent, uploads, bytesReceived, lastUsedAt },
		};
	};
	const callerOf = (request: Request) => ({
		address: request.client.address,
		client: clientKey(request.viewer, request.client.address),
		signal: clientGone(request),
	});
	const change = changeRoutes(services);
	return [
		change(contract.createShare, async ({ viewer, payload, request, h }) => {
			const { items, askName, ...choices } = payload;
			const wanted = {
				...given(choices),
				paths: items.map(({ path }) => path),
				mode: payload.mode,
				...(askName === undefined ? {} : { asksName: askName }),
			};
			return h.response(shown(request, await shares.make(viewer, wanted, callerOf(request)))).code(201);
		}),

		route(contract.listShares, async ({ viewer, query, request, h }) => {
			const { limit, after } = query;
			const options = { limit, after: after === undefined ? undefined : (positionOf(after) as LinkPosition) };
			// A thousand with ten items each may be 40 MB: made into text one by one, between which others have their turns.
			const texts = await queued(services, viewer, request, async (signal, turn) => {
				const found: string[] = [];
				for await (const share of shares.list(signedIn(viewer).id, { ...options, signal, turn }))
					found.push(JSON.stringify(shown(request, share)));
				return found;
			});
			return h.response(`{"shares":[${texts.join(',')}]}`).type('application/json');
		}),

		route(contract.listReceived, async ({ viewer, request }) => {
			const received = await listed(services, viewer, request, () =>
				database.shareUses.receipts(signedIn(viewer).id, maxReceipts),
			);
			return { received: received.map((receipt) => ({ ...receipt, sender: receipt.sender || null })) };
		}),

		route(contract.getShare, async ({ viewer, params, request }) =>
			// A thousand items may be in it.
			listed(services, viewer, request, async () =>
				shown(request, await shares.get(params.id ?? '', signedIn(viewer).id)),
			),
		),

		change(contract.changeShare, async ({ viewer, params, payload, request }) => {
			const id = params.id ?? '';
			const { share } = await shares.change(id, signedIn(viewer).id, given(payload), callerOf(request));
			return shown(request, share);
		}),

		change(contract.deleteShare, async ({ viewer, params }) => {
			await shares.remove(params.id ?? '', signedIn(viewer).id);
			return { message: 'The share was deleted.' };
		}),
	];
}

type Given<T> = { [Key in keyof T]: Exclude<T[Key], undefined> };

/** Leaves out the keys that are not set. */
function given<T extends object>(choices: T): Partial<Given<T>> {
	return Object.fromEntries(Object.entries(choices).filter(([, value]) => value !== undefined)) as Partial<Given<T>>;
}
