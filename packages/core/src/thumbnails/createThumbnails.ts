import { createHash } from 'node:crypto';
import os from 'node:os';
import { setTimeout } from 'node:timers/promises';
import type {
	Files,
	ItemRef,
	PictureSize,
	Registry,
	Renderer,
	StorageItem,
	StorageProvider,
	WalkedItem,
} from '@stowage/plugin-api';
import { Failure, isFailure, parentPath, type Viewer } from '@stowage/rules';
import type { Requester } from '../archives/createArchives.js';
import { isVisitorKey } from '../http/requests/proxy.js';
import { FairQueue } from '../limits/FairQueue.js';
import { SharedWork } from '../limits/SharedWork.js';
import type { Log } from '../log.js';
import { placeIn } from '../trees/Tree.js';
import type { Trees } from '../trees/Trees.js';
import { createFileRenderer, noThumbnail } from './createFileRenderer.js';
import { DecoderTime } from './DecoderTime.js';
import { KindProcess } from './kinds/KindProcess.js';
import type { CachedThumbnail, ThumbnailCache } from './ThumbnailCache.js';
import { FileChanged } from './WatchedSource.js';

/** A picture of a content. */
export interface Thumbnail {
	/** A strong ETag, with its quotes. */
	etag: string;
	/** Undefined if the client has it already. */
	bytes: Uint8Array | undefined;
}

/** Who asks for a picture. */
type PictureRequester = Requester & { signal: AbortSignal };

export interface Thumbnails {
	/**
	 * The thumbnail of the file of `ref`, if the viewer may read that. `isKnown` is called with its ETag before anything is rendered.
	 * Throws `notFound` as a download does, `unsupportedMediaType` for a file without one, and `unavailable` while too many are being
	 * rendered, the client has had its time of the decoders, or they can't be started.
	 */
	get(
		viewer: Viewer,
		ref: ItemRef,
		size: PictureSize,
		requester: PictureRequester,
		isKnown?: (etag: string) => boolean,
	): Promise<Thumbnail>;
	/** The queue of renderings. */
	queue: FairQueue;
	/** How many were made, and were there already, since the start. */
	counts: Readonly<Record<'rendered' | 'cached', number>>;
}

interface Dependencies {
	files: Pick<Files, 'stat' | 'open'>;
	trees: Pick<Trees, 'of'>;
	storage: () => Pick<StorageProvider, 'rootId'>;
	renderers: Pick<Registry<Renderer>, 'all'>;
	cache: ThumbnailCache;
	/** The folder for temporary copies. */
	folder: string;
	concurrency: number | 'auto';
	/** What this process has of a limit of the whole server. */
	share?: (limit: number) => number;
	log: Log;
	/** The time limit of one picture, for all renderers and their tries together. */
	timeLimitMs?: number;
	/** How long a client may have decoders at work in an hour. */
	hourlyMs?: { account: number; address: number };
	/** A picture that takes this long is slow. */
	slowMs?: number;
	/** What the start of a decoder counts for: a picture that is given up meanwhile has its place, and is charged, for as long. */
	startMs?: number;
	/** Reads the first bytes of files. */
	kinds?: Pick<KindProcess, 'find'>;
	/** The most waiting requests, of one client and of all. */
	waiting?: { perClient: number; total: number };
}

/** Attempts for a file that changes while it is read. */
const attempts = 3;

export function createThumbnails({
	files,
	trees,
	storage,
	renderers,
	cache,
	folder,
	concurrency,
	share = (limit) => limit,
	log,
	timeLimitMs = 15_000,
	hourlyMs = { account: 3_600_000, address: 900_000 },
	slowMs = 3000,
	startMs = 300,
	kinds = new KindProcess(),
	waiting = { perClient: 256, total: 512 },
}: Dependencies): Thumbnails {
	const ofServer = concurrency === 'auto' ? Math.max(2, Math.min(4, os.availableParallelism())) : concurrency;
	// Of several two at least: one client does not get all of them.
	const running = Math.max(Math.min(2, ofServer), share(ofServer));
	const time = new DecoderTime({ hourlyMs, slowMs, timeLimitMs, running, busy });
	const queue = new FairQueue(
		{
			running,
			runningPerClient: Math.max(1, running - 1),
			waiting: waiting.total,
			waitingPerClient: waiting.perClient,
			// Addresses cost nothing. Nor do accounts where anybody may register: those of one network are served after other networks.
			group: {
				running: Math.max(1, Math.floor(running / 2)),
				waiting: Math.floor(waiting.total / 2),
				includes: isVisitorKey,
			},
			// Else visitors would wait for a picture of each address that somebody has.
			spent: (client) => time.spent(client),
			spentOfNetwork: (network) => time.spentOfNetwork(network),
			isSlow: (client, network) => time.isSlow(client, network),
			groupLead: () => time.visitorsLead(),
		},
		busy,
	);
	const shared = new SharedWork<CachedThumbnail>(queue);
	const render = createFileRenderer({ renderers, kinds, folder, timeLimitMs, log });
	const counts = { rendered: 0, cached: 0 };

	/** Where an item lies, also one that a member or a guest sees below another path. */
	const placeOf = (viewer: Viewer, { area, path, owner }: ItemRef): string | string[] =>
		area === 'shared' ? [sharedWith(viewer), path] : placeIn(trees.of(viewer, area, owner), path).storagePath;

	/**
	 * Others may put a file into a folder that takes over the process by which it is rendered, and see the pictures of their own files that
	 * it gives: so it gets nothing of another folder, also of the same owner.
	 */
	const folderOf = (viewer: Viewer, ref: ItemRef): string =>
		JSON.stringify(placeOf(viewer, { ...ref, path: parentPath(ref.path) }));

	/** A digest of the content and of the renderers' versions. */
	const keyOf = (viewer: Viewer, ref: ItemRef, item: StorageItem, size: PictureSize): string => {
		const versions = [...renderers.all()].map(([name, { version }]) => [name, version]);
		// If an id may be given to another file later, a thumbnail also depends on the path: else the one of a removed file could be shown
		// for a new file.
		const identity = [storage().rootId, item.id, item.version, ...(item.mayReuseId ? [placeOf(viewer, ref)] : [])];
		return createHash('sha256')
			.update(JSON.stringify([identity, size, versions]))
			.digest('hex');
	};

	async function statFile(viewer: Viewer, ref: ItemRef): Promise<WalkedItem> {
		for await (const item of files.stat(viewer, ref.area, [ref])) return item;
		throw new Failure('notFound', 'There is no such file or folder.');
	}

	async function make(viewer: Viewer, ref: ItemRef, size: PictureSize, key: string, signal: AbortSignal) {
		const { entry, file } = await files.open(viewer, ref);
		try {
			if (keyOf(viewer, ref, file.item, size) !== key) throw new FileChanged();
			const owner = folderOf(viewer, ref);
			const known = await render({ name: entry.name, owner, file }, size, signal);
			if (await file.isChanged()) throw new FileChanged();
			await cache.put(key, known);
			if (typeof known !== 'string') counts.rendered++;
			return known;
		} finally {
			// A renderer that does not end although it was aborted must not hold up the next one.
			file.close().catch((error) => log.warn({ err: error }, 'a file could not be closed'));
		}
	}

	async function attempt(
		viewer: Viewer,
		ref: ItemRef,
		size: PictureSize,
		requester: PictureRequester,
		isKnown: (etag: string) => boolean,
	): Promise<Thumbnail> {
		const item = await statFile(viewer, ref);
		if (item.type !== 'file' || renderers.all().size === 0) throw noThumbnail();
		// An item that was named without an owner was found in one tree, whose owner is used from here on.
		const found: ItemRef = item.owner === undefined ? ref : { ...ref, owner: item.owner };
		const key = keyOf(viewer, found, item, size);
		const etag = `"${key}"`;
		if (isKnown(etag)) return { etag, bytes: undefined };
		const cached = await cache.get(key);
		if (cached !== undefined) counts.cached++;
		else {
			time.assertLeft(requester.client);
			time.see(requester);
		}
		const known =
			cached ??
			(await shared.join(
				key,
				requester,
				async (signal, client) => {
					const startedAt = performance.now();
					const end = time.begin(client);
					try {
						return await make(viewer, found, size, key, signal);
					} finally {
						// Else one small file, asked for and given up without an end, would have this process start decoders all the time.
						if (signal.aborted) await setTimeout(Math.max(0, startMs - (performance.now() - startedAt)));
						end();
					}
				},
				// Once more: any number may have been admitted together.
				(client) => time.assertLeft(client),
			));
		if (typeof known === 'string') throw noThumbnail();
		return { etag, bytes: known };
	}

	return {
		queue,
		counts,

		async get(viewer, ref, size, requester, isKnown = () => false) {
			for (let left = attempts; left > 0; left--) {
				try {
					return await attempt(viewer, ref, size, requester, isKnown);
				} catch (error) {
					// Shared with another viewer, who may have lost access meanwhile: this viewer's access is checked again.
					const isOvertaken =
						error instanceof FileChanged || isFailure(error, 'notFound') || isFailure(error, 'forbidden');
					if (isFailure(error, 'rateLimited')) throw new Failure('unavailable', busy, { retryAfter: 2 });
					if (!isOvertaken || (left === 1 && !(error instanceof FileChanged))) throw error;
				}
			}
			throw new Failure('unavailable', 'The file is being changed.', { retryAfter: 2 });
		},
	};
}

const busy = 'Too many previews are being made. Please try again in a moment.';

/** Whoever a shared folder belongs to: it is none of the viewer's own. */
const sharedWith = (viewer: Viewer) => `shared with ${viewer.kind === 'user' ? viewer.username : ''}`;
