import { isDeepStrictEqual } from 'node:util';
import { type BoundItem, type SharedItemRecord, type ShareHead, type ShareStore, Yielder } from '@stowage/plugin-api';
import { Failure, type Guest, isFailure } from '@stowage/rules';
import type { Accounts, Caller } from '../accounts/accounts.js';
import type { Config } from '../config/schema.js';
import { locateLink } from '../links/locateLink.js';
import type { LinkTracker } from '../links/trackItems.js';
import { secretHash } from '../secretHash.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import type { Receiver } from '../uploads/resumable/UploadParts.js';
import { GuestItems } from './GuestItems.js';
import type { ShareUses } from './ShareUses.js';
import { isInTrash, type ShareStates } from './shareStates.js';

/** A share that answers, and the viewer that its guests are. */
export interface Visit {
	share: ShareHead;
	guest: Guest;
}

/** Identifies a share that a client has opened, to find it again. */
export interface Pass {
	share: string;
	/** The password that it was opened with, of which nothing can be learned. */
	password: string;
}

/** Runs work once it is the client's turn among all who read many items. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Whoever the items of a share are read for. */
export interface GuestReader {
	inTurn: InTurn;
	/** Reserves bytes of memory for items, which are kept until it is answered. Throws to refuse them. */
	keep(bytes: number): void;
}

/** What a client of a share shows. */
export interface GuestClient extends GuestReader {
	hasOpened(share: ShareHead): boolean;
	/** The name by which its downloads are counted. */
	nameFor(share: ShareHead): string;
}

/** Whoever has the address of a share. */
export interface Guests {
	/**
	 * The share of a token, for a client that has opened it or needs not. Throws `notFound` for one that is unknown,
	 * paused or without any of its items, or whose owner is disabled, `expired` for one that has ended, and
	 * `passwordRequired`. With `names`, the guest has of several items those with these names alone, and no more are read
	 * than it takes to find them.
	 */
	visit(token: string, client: GuestClient, names?: ReadonlySet<string>): Promise<Visit>;
	/**
	 * Visits the share again by a pass, for a client by the name of its downloads. Throws as `visit` does, and
	 * `expired` once the pass has ended, also by a new password.
	 */
	visitAgain(pass: Pass, client: string, reader: GuestReader): Promise<Visit>;
	passOf(share: ShareHead): Pass;
	/** Whether the share still answers who has that pass. An outage of the database throws. */
	isGood(pass: Pass): Promise<boolean>;
	/**
	 * The share, if that is its password; `onFound` gets it before. Throws as `visit` does, `badCredentials` for a wrong
	 * one, and `rateLimited`.
	 */
	open(token: string, password: string, client: Caller, onFound: (share: ShareHead) => void): Promise<ShareHead>;
	/** Where a share receives files now. Throws as `visit` does, and `forbidden` for one that receives none. */
	receiver(share: string): Promise<Receiver>;
	/**
	 * Runs `work` with a visit, and once more with another one where an item was missing that was being moved meanwhile.
	 */
	visiting<T>(visit: () => Promise<Visit>, work: (visit: Visit) => Promise<T>): Promise<T>;
}

interface Dependencies {
	store: ShareStore;
	states: ShareStates;
	config: Pick<Config, 'shares'>;
	storage: Pick<MountedStorage, 'open' | 'stat'>;
	links: Pick<LinkTracker, 'withoutMoves'>;
	accounts: Pick<Accounts, 'verify'>;
	uses: Pick<ShareUses, 'mayDownload'>;
}

export function createGuests({ store, states, config, storage, links, accounts, uses }: Dependencies): Guests {
	/** Throws unless the share answers at all. */
	const active = async (share: ShareHead | undefined): Promise<ShareHead> => {
		if (share === undefined || !config.shares.enabled) throw noSuchShare();
		const state = await states.stateOf(share);
		if (state === 'paused') throw noSuchShare();
		if (state !== 'active') throw shareEnded();
		return share;
	};
	const find = async (token: string) =>
		active(/^[\w-]{43}$/.test(token) ? await store.find(secretHash(token)) : undefined);

	/** The items of a share in parts, of which the first is read at once, and each other one when it is the client's turn. */
	async function* partsOf(share: ShareHead, inTurn: InTurn): AsyncGenerator<SharedItemRecord[]> {
		let part = await store.itemsOf(share);
		yield part.items;
		while (part.last !== undefined) {
			const { last } = part;
			part = await inTurn(() => store.itemsOf(share, last));
			yield part.items;
		}
	}

	/** A moved item is where it was moved to, also if the end of the move was not recorded. */
	const locate = async (record: BoundItem) => (await locateLink(storage, record))?.path;

	const visitOf = async (
		share: ShareHead,
		client: string,
		{ inTurn, keep }: GuestReader,
		names?: ReadonlySet<string>,
	): Promise<Visit> => {
		if (!(await uses.mayDownload(share, client))) throw shareEnded();
		const items = new GuestItems({ locate, keep, names });
		for await (const part of partsOf(share, inTurn)) {
			await items.add(part);
			if (items.isComplete) break;
		}
		const { root } = items;
		if (root === undefined) throw noSuchShare();
		const owner = { kind: 'user', ...share.owner } as const;
		return {
			share: { ...share, expiresAt: states.expiryOf(share) },
			guest: { kind: 'guest', share: share.id, owner, root },
		};
	};

	const passOf: Guests['passOf'] = ({ id, passwordSecret }) => ({
		share: id,
		password: secretHash(`password ${passwordSecret}`),
	});

	const guests: Guests = {
		async visit(token, client, names) {
			const share = await find(token);
			if (share.passwordSecret !== null && !client.hasOpened(share))
				throw new Failure('passwordRequired', 'This share has a password.');
			return visitOf(share, client.nameFor(share), client, names);
		},

		async visitAgain(pass, client, reader) {
			const share = await active(await store.findById(pass.share));
			if (passOf(share).password !== pass.password) throw shareEnded();
			return visitOf(share, client, reader);
		},

		passOf,

		async isGood(pass) {
			const share = await store.findById(pass.share);
			if (share === undefined || !config.shares.enabled || passOf(share).password !== pass.password) return false;
			// What is being sent may be sent to its end when all downloads have begun.
			if (!['active', 'used'].includes(await states.stateOf(share))) return false;
			for await (const items of partsOf(share, (read) => read())) if (!items.every(isInTrash)) return true;
			return false;
		},

		async open(token, password, client, onFound) {
			const share = await find(token);
			onFound(share);
			const secret = share.passwordSecret;
			if (secret !== null && !(await accounts.verify(`share ${share.id}`, secret, password, client)))
				throw new Failure('badCredentials', 'That is not the password of this share.');
			return share;
		},

		async receiver(id) {
			for (let before: SharedItemRecord | undefined; ; ) {
				const share = await active(await store.findById(id));
				if (share.mode === 'view') throw new Failure('forbidden', 'This share receives no files.');
				const [record] = (await store.itemsOf(share)).items;
				const located = record && !isInTrash(record) ? await locateLink(storage, record) : undefined;
				if (located !== undefined) return { folder: located.path, asksName: share.asksName };
				// One that was moved after its row was read is where that says now.
				if (record === undefined || isDeepStrictEqual(record, before)) throw noSuchShare();
				before = record;
			}
		},

		async visiting(visit, work) {
			for (let seen = await visit(), left = 3; ; left--) {
				try {
					return await work(seen);
				} catch (error) {
					if (!isFailure(error, 'notFound') || left === 0) throw error;
					const { id } = seen.share.owner;
					await links.withoutMoves(id, async () => {});
					// Visited after that and not within it, or the owner's moves would wait for the turns of this client.
					const next = await visit();
					if (await isSame(next.guest, seen.guest)) throw error;
					seen = next;
				}
			}
		},
	};
	return guests;
}

/** Whether two guests of a share have the same items at the same places. */
async function isSame({ root: one }: Guest, { root: other }: Guest): Promise<boolean> {
	const [items, others] = [one, other].map((root) => (root.kind === 'folder' ? [root.folder] : root.items));
	if (one.kind !== other.kind || items?.length !== others?.length) return false;
	const yielder = new Yielder();
	for (const [at, item] of items?.entries() ?? []) {
		if (yielder.shouldYield) await yielder.yield();
		if (!isDeepStrictEqual({ ...item }, { ...others?.[at] })) return false;
	}
	return true;
}

/** Every reason has this one message, so that a guess or an old address reveals nothing. */
const noSuchShare = () => new Failure('notFound', 'This share does not exist or no longer works.');

const shareEnded = () => new Failure('expired', 'This share has ended.');
