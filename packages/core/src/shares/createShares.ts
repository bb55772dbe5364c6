import { randomBytes } from 'node:crypto';
import type {
	BoundItem,
	SharedItemRecord,
	ShareHead,
	SharePosition,
	ShareRecord,
	ShareStore,
	Turn,
} from '@stowage/plugin-api';
import { Yielder } from '@stowage/plugin-api';
import {
	assertAllowed,
	baseName,
	Failure,
	homeRoot,
	joinChecked,
	maxSharedItems,
	PathSet,
	type ShareMode,
	type ShareState,
	type StoragePath,
	shareDenial,
	signedIn,
	type Viewer,
} from '@stowage/rules';
import type { Accounts, Caller } from '../accounts/accounts.js';
import type { Config } from '../config/schema.js';
import type { Encryption } from '../events/encryption.js';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import { locateLink } from '../links/locateLink.js';
import type { LinkTracker } from '../links/trackItems.js';
import { secretHash } from '../secretHash.js';
import { identityOf } from '../trees/identity.js';
import type { MountedStorage } from '../trees/storage/MountedStorage.js';
import { type ShareChoices, settingsOf } from './shareSettings.js';
import { isInTrash, type ShareStates } from './shareStates.js';

/** A share as its owner sees it. */
export interface ListedShare extends ShareRecord {
	/** Undefined if it was sealed with another key. */
	token: string | undefined;
	state: ShareState;
}

export interface ShareRequest extends Omit<ShareChoices, 'isPaused'> {
	paths: readonly StoragePath[];
	mode: ShareMode;
	asksName?: boolean;
}

export interface SharePageOptions {
	/** The most shares that are listed. @default Infinity */
	limit?: number | undefined;
	after?: SharePosition | undefined;
	signal?: AbortSignal | undefined;
	turn?: Turn;
}

export interface Shares {
	/**
	 * Shares items of the viewer's private area. Throws `invalid` for what can't be shared, `notFound` for a missing
	 * item, `rateLimited` where the viewer shares too much, and `forbidden` where the administrator allows no shares.
	 */
	make(viewer: Viewer, request: ShareRequest, client: Caller): Promise<ListedShare>;
	/** The shares of an owner or of all, the newest first, read by pages. Throws the signal's reason. */
	list(ownerId?: string, options?: SharePageOptions): AsyncGenerator<ListedShare>;
	/** Throws `notFound`, also for that of another owner if one is given. */
	get(id: string, ownerId?: string): Promise<ListedShare>;
	/** Throws as `get` and `make` do. A password counts as a change also if it is the same. */
	change(
		id: string,
		ownerId: string,
		choices: ShareChoices,
		client: Caller,
	): Promise<{ share: ListedShare; isChanged: boolean }>;
	/** Ends it at once, for good. Resolves to what it was. Throws `notFound`. */
	remove(id: string, ownerId?: string): Promise<ShareRecord>;
}

interface Dependencies {
	store: ShareStore;
	states: ShareStates;
	config: Pick<Config, 'shares'>;
	storage: Pick<MountedStorage, 'open' | 'stat' | 'changing'>;
	accounts: Pick<Accounts, 'hash'>;
	encryption: Encryption;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	links: Pick<LinkTracker, 'adding'>;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
}

/** More than anyone needs. Without limits one user could fill the database. */
const limits = { shares: 1_000, items: 10_000 };

/** The size of the row of an item with its indexes, besides its path: that is in one of them. */
const rowBytes = 1024;

/** Rows that are read at once. */
const pageSize = 100;

export function createShares(parts: Dependencies): Shares {
	const { store, states, config, storage, encryption, links, databaseReserve } = parts;

	const listed = async (share: ShareRecord): Promise<ListedShare> => {
		const state = await states.stateOf(share);
		return {
			...share,
			expiresAt: states.expiryOf(share),
			token: encryption.decrypt(share.sealedToken),
			items: share.items.filter((item) => !isInTrash(item)),
			state: state === 'active' && !(await hasAnyItem(share.items)) ? 'gone' : state,
		};
	};

	const hasAnyItem = async (items: readonly SharedItemRecord[]): Promise<boolean> => {
		const yielder = new Yielder();
		for (const item of items) {
			if (yielder.shouldYield) await yielder.yield();
			if ((await locateLink(storage, item)) !== undefined) return true;
		}
		return false;
	};

	/** A part of them after the other: those of one page may have ten thousand items. Without those that were removed meanwhile. */
	async function* withItems(heads: readonly ShareHead[]): AsyncGenerator<ShareRecord> {
		for (let rest = heads; rest.length > 0; ) {
			const some = await store.withItems(rest);
			rest = rest.slice(some.length);
			for (const share of some) if (share.items.length > 0 || (await store.get(share.id)) !== undefined) yield share;
		}
	}

	const get: Shares['get'] = async (id, ownerId) => {
		const share = isId(id) ? await store.get(id, ownerId) : undefined;
		if (share === undefined) throw noSuchShare();
		return listed(share);
	};

	return {
		async make(viewer, { paths, mode, asksName = false, ...choices }, client) {
			const { id: ownerId, username } = signedIn(viewer);
			if (!config.shares.enabled) throw new Failure('forbidden', 'Shares are turned off on this server.');
			const chosen = [...new PathSet(paths)];
			if (chosen.length === 0) throw new Failure('invalid', 'Please choose what to share.');
			if (chosen.length > maxSharedItems)
				throw new Failure('invalid', `A share can have ${maxSharedItems.toLocaleString('en')} items at most.`);
			const yielder = new Yielder();
			for (const path of chosen) {
				if (yielder.shouldYield) await yielder.yield();
				assertAllowed(shareDenial(viewer, { area: 'private', path }));
			}
			await databaseReserve.assertRoom(chosen.reduce((sum, path) => sum + rowBytes + 2 * Buffer.byteLength(path), 0));
			const settings = await settingsOf(parts, { ...choices, password: choices.password ?? null }, client);
			const home = homeRoot(username);
			// Items have other ids on another root.
			return storage.changing(username, async () => {
				const items: Parameters<ShareStore['add']>[0]['items'][number][] = [];
				for (const path of chosen) {
					if (yielder.shouldYield) await yielder.yield();
					const item = await storage.stat(joinChecked(home, path));
					items.push({ path, itemId: identityOf(item), type: item.type });
				}
				const [only] = items;
				if (mode !== 'view' && (items.length !== 1 || only?.type !== 'directory'))
					throw new Failure('invalid', 'Files can be received into one folder.');
				const token = randomBytes(32).toString('base64url');
				const made = {
					...{
						title: only !== undefined && items.length === 1 && mode !== 'upload' ? baseName(only.path) : '',
						message: '',
					},
					...{ expiresAt: null, passwordSecret: null, maxDownloads: null, maxUploadBytes: null },
					...settings,
					...{ tokenHash: secretHash(token), sealedToken: encryption.encrypt(token), ownerId, mode, asksName, items },
				};
				const share = await links.adding(ownerId, chosen, () => store.add(made, limits));
				await assertThere(share.items).catch(async (error: unknown) => {
					await store.remove(share.id);
					throw error;
				});
				return listed(share);
			});
		},

		async *list(ownerId, { limit = Number.POSITIVE_INFINITY, after, signal, turn } = {}) {
			const yielder = new Yielder(turn);
			let left = limit;
			for (let last = after; left > 0; ) {
				signal?.throwIfAborted();
				const page = await store.page({
					limit: Math.min(left, pageSize),
					...(ownerId === undefined ? {} : { ownerId }),
					...(last === undefined ? {} : { after: last }),
				});
				for await (const share of withItems(page)) {
					if (yielder.shouldYield) await yielder.yield(signal);
					yield await listed(share);
				}
				left -= page.length;
				last = page.at(-1);
				if (page.length < pageSize) return;
			}
		},

		get,

		async change(id, ownerId, choices, client) {
			if (!isId(id)) throw noSuchShare();
			const settings = await settingsOf(parts, choices, client);
			const change = await store.change(id, ownerId, settings);
			if (change === undefined) throw noSuchShare();
			return { share: await get(id, ownerId), isChanged: change === 'changed' };
		},

		async remove(id, ownerId) {
			const share = isId(id) ? await store.get(id, ownerId) : undefined;
			if (share === undefined || !(await store.remove(id, ownerId))) throw noSuchShare();
			return share;
		},
	};

	/** Throws `notFound` if one was moved while the share did not exist yet. */
	async function assertThere(items: readonly BoundItem[]): Promise<void> {
		const yielder = new Yielder();
		for (const item of items) {
			if (yielder.shouldYield) await yielder.yield();
			if ((await locateLink(storage, item)) === undefined)
				throw new Failure('notFound', 'There is no such file or folder.');
		}
	}
}

const isId = (id: string) => /^[0-9a-f-]{36}$/.test(id);

const noSuchShare = () => new Failure('notFound', 'There is no such share.');
