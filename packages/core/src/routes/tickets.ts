import * as contract from '@stowage/contract';
import { type ByteRange, type Files, type OpenFile, type Request, route } from '@stowage/plugin-api';
import { type Area, Failure, type Owner, type StoragePath, type Viewer } from '@stowage/rules';
import type { Selection } from '../archives/freeze.js';
import { sendFile } from '../downloads/sendFile.js';
import { clientGone } from '../http/clientGone.js';
import { limitAddress } from '../http/proxy.js';
import { rateLimited } from '../rateLimited.js';
import type { Services } from '../services.js';
import { createTickets, type Ticket } from '../tickets/createTickets.js';
import { openSelection } from '../tickets/openSelection.js';
import { Transfers } from '../tickets/Transfers.js';

/** Tickets that one person, or one address without a person, may take in a window: a page takes one for each ZIP. */
const mostTickets = 1_000;
const windowMs = 10 * 60_000;

/** How often a transfer looks whether its ticket was ended in another process. */
const lookMs = 2_000;

/** A selection that is frozen under a URL which whoever has it can download, with any number of ranges, for some hours. */
export function ticketRoutes(services: Services) {
	const { config, database, files, archives, sessions, news, log, now } = services;
	const transfers = new Transfers(news);
	const tickets = createTickets(
		database.smallRows('tickets'),
		database.smallRows('ended-tickets'),
		(session) => sessions.isAlive(session),
		now,
	);

	const demandRoom = async (viewer: Viewer, request: Request) => {
		const who = viewer.kind === 'user' ? `user ${viewer.id}` : limitAddress(request.client.address);
		const { count, endsAt } = await database.limits.hit(`tickets:${who}`, windowMs, now());
		if (count > mostTickets) throw rateLimited('Too many downloads were begun. Please wait a moment.', endsAt, now());
	};

	return [
		route(contract.makeTicket, async ({ viewer, payload, request, h }) => {
			if (payload.files.length === 0) throw new Failure('invalid', 'No files selected for download');
			await demandRoom(viewer, request);
			const signal = clientGone(request);
			const selection = await pinOwners(files, viewer, payload.type, payload.files, signal);
			const opened = await openSelection({ files, archives }, viewer, selection, signal);
			await opened.file.close();
			const { kind, name, skipped, file } = opened;
			const { size, version } = file.item;
			const session = sessions.keyOf(request);
			const user =
				viewer.kind === 'user' && session !== undefined
					? { user: { id: viewer.id, username: viewer.username, session } }
					: {};
			const ticket = await tickets.add({ ...selection, ...user, kind, name, version, size });
			const url = `${config.basePath}/api/downloadTickets/${ticket}`;
			return h.response({ ticket, url, fileName: name, size, skipped }).code(201);
		}),

		route(contract.followTicket, async ({ params, request, h }) => {
			const token = params.ticket ?? '';
			const ticket = await tickets.find(token);
			const opened = await openSelection({ files, archives }, viewerOf(ticket), ticket, clientGone(request));
			const { size, version } = opened.file.item;
			const transfer = transfers.enter(token, ticket, () => request.raw.res.destroy());
			const end = () => transfers.end(token, ticket);
			const unfollow = ticket.user === undefined ? () => {} : sessions.follow(ticket.user.session, end);
			const looking = setInterval(() => {
				tickets.hasEnded(token).then(
					(hasEnded) => hasEnded && end(),
					// A database that is away ends no transfer.
					() => {},
				);
			}, lookMs).unref();
			try {
				return await sendFile(request, h, told(opened.file, transfer.tell), {
					name: opened.kind === ticket.kind ? ticket.name : opened.name,
					isInline: false,
					log,
					headers:
						opened.kind === 'file'
							? {}
							: { 'content-type': 'application/zip', 'x-stowage-skipped': String(opened.skipped) },
					// Without a condition a range goes on with what was sent before; where that is another version now, all is sent anew.
					rangesOfVersion: ticket.version,
					onFirstByte: async () => {
						if (version !== ticket.version) await tickets.change(token, ticket, { version, size });
					},
				});
			} finally {
				clearInterval(looking);
				unfollow();
				transfer.leave();
			}
		}),

		route(contract.endTicket, async ({ params }) => {
			const token = params.ticket ?? '';
			transfers.end(token, await tickets.end(token));
			return { message: 'The download has ended.' };
		}),
	];
}

function viewerOf({ user }: Ticket): Viewer {
	return user === undefined ? { kind: 'anonymous' } : { kind: 'user', id: user.id, username: user.username };
}

/** The same file, telling how far it has been sent. */
function told(
	file: OpenFile,
	tell: (sent: number, size: number, state: 'waiting' | 'sending' | 'done') => void,
): OpenFile {
	const { size } = file.item;
	return {
		item: file.item,
		async *read(range?: ByteRange) {
			let sent = range?.start ?? 0;
			try {
				tell(sent, size, 'sending');
				for await (const chunk of file.read(range)) {
					const { length } = chunk;
					yield chunk;
					// It is asked for the next one once this one has left the process.
					sent += length;
					tell(sent, size, 'sending');
				}
			} finally {
				tell(sent, size, sent === size ? 'done' : 'waiting');
			}
		},
		isChanged: () => file.isChanged(),
		close: () => file.close(),
	};
}

/** What was named without an owner is found in one tree now, and that one is meant for as long as the ticket lasts. */
async function pinOwners(
	files: Files,
	viewer: Viewer,
	area: Area,
	chosen: readonly { path: StoragePath; owner?: Owner | undefined }[],
	signal: AbortSignal,
): Promise<Selection> {
	const items: { path: StoragePath; owner?: Owner }[] = [];
	for (const { path, owner } of chosen) {
		signal.throwIfAborted();
		const isOpen = area === 'public' && owner === undefined && path !== '';
		const known = isOpen ? (await files.find(viewer, { area, path })).owner : owner;
		items.push({ path, ...(known === undefined ? {} : { owner: known }) });
	}
	return { area, items };
}
