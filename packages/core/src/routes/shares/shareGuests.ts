import * as contract from '@stowage/contract';
import { type Call, type OpenFile, type Request, route, type ShareHead } from '@stowage/plugin-api';
import { type Entry, Failure, rootPath, type StoragePath } from '@stowage/rules';
import type { AuditEvent } from '../../audit/auditLine.js';
import { outcomeOf } from '../../audit/createAudit.js';
import { clientGone } from '../../http/connections/clientGone.js';
import { clientKey } from '../../http/requests/proxy.js';
import { decodePath } from '../../http/requests/rawPath.js';
import { retryIfChanged } from '../../responses/retryIfChanged.js';
import { sendFile } from '../../responses/sendFile.js';
import { listingText, sendListing } from '../../responses/sendListing.js';
import { bytesSent } from '../../responses/writeBody.js';
import type { Services } from '../../services.js';
import type { GuestClient, Visit } from '../../shares/createGuests.js';
import { shareEvent, sideBySide, wholeShare } from '../../shares/shareItems.js';
import { browseFolder } from '../files/browseFolder.js';
import { sendArchive } from '../files/sendArchive.js';
import { sendThumbnail } from '../files/thumbnails.js';
import { listed } from '../queued.js';
import { makeTicket } from '../tickets.js';

/** Any call below the address of a share. */
export type ShareCall = Pick<Call<typeof contract.lookAtShare>, 'request' | 'params' | 'viewer'>;

/** Shares, for whoever has their address. What is shown and sent is what the calls of all areas show and send, for a guest. */
export function shareGuestRoutes(services: Services) {
	const { audit, config, files, guests, log, shareCookies, shareTransfers, shareUses } = services;
	const visit = visitor(services);
	const visiting = <T>(call: ShareCall, work: (visit: Visit) => Promise<T>, names?: ReadonlySet<string>): Promise<T> =>
		guests.visiting(() => visit(call, names), work);
	/** Runs `work` with a visit that may read what these paths name. */
	const looking = <T>(call: ShareCall, paths: readonly string[], work: (visit: Visit) => Promise<T>): Promise<T> => {
		const look = (visit: Visit) => {
			if (visit.share.mode === 'upload') throw new Failure('forbidden', 'This share only receives files.');
			return work(visit);
		};
		return visiting(call, look, paths.includes(rootPath) ? undefined : new Set(paths.map(firstName)));
	};
	/** Runs `send`, whose answer is broken off once the share ends. */
	const whileGood = async <T>({ request }: ShareCall, { share }: Visit, send: () => Promise<T>): Promise<T> => {
		const leave = shareTransfers.enter(guests.passOf(share), () => request.raw.res.destroy());
		try {
			return await send();
		} finally {
			leave();
		}
	};
	const pathIn = ({ request, params }: ShareCall, verb: string): StoragePath => {
		const prefix = `${config.basePath}/api/share/${params.token}/${verb}`;
		const { url = '' } = request.raw.req;
		return params.path === undefined || params.path === '' ? rootPath : decodePath(url, `${prefix}/`);
	};

	return [
		route(contract.lookAtShare, (call) =>
			visiting(call, async (visit) => {
				const { request } = call;
				const { share, guest } = visit;
				const { title, message, mode, expiresAt } = share;
				const from = share.owner.username;
				const isLimited = share.maxDownloads !== null;
				const head = { title, message, from, mode, expiresAt, askName: share.asksName, isLimited };
				const items = files.list(guest, { area: 'private', path: rootPath });
				shareCookies.give(request, tokenOf(call), share);
				const shown = presentItems(items, guest.root.kind === 'folder');
				if (mode !== 'upload')
					return whileGood(call, visit, () => sendListing(services, call, listingText(head, shown, [], 'items')));
				// The folder must be there, and nobody learns what is in it.
				await shown.next();
				await shown.return(undefined);
				return { ...head, items: [] };
			}),
		),

		route(contract.openShare, async (call) => {
			keepPrivate(call);
			const { request, payload, viewer } = call;
			const caller = { address: request.client.address, signal: clientGone(request) };
			let event: AuditEvent = { action: 'openShare', viewer };
			const onFound = ({ id, owner }: ShareHead) => {
				event = { ...event, share: id, owner: owner.username };
			};
			let opened: ShareHead;
			try {
				opened = await guests.open(tokenOf(call), payload.password, caller, onFound);
				audit.record(event, { outcome: 'ok' });
			} catch (error) {
				audit.record(event, outcomeOf(error));
				throw error;
			}
			shareCookies.give(request, tokenOf(call), opened);
			return { message: 'Opened.' };
		}),

		route(contract.browseShare, (call) =>
			looking(call, [call.query.directory], (visit) =>
				whileGood(call, visit, () => browseFolder(services, call, visit.guest, 'private', call.query)),
			),
		),

		route(contract.downloadFromShare, (call) => {
			const { viewer, query, request, h } = call;
			const path = pathIn(call, 'download');
			const isInline = query.inline === '1';
			const send = async (visit: Visit, describe: (details: Partial<AuditEvent>) => void) => {
				const { share } = visit;
				if (isInline && share.maxDownloads !== null) throw notViewed();
				const guest = path === rootPath ? sideBySide(visit.guest) : visit.guest;
				const items = path === rootPath ? wholeShare(visit.guest) : [{ path }];
				describe(shareEvent({ share, guest }, items));
				const counted = (file: OpenFile) =>
					shareUses.counted({ share, client: shareCookies.clientOf(request, share) }, file);
				const sendItems = async () => {
					const [only] = items;
					const found =
						items.length === 1 && only !== undefined
							? await files.find(guest, { area: 'private', ...only })
							: undefined;
					if (found?.type === 'file' && only !== undefined) {
						const { entry, file } = await files.open(guest, { area: 'private', ...only });
						const sent = isInline ? file : counted(file);
						return sendFile(request, h, sent, { name: entry.name, isInline, log });
					}
					const client = clientKey(viewer, request.client.address);
					const options = { counted };
					return sendArchive(services, request, h, guest, client, { area: 'private', items }, describe, options);
				};
				try {
					return await whileGood(call, visit, sendItems);
				} finally {
					if (isInline) shareUses.viewed(share.id, bytesSent(request.raw.res));
				}
			};
			return audit.sending({ action: 'followShare', viewer }, request.raw.res, (describe) =>
				looking(call, [path], (visit) => retryIfChanged(() => send(visit, describe))),
			);
		}),

		route(contract.makeShareTicket, (call) => {
			const { payload, request } = call;
			const paths = payload.files.map(({ path }) => path);
			return looking(call, paths, ({ share, guest }) => {
				const isWhole = paths.includes(rootPath);
				const items = isWhole ? wholeShare(guest) : paths.map((path) => ({ path }));
				const holder = { pass: guests.passOf(share), client: shareCookies.clientOf(request, share), isWhole };
				const viewer = isWhole ? sideBySide(guest) : guest;
				return makeTicket(services, call, viewer, { area: 'private', items }, { share: holder });
			});
		}),

		route(contract.shareThumbnail, (call) => {
			const path = pathIn(call, 'thumbnail');
			return looking(call, [path], (visit) => {
				const { share, guest } = visit;
				// A large one is as good as the picture itself, or a page of the document.
				if (share.maxDownloads !== null && call.query.size > Math.min(...contract.thumbnailSizes)) throw notViewed();
				const ref = { area: 'private' as const, path };
				return whileGood(call, visit, () => sendThumbnail(services, call, guest, ref, call.query.size));
			});
		}),
	];
}

const notViewed = () => new Failure('forbidden', 'This share can be downloaded, and not viewed.');

const firstName = (path: string) => path.split('/', 1)[0] ?? '';

const tokenOf = ({ params }: ShareCall) => params.token ?? '';

/** No names: for a call that is about none of the items, but needs to know that there is one, or the one folder. */
export const noNames: ReadonlySet<string> = new Set();

/** Finds the share that a call names, for its caller, or refuses it; with `names` of several items these. */
export function visitor(services: Pick<Services, 'guests' | 'guestMemory' | 'shareCookies' | 'listingQueue'>) {
	const { guests, shareCookies } = services;
	return (call: ShareCall, names?: ReadonlySet<string>): Promise<Visit> => {
		keepPrivate(call);
		const client: GuestClient = {
			inTurn: (work) => listed(services, call.viewer, call.request, work),
			keep: services.guestMemory(call.request),
			hasOpened: (share: ShareHead) => shareCookies.hasOpened(call.request, share),
			nameFor: (share: ShareHead) => shareCookies.clientOf(call.request, share),
		};
		return guests.visit(tokenOf(call), client, names);
	};
}

/** The address is a secret: no page that is reached from here learns it, and no search engine keeps it. */
function keepPrivate({ request }: { request: Request }): void {
	request.raw.res.setHeader('referrer-policy', 'no-referrer');
	request.raw.res.setHeader('x-robots-tag', 'noindex');
}

/** The rows of a share. Throws `notFound` where none of several items is there; a folder may be empty. */
async function* presentItems(items: AsyncIterable<Entry[]>, mayBeEmpty: boolean): AsyncGenerator<Entry[]> {
	let isAnyThere = mayBeEmpty;
	for await (const batch of items) {
		isAnyThere ||= batch.length > 0;
		yield batch;
	}
	if (!isAnyThere) throw new Failure('notFound', 'This share does not exist or no longer works.');
}
