import * as contract from '@stowage/contract';
import { route } from '@stowage/plugin-api';
import { Failure, type Viewer } from '@stowage/rules';
import { ownedBy } from '../archives/makeManifest.js';
import { type AuditEvent, chosen } from '../audit/auditLine.js';
import { visitorOf } from '../config/strangers.js';
import { clientGone } from '../http/connections/clientGone.js';
import { clientKey } from '../http/requests/proxy.js';
import { retryIfChanged } from '../responses/retryIfChanged.js';
import { sendFile } from '../responses/sendFile.js';
import type { Services } from '../services.js';
import type { Ticket } from '../tickets/createTickets.js';

/** A fixed selection under a secret URL that permits the download, with any number of ranges, for some hours. */
export function ticketRoutes({ audit, config, archives, sessions, tickets, transfers, log }: Services) {
	return [
		route(contract.makeTicket, async ({ viewer, payload, request, h }) => {
			if (payload.files.length === 0) throw new Failure('invalid', 'No files selected for download');
			const client = clientKey(viewer, request.client.address);
			await tickets.count(client);
			const area = payload.type;
			const chosen = payload.files.map(({ path, owner }) => ({ path, ...ownedBy(owner) }));
			const requester = { client, signal: clientGone(request) };
			const opened = await archives.openFileOrArchive(viewer, { area, items: chosen }, requester);
			await opened.file.close();
			const { kind, name, skipped, file, items } = opened;
			const { size, version } = file.item;
			const session = sessions.keyOf(request);
			const user =
				viewer.kind === 'user' && session !== undefined
					? { user: { id: viewer.id, username: viewer.username, session } }
					: {};
			const ticket = await tickets.add(client, { area, items, ...user, kind, name, version, size });
			const url = `${config.basePath}/api/downloadTickets/${ticket}`;
			return h.response({ ticket, url, fileName: name, size, skipped }).code(201);
		}),

		route(contract.downloadByTicket, ({ params, request, h }) => {
			const send = async (describe: (details: Partial<AuditEvent>) => void) => {
				const token = params.ticket ?? '';
				const ticket = await tickets.find(token);
				const owner = viewerOf(ticket, config);
				const action = ticket.kind === 'file' ? 'download' : 'downloadArchive';
				describe({ action, viewer: owner, area: ticket.area, ...chosen(ticket.items) });
				const requester = { client: clientKey(owner, request.client.address), signal: clientGone(request) };
				const opened = await archives.openFileOrArchive(owner, ticket, requester);
				describe({ entries: opened.entries });
				const { size, version } = opened.file.item;
				const transfer = transfers.enter(token, ticket, opened.file, () => request.raw.res.destroy());
				try {
					return await sendFile(request, h, transfer.file, {
						name: opened.kind === ticket.kind ? ticket.name : opened.name,
						isInline: false,
						log,
						headers:
							opened.kind === 'file'
								? {}
								: { 'content-type': 'application/zip', 'x-stowage-skipped': String(opened.skipped) },
						// A range without a condition continues the version that was sent before; if that has changed, all is sent anew.
						rangesOfVersion: ticket.version,
						onFirstByte: async () => {
							if (version !== ticket.version) await tickets.change(token, ticket, { version, size });
						},
					});
				} finally {
					transfer.leave();
				}
			};
			return audit.sending({ action: 'download' }, request.raw.res, (describe) => retryIfChanged(() => send(describe)));
		}),

		route(contract.endTicket, async ({ params }) => {
			const token = params.ticket ?? '';
			transfers.end(token, await tickets.end(token));
			return { message: 'The download has ended.' };
		}),
	];
}

function viewerOf({ user }: Ticket, config: Services['config']): Viewer {
	return user === undefined ? visitorOf(config) : { kind: 'user', id: user.id, username: user.username };
}
