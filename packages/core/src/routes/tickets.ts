import * as contract from '@stowage/contract';
import { type ByteRange, type OpenFile, route } from '@stowage/plugin-api';
import { Failure, type Viewer } from '@stowage/rules';
import { ownedBy } from '../archives/makeManifest.js';
import { clientGone } from '../http/clientGone.js';
import { clientKey } from '../limits/clientKey.js';
import { rateLimited } from '../limits/rateLimited.js';
import { retryChanged } from '../responses/retryChanged.js';
import { sendFile } from '../responses/sendFile.js';
import type { Services } from '../services.js';
import { availableSpace } from '../storage/freeSpace.js';
import { createTickets, type Ticket } from '../tickets/createTickets.js';
import { Transfers } from '../tickets/Transfers.js';

/** Tickets that one person, or one address without a person, may take in a window: a page takes one for each ZIP. */
const mostTickets = 1_000;
const windowMs = 10 * 60_000;

/** A ticket of less is made as long as the database has its reserve: who can't upload any more may still download. */
const smallBytes = 64 * 1024;

/** How often a transfer looks whether its ticket was ended in another process. */
const lookMs = 2_000;

/** A selection that is frozen under a URL which whoever has it can download, with any number of ranges, for some hours. */
export function ticketRoutes(services: Services) {
	const { config, database, databaseReserve, storage, archives, sessions, notifications, log, now } = services;
	const transfers = new Transfers(notifications);
	const available = availableSpace(() => storage, config.uploads.freeSpaceReserve);
	const tickets = createTickets({
		store: database.tickets,
		async assertSpace(bytes) {
			await databaseReserve.assertRoom(bytes);
			if (bytes < smallBytes || bytes <= (await available())) return;
			throw new Failure('storageFull', 'There is not enough free space.');
		},
		isSessionAlive: (session) => sessions.isAlive(session),
		now,
	});

	const assertPause = async (client: string) => {
		const { count, endsAt } = await database.limits.hit(`tickets:${client}`, windowMs, now());
		if (count > mostTickets) throw rateLimited('Too many downloads were begun. Please wait a moment.', endsAt, now());
	};

	return [
		route(contract.makeTicket, async ({ viewer, payload, request, h }) => {
			if (payload.files.length === 0) throw new Failure('invalid', 'No files selected for download');
			const client = clientKey(viewer, request.client.address);
			await assertPause(client);
			const area = payload.type;
			const chosen = payload.files.map(({ path, owner }) => ({ path, ...ownedBy(owner) }));
			const asker = { client, signal: clientGone(request) };
			const opened = await archives.openFileOrArchive(viewer, { area, items: chosen }, asker);
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

		route(contract.downloadByTicket, ({ params, request, h }) =>
			retryChanged(async () => {
				const token = params.ticket ?? '';
				const ticket = await tickets.find(token);
				const owner = viewerOf(ticket);
				const asker = { client: clientKey(owner, request.client.address), signal: clientGone(request) };
				const opened = await archives.openFileOrArchive(owner, ticket, asker);
				const { size, version } = opened.file.item;
				const transfer = transfers.enter(token, ticket, () => request.raw.res.destroy());
				const end = () => transfers.end(token, ticket);
				const unsubscribe = ticket.user === undefined ? () => {} : sessions.subscribe(ticket.user.session, end);
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
					unsubscribe();
					transfer.leave();
				}
			}),
		),

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
