import * as contract from '@stowage/contract';
import type { Request, ShareHead } from '@stowage/plugin-api';
import { compareNames, type Entry, type Failure, hasThumbnail, isFailure, plural, rootPath } from '@stowage/rules';
import { clientGone } from '../../http/connections/clientGone.js';
import { limitAddress } from '../../http/requests/proxy.js';
import type { Services } from '../../services.js';
import type { InTurn, Visit } from '../../shares/createGuests.js';
import { publicOrigin } from './publicOrigin.js';

/** What chat programs show of the address of a page, which fetch it as nobody in particular. */
export interface PagePreview {
	status: number;
	title: string;
	description: string;
	/** The address of a small picture. */
	picture?: string;
}

/** The most characters of a message that are shown. */
const maxDescription = 200;

/**
 * The preview of a share. It is no download, and opens nothing: of a share with a password, or of one that does not
 * answer, it says no more than that. It costs a look into the database, and for a folder the first rows of its
 * listing.
 */
export function createSharePreviews({ config, guests, guestMemory, files, listingQueue, shareCookies }: Services) {
	return async (request: Request): Promise<PagePreview> => {
		const token = String(request.params.token);
		try {
			// The cookie of who has opened it is for the calls, and not for the page.
			const nameFor = (share: ShareHead) => shareCookies.clientOf(request, share);
			const inTurn: InTurn = (work) =>
				listingQueue.run(limitAddress(request.client.address), work, clientGone(request));
			const visit = await guests.visit(token, { hasOpened: () => false, nameFor, inTurn, keep: guestMemory(request) });
			const { pictured, description } = await shownOf(visit);
			const isDrawn = request.server.providers.renderer.all().size > 0 && visit.share.maxDownloads === null;
			const picture = isDrawn && pictured !== undefined ? pictureOf(request, token, pictured) : undefined;
			return { status: 200, title: titleOf(visit), description, ...(picture === undefined ? {} : { picture }) };
		} catch (error) {
			if (!isFailure(error)) throw error;
			return unopened(error);
		}
	};

	async function shownOf({ share, guest }: Visit): Promise<{ pictured: string | undefined; description: string }> {
		const from = share.owner.username;
		const told = share.message.trim().replaceAll(/\s+/g, ' ').slice(0, maxDescription);
		if (share.mode === 'upload') return { pictured: undefined, description: told || `Files for ${from}` };
		const { root } = guest;
		if (root.kind === 'items') {
			const pictured = root.items.find(({ name, type }) => type === 'file' && hasThumbnail(name))?.name;
			return { pictured, description: told || `${plural(root.items.length, 'item')} from ${from}` };
		}
		// Of a large folder the first rows that come, whatever is behind them.
		let first: Entry[] = [];
		for await (const batch of files.list(guest, { area: 'private', path: rootPath })) {
			first = batch;
			break;
		}
		const pictures = first.filter(({ name, type }) => type === 'file' && hasThumbnail(name)).map(({ name }) => name);
		return { pictured: pictures.sort(compareNames)[0], description: told || `Files from ${from}` };
	}

	function pictureOf(request: Request, token: string, name: string): string {
		const path = contract.shareThumbnail.path
			.replace('{token}', token)
			.replace('{path*}', () => encodeURIComponent(name));
		return `${publicOrigin(config, request)}${config.basePath}${path}?size=256`;
	}
}

function titleOf({ share, guest: { root } }: Visit): string {
	const from = share.owner.username;
	const only = root.kind === 'items' && root.items.length === 1 ? root.items[0]?.name : undefined;
	return share.title.trim() || only || (share.mode === 'upload' ? `Send files to ${from}` : `Shared by ${from}`);
}

function unopened(failure: Failure): PagePreview {
	const title = 'Shared files';
	const { kind, status, message } = failure;
	if (kind === 'passwordRequired') return { status: 200, title, description: 'They have a password.' };
	if (kind === 'expired' || kind === 'notFound') return { status, title, description: message };
	// The page says why, and tries again.
	return { status: 200, title, description: '' };
}
