import * as contract from '@stowage/contract';
import { type Call, type OpenFile, route, type Turn } from '@stowage/plugin-api';
import { Failure, type Viewer } from '@stowage/rules';
import { type ChosenItem, ownedBy, type Selection } from '../archives/makeManifest.js';
import { type AuditEvent, chosen } from '../audit/auditLine.js';
import { visitorOf } from '../config/strangers.js';
import { clientGone } from '../http/connections/clientGone.js';
import { clientKey, queueClient } from '../http/requests/proxy.js';
import { retryIfChanged } from '../responses/retryIfChanged.js';
import { sendFile } from '../responses/sendFile.js';
import type { Services } from '../services.js';
import type { InTurn } from '../shares/createGuests.js';
import { shareEvent, sideBySide } from '../shares/shareItems.js';
import type { Ticket, TicketDetails } from '../tickets/createTickets.js';
import { whilePermitted } from './files/whilePermitted.js';
import { listed, queued } from './queued.js';

/** A fixed selection under a secret URL that permits the download, with any number of ranges, for some hours. */
export function ticketRoutes(services: Services) {
	const { audit, sessions, tickets, transfers } = services;
	return [
		route(contract.makeTicket, ({ viewer, payload, request, h }) => {
			const items = payload.files.map(({ path, owner }) => ({ path, ...ownedBy(owner) }));
			const session = sessions.keyOf(request);
			const user =
				viewer.kind === 'user' && session !== undefined
					? { user: { id: viewer.id, username: viewer.username, session } }
					: {};
			return whilePermitted(services, request, () =>
				makeTicket(services, { viewer, request, h }, viewer, { area: payload.type, items }, user),
			);
		}),

		route(contract.downloadByTicket, (call) =>
			audit.sending({ action: 'download' }, call.request.raw.res, (describe) =>
				retryIfChanged(() => sendByTicket(services, call, describe)),
			),
		),

		route(contract.endTicket, async ({ params }) => {
			const token = params.ticket ?? '';
			transfers.end(token, await tickets.end(token));
			return { message: 'The download has ended.' };
		}),
	];
}

/** Sends the file or archive of a ticket, or a range of it, as its owner or the guest of a share may read it now. */
async function sendByTicket(
	services: Services,
	{ params, request, h }: Call<typeof contract.downloadByTicket>,
	describe: (details: Partial<AuditEvent>) => void,
) {
	const { archives, config, guestMemory, guests, log, shareUses, tickets } = services;
	const token = params.ticket ?? '';
	const ticket = await tickets.find(token);
	const { share } = ticket;
	const owner = viewerOf(ticket, config);
	const inTurn: InTurn = (work) => listed(services, owner, request, work);
	const visit = share && (await guests.visitAgain(share.pass, share.client, { inTurn, keep: guestMemory(request) }));
	const action = ticket.kind === 'file' ? 'download' : 'downloadArchive';
	const guest = share?.isWhole && visit !== undefined ? sideBySide(visit.guest) : visit?.guest;
	const reader = guest ?? owner;
	const eventOf = (items: readonly ChosenItem[]) =>
		visit === undefined || guest === undefined
			? ({ action, viewer: owner, area: ticket.area, ...chosen(items) } as const)
			: ({ action: 'followShare', ...shareEvent({ share: visit.share, guest }, items) } as const);
	// Who it is, also where it is refused before its items are read.
	describe(eventOf([]));
	const selection = {
		area: ticket.area,
		async readItems(turn: Turn, signal?: AbortSignal) {
			const items = await ticket.readItems(turn, signal);
			describe(eventOf(items));
			return items;
		},
	};
	const requester = { ...queueClient(owner, request.client.address), signal: clientGone(request) };
	// Before the archive is made, which takes long for large folders: one that has ended meanwhile is neither made nor sent.
	const transfer = enterTransfer(services, token, ticket, () => request.raw.res.destroy());
	try {
		const opened = await archives.openFileOrArchive(reader, selection, requester);
		describe({ entries: opened.entries });
		const { size, version } = opened.file.item;
		const file =
			visit === undefined || share === undefined
				? opened.file
				: shareUses.counted({ share: visit.share, client: share.client }, opened.file);
		return await sendFile(request, h, transfer.reporting(file), {
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
}

/** Begins a transfer, which is broken off once its ticket or its share has ended, or visitors may not download any more. */
function enterTransfer(
	{ transfers, shareTransfers, settingTransfers }: Services,
	token: string,
	ticket: TicketDetails,
	breakOff: () => void,
) {
	const transfer = transfers.enter(token, ticket, breakOff);
	const leaveShare = ticket.share && shareTransfers.enter(ticket.share.pass, breakOff);
	const leaveVisitors = isOfVisitor(ticket) ? settingTransfers.enter('visitors', breakOff) : undefined;
	return {
		reporting: (file: OpenFile) => transfer.reporting(file),
		leave() {
			leaveShare?.();
			leaveVisitors?.();
			transfer.leave();
		},
	};
}

/** Keeps a selection that `viewer` may read under a URL, for the caller, and answers with it. */
export async function makeTicket(
	services: Pick<Services, 'config' | 'archives' | 'tickets' | 'walkQueue'>,
	{ viewer: caller, request, h }: Pick<Call<typeof contract.makeTicket>, 'viewer' | 'request' | 'h'>,
	viewer: Viewer,
	{ area, items: chosen }: Selection,
	holder: Pick<Ticket, 'user' | 'share'>,
) {
	if (chosen.length === 0) throw new Failure('invalid', 'No files selected for download');
	const { config, archives, tickets } = services;
	const client = clientKey(caller, request.client.address);
	// Rows too are written in turns: else one client's would wait for all that others have begun.
	await queued(services, caller, request, () => tickets.count(client));
	const requester = { ...queueClient(caller, request.client.address), signal: clientGone(request) };
	const opened = await archives.openFileOrArchive(viewer, { area, items: chosen }, requester);
	await opened.file.close();
	const { kind, name, skipped, file, items } = opened;
	const { size, version } = file.item;
	const kept = { area, items, ...holder, kind, name, version, size };
	const ticket = await queued(services, caller, request, () => tickets.add(client, kept));
	const url = `${config.basePath}/api/downloadTickets/${ticket}`;
	return h.response({ ticket, url, fileName: name, size, skipped }).code(201);
}

/** A guest's ends with the share, a user's with the session. */
function isOfVisitor({ user, share }: TicketDetails): boolean {
	return user === undefined && share === undefined;
}

function viewerOf({ user }: TicketDetails, config: Services['config']): Viewer {
	return user === undefined ? visitorOf(config) : { kind: 'user', id: user.id, username: user.username };
}
