import { randomBytes } from 'node:crypto';
import type { LinkPosition, LinkRecord, LinkStore, OpenFile, Turn } from '@stowage/plugin-api';
import {
	assertAllowed,
	Failure,
	homeRoot,
	isFailure,
	joinChecked,
	type LinkExpiration,
	linkExpirationMilliseconds,
	type StoragePath,
	signedIn,
	temporaryLinkDenial,
	type User,
	type Viewer,
} from '@stowage/rules';
import type { Leases } from '../leases/createLeases.js';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import type { Log } from '../log.js';
import { secretHash } from '../secretHash.js';
import { identityOf } from '../trees/identity.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import { isTrashedLink } from '../trees/trash/trashPaths.js';
import { Lifetimes } from './Lifetimes.js';
import { linksOf } from './linksOf.js';
import { type LocatedLink, locateLink, openLink } from './locateLink.js';
import { recordIfPossible } from './recordIfPossible.js';
import { type LinkTracker, trackItems } from './trackItems.js';

export interface ResolvedLink extends LocatedLink {
	id: string;
	/** The user on whose behalf the link grants access. */
	owner: User;
	/** Open, unless the item is a folder; the caller closes it. */
	file: OpenFile | undefined;
}

export interface ListedLink extends LinkRecord {
	/** `unavailable`: its disk is away. */
	state: 'good' | 'expired' | 'trashed' | 'gone' | 'unavailable';
}

export interface Links {
	/**
	 * Creates a link to an item of the viewer's private area. Throws `notFound` for a missing one, and `rateLimited` if the viewer has too
	 * many links.
	 */
	make(
		viewer: Viewer,
		path: StoragePath,
		expiration: LinkExpiration,
	): Promise<{ id: string; token: string; expiresAt: number }>;
	/** The item of a token. Throws `expired`, and the same `notFound` for every other reason. */
	resolve(token: string): Promise<ResolvedLink>;
	/**
	 * Whether what is being sent by a token may be sent to its end: not once it is revoked, or its item in the trash,
	 * and also after it has expired.
	 */
	mayFinish(token: string): Promise<boolean>;
	/** Counts a download, if that can be written down. */
	countDownload(id: string): Promise<void>;
	/**
	 * Up to `limit` links of an owner that work, the newest first, from the one that follows `after`, with the current places of their
	 * items. Throws the signal's reason.
	 */
	page(ownerId: string, options?: PageOptions): Promise<ListedLink[]>;
	/**
	 * All stored links, of one owner or of all, the newest first, with the current places of their items; `withShares`
	 * also the items of shares.
	 */
	list(ownerId?: string, options?: { withShares?: boolean }): AsyncGenerator<ListedLink>;
	/** Revokes a link at once, only one owner's if an owner is given. Resolves to the link. Throws `notFound`. */
	revoke(id: string, ownerId?: string): Promise<LinkRecord>;
	/** Removes expired links and those whose item is gone; resolves to how many. */
	purge(): Promise<number>;
	/** Purges the links of one user while none of their items is moved; resolves to how many. Throws the signal's reason. */
	purgeOf(user: User, signal: AbortSignal): Promise<number>;
	/** Forgets those that expired long ago. */
	sweep(): Promise<void>;
	/** Of shared items, too. */
	tracker: LinkTracker;
}

export interface PageOptions {
	/** The most links of the page. @default the most that a user may have */
	limit?: number | undefined;
	after?: LinkPosition | undefined;
	signal?: AbortSignal | undefined;
	turn?: Turn;
}

interface Dependencies {
	links: LinkStore;
	/** Called at each use. */
	storage: () => Pick<MountedStorage, 'open' | 'stat' | 'changing'>;
	leases: Pick<Leases, 'acquire'>;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now?: () => number;
	/** Milliseconds of a monotonic clock. */
	monotonic?: () => number;
}

const minuteMs = 60_000;

/** How long an expired link is answered with `expired`. */
const rememberedMs = 7 * 24 * 60 * minuteMs;

/** Links that are looked up a second time, and removed, together. */
const purgedAtOnce = 100;

/** Attempts to read a link whose item is moved between any two of them. */
const maxReads = 10;

/** More than anyone needs. Without a limit one user could fill the database, and a list of links would take long. */
const maxLinks = 1_000;

export function createLinks({
	links,
	storage,
	leases,
	databaseReserve,
	log,
	now = Date.now,
	monotonic = () => performance.now(),
}: Dependencies): Links {
	const lifetimes = new Lifetimes(now, monotonic);

	const listed = async (link: LinkRecord): Promise<ListedLink> => {
		if (lifetimes.stateOf(link) !== 'good') return { ...link, state: 'expired' };
		const located = await locateLink(storage(), link);
		if (located !== undefined) return { ...link, path: located.path, state: 'good' };
		const isTrashed = isTrashedLink(link.path) || (link.nextPath !== undefined && isTrashedLink(link.nextPath));
		return { ...link, state: isTrashed ? 'trashed' : 'gone' };
	};
	/** A link with its state, also while its disk is away, which keeps nobody from a list of all links. */
	const listedOrUnavailable = async (link: LinkRecord): Promise<ListedLink> => {
		try {
			return await listed(link);
		} catch (error) {
			if (isFailure(error, 'unavailable')) return { ...link, state: 'unavailable' };
			throw error;
		}
	};
	const list = async function* (
		ownerId?: string,
		options: { withShares?: boolean; signal?: AbortSignal | undefined } = {},
	): AsyncGenerator<ListedLink> {
		for await (const link of linksOf(links, { ownerId, ...options })) yield listedOrUnavailable(link);
	};

	const purge = async (ownerId?: string, signal?: AbortSignal): Promise<number> => {
		let removed = 0;
		let bad: string[] = [];
		const removeBad = async () => {
			const ids: string[] = [];
			// An item that was moved during the search is found by the second one.
			for (const link of await links.get(bad)) {
				if (isEnded((await listedOrUnavailable(link)).state)) ids.push(link.id);
			}
			removed += await links.remove(ids);
			bad = [];
		};
		for await (const { id, state } of list(ownerId, { signal })) {
			if (isEnded(state) && bad.push(id) >= purgedAtOnce) await removeBad();
		}
		await removeBad();
		return removed;
	};

	const tracker = trackItems({ links, databaseReserve, storage, leases, log });
	/** The link as it is now, and its item if that is where the link says. Throws `expired`, and `notFound` for an unknown one. */
	const read = async (token: string) => {
		const link = await links.find(secretHash(token));
		if (link === undefined) throw noSuchLink();
		const state = lifetimes.stateOf(link);
		if (state !== 'good') {
			// Or a clock that is set back later would wake it.
			if (state === 'expired' && !link.isEnded) await recordIfPossible(log, links.end(link.id));
			throw new Failure('expired', 'This link has expired.');
		}
		const opened = await openLink(storage(), link);
		if (opened !== undefined && opened.path !== link.path)
			await recordIfPossible(log, links.completeMove(link.id, opened.path));
		return { link, opened };
	};

	return {
		async make(viewer, path, expiration) {
			assertAllowed(temporaryLinkDenial(viewer, { area: 'private', path }));
			const { id: ownerId, username } = signedIn(viewer);
			const home = homeRoot(username);
			// The item has another id on another root.
			return storage().changing(username, async () => {
				const itemId = identityOf(await storage().stat(joinChecked(home, path)));
				const token = randomBytes(32).toString('base64url');
				const expiresAt = now() + linkExpirationMilliseconds[expiration];
				const row = { tokenHash: secretHash(token), ownerId, path, itemId, expiresAt };
				const link = await tracker.adding(ownerId, [path], () => links.add(row, maxLinks));
				lifetimes.stateOf(link);
				if ((await locateLink(storage(), link)) === undefined) {
					// It was moved while the link did not exist yet.
					await links.remove([link.id]);
					throw new Failure('notFound', 'There is no such file or folder.');
				}
				return { id: link.id, token, expiresAt };
			});
		},

		async resolve(token) {
			if (!/^[\w-]{43}$/.test(token)) throw noSuchLink();
			const first = await read(token);
			// An item that was moved after its link was read is found once no move is under way here, and one moved by another process once
			// that move has ended.
			const again = () => readWhileMoving(first, () => read(token));
			const { link, opened } = first.opened ? first : await tracker.withoutMoves(first.link.owner.id, again);
			if (opened === undefined) throw noSuchLink();
			return { ...opened, id: link.id, owner: { kind: 'user', ...link.owner } };
		},

		async mayFinish(token) {
			const link = await links.find(secretHash(token));
			return link !== undefined && ![link.path, link.nextPath ?? link.path].some(isTrashedLink);
		},

		countDownload: (id) => recordIfPossible(log, links.countDownload(id)),

		async page(ownerId, { limit = maxLinks, ...options } = {}) {
			const found: ListedLink[] = [];
			for await (const link of linksOf(links, { ownerId, ...options })) {
				const one = await listed(link);
				if (one.state === 'good' && found.push(one) >= limit) break;
			}
			return found;
		},

		list,

		async revoke(id, ownerId) {
			const isId = /^[0-9a-f-]{36}$/.test(id);
			const [link] = isId ? await links.get([id]) : [];
			if (link === undefined || (await links.remove([id], ownerId)) === 0)
				throw new Failure('notFound', 'There is no such temporary link.');
			return link;
		},

		purge: () => purge(),

		purgeOf: ({ id, username }, signal) =>
			storage().changing(username, () => tracker.alone(id, () => purge(id, signal))),

		async sweep() {
			await links.sweep(now() - rememberedMs);
		},

		tracker,
	};
}

/** Whether a link will never work again. */
const isEnded = (state: ListedLink['state']) => state === 'expired' || state === 'gone';

interface Reading {
	link: LinkRecord;
	opened: Awaited<ReturnType<typeof openLink>>;
}

/** Reads again for as long as the link was changed since the last read. */
async function readWhileMoving(first: Reading, read: () => Promise<Reading>): Promise<Reading> {
	let seen = first;
	for (let reads = 0; reads < maxReads; reads++) {
		const { path, nextPath } = seen.link;
		seen = await read();
		if (seen.opened !== undefined || (seen.link.path === path && seen.link.nextPath === nextPath)) break;
	}
	return seen;
}

/** Every reason has this one message, so that a guess or an old link reveals nothing. */
function noSuchLink(): Failure {
	return new Failure('notFound', 'This link does not exist or no longer works.');
}
