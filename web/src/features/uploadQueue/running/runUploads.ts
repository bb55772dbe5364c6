import { type Area, Failure, type FailureKind, isFailure, type StoragePath } from '@stowage/rules';
import type { EnsureFolder, FolderPlace } from '../../../api/uploads/ensureFolder.js';
import { isSmall, type Transport, type Upload } from '../../../api/uploads/upload.js';
import { messages } from '../../../messages.js';
import { choiceOf, type NameState } from '../conflicts/conflicts.js';
import { areaOf, baseOf, directoryOf, fullName, mayUploadAs, type QueueItem } from '../queueItem.js';
import type { QueueFolder } from '../uploadQueue.js';
import { PlacedNames, type Turn } from './PlacedNames.js';
import { type AttemptOptions, UploadAttempt } from './UploadAttempt.js';
import type { UploadAttempts } from './UploadAttempts.js';

export interface RunOptions extends AttemptOptions {
	/** An item as it is now; undefined once it was removed. */
	itemOf: (id: number) => QueueItem | undefined;
	/** Who is signed in now; undefined for a visitor. */
	username: () => string | undefined;
	/** Who sends the files to a share, where that asks for a name. */
	sender?: string | undefined;
	transport: Transport;
	ensureFolder: EnsureFolder;
	/** What has the name of an item now. Asked for items that would not just get another name. */
	nameStateOf: (item: QueueItem) => Promise<NameState>;
	/** Files of the queue that are uploaded already, by earlier runs. */
	uploaded: readonly QueueItem[];
	/** Empty ones, created before the first file. */
	folders: readonly QueueFolder[];
	/** Removes a cancelled upload from the server. */
	discard: (upload: Upload) => Promise<void>;
	/** The idempotency keys and uploads of the items, kept from one run to the next. */
	attempts: UploadAttempts;
	/** Aborted with `paused`, all files wait as they were; with any other reason they are discarded. */
	signal: AbortSignal;
	/** A folder has changed. Called for each folder at most every two seconds, and once more at the end. */
	onUploaded: (area: Area, directory: StoragePath) => void;
	/** The message for people, and if that is unspecific, the server's message. */
	describe: (error: unknown, area?: Area) => { error: string; detail?: string | undefined };
	/** Further failures that the next file would meet as well. */
	fatalKinds?: readonly FailureKind[];
	now?: () => number;
}

/** The reason to abort with when the files are to wait. */
export const paused = new DOMException('The upload is paused.', 'AbortError');

const notifyIntervalMs = 2000;
/**
 * Small files that are uploaded in parallel with the one that is shown: each waits for the server's disk more than for the
 * network. A browser has six connections to a server, and the page needs some for itself.
 */
const maxParallelSmallFiles = 3;

/** Failures that the next file would meet as well. */
const fatalKinds = ['unavailable', 'timeout', 'storageFull', 'rateLimited', 'notSignedIn'] as const;

/**
 * Uploads files in their order. One is shown as being uploaded; small ones after it may be uploaded at the same time and
 * are reported in that order. A failed file is marked; a failure that would affect all others ends the run.
 */
export async function runUploads(ids: readonly number[], options: RunOptions): Promise<void> {
	const { itemOf, signal, dispatch, now = Date.now } = options;
	const stop = new AbortController();
	signal.addEventListener('abort', () => stop.abort(signal.reason));
	const attempts = new Map<number, UploadAttempt>();
	const placed = new PlacedNames();
	for (const item of options.uploaded) {
		if (item.status !== 'completed') continue;
		const username = item.username ?? options.username();
		placed.add({ username, area: areaOf(item), directory: directoryOf(item) }, item.savedName, item.file);
	}
	const notifier = createFolderNotifier(options, now);
	const startAttempt = (id: number): UploadAttempt | undefined => {
		const item = itemOf(id);
		if (!item || attempts.has(id)) return attempts.get(id);
		const attempt = new UploadAttempt(id, uploadOf(item, options), options, now);
		attempts.set(id, attempt);
		options.attempts.begin(id, attempt.upload);
		const turn = placed.begin(attempt.upload);
		const transport = withFolders(item, id === ids[0] ? options.folders : [], options, turn);
		attempt.start(transport, stop.signal);
		return attempt;
	};
	const lacksAccount = (item: QueueItem) => !mayUploadAs(options.username(), item);
	const waitForAccount = async (id: number) => {
		const item = itemOf(id);
		if (!item || !lacksAccount(item)) return;
		dispatch({ type: 'itemStarted', id, at: now() });
		const onWait = () => dispatch({ type: 'itemWaits', id, reason: 'signIn' });
		await options.waitForSignIn({ username: item.username, maxAgeMs: 0, onWait, signal: stop.signal });
	};
	const startSmallFilesAfter = (index: number) => {
		for (const id of ids.slice(index + 1, index + 1 + maxParallelSmallFiles)) {
			const item = itemOf(id);
			if (!item || !isSmall(item.file) || lacksAccount(item)) return;
			startAttempt(id);
		}
	};
	const discard = (id: number, published?: Upload) => {
		// An attempt at the published one has left nothing else.
		const isOther = ({ key, onConflict }: Upload) => key !== published?.key || onConflict !== published.onConflict;
		const unwanted = options.attempts.takeBegun(id).filter(isOther);
		return Promise.all(unwanted.map((upload) => options.discard(upload)));
	};
	const complete = (id: number, { upload, result }: UploadAttempt) => {
		if (!result) return;
		attempts.delete(id);
		options.attempts.remove(id);
		// Such as one that was begun under another name.
		void discard(id, upload);
		dispatch({ type: 'itemCompleted', id, savedName: result.name, isVerified: result.isVerified });
		notifier.onUploaded(upload.area, upload.directory);
	};

	dispatch({ type: 'runStarted', ids });
	for (const [index, id] of ids.entries()) {
		try {
			await waitForAccount(id);
			const attempt = startAttempt(id);
			if (!attempt) continue;
			attempt.show();
			attempt.onSent(() => startSmallFilesAfter(index));
			if (isSmall(attempt.upload.file)) startSmallFilesAfter(index);
			await attempt.outcome;
			if (signal.aborted) break;
			complete(id, attempt);
		} catch (error) {
			if (signal.aborted) break;
			const item = itemOf(id);
			attempts.delete(id);
			if (item?.ifExists === 'skip' && isFailure(error, 'alreadyExists')) {
				options.attempts.remove(id);
				dispatch({ type: 'itemSkipped', id });
				// If the server has found it, it may have been sent.
				void discard(id);
				continue;
			}
			const area = item && areaOf(item);
			dispatch({ type: 'itemFailed', id, ...options.describe(error, area) });
			// The others of a folder that is gone wait, with what was chosen for them.
			if (isFatal(error, options) || (area === 'shared' && isFailure(error, 'notFound'))) break;
		}
	}
	stop.abort(paused);
	await Promise.allSettled([...attempts.values()].map(({ outcome }) => outcome));
	if (signal.aborted && signal.reason !== paused) {
		const unfinished = [...attempts.values()].filter(({ result }) => !result);
		await Promise.all(unfinished.map(({ id }) => discard(id)));
	} else {
		for (const [id, attempt] of attempts) complete(id, attempt);
		dispatch({ type: 'runEnded' });
	}
	notifier.flush();
}

/** The transport, preceded by a look at the item's name and the creation of these empty folders and of the item's own folder. */
function withFolders(
	item: QueueItem,
	emptyFolders: readonly QueueFolder[],
	options: RunOptions,
	turn: Turn,
): Transport {
	const { ensureFolder, transport, dispatch, describe } = options;
	const send: Transport = async (upload, listener, signal) => {
		for (const folder of emptyFolders) {
			try {
				await ensureFolder(placeOf(folder), listener, signal);
				dispatch({ type: 'folderMade', id: folder.id });
			} catch (error) {
				if (signal.aborted || isFatal(error, options)) throw error;
				dispatch({ type: 'folderFailed', error: describe(error).error });
			}
		}
		// By these it is found if it is resumed or discarded.
		upload.onConflict = (await turn.isTaken()) ? 'rename' : await onConflictOf(item, upload, options);
		upload.key = options.attempts.keyOf(item.id, upload);
		await ensureFolder(placeOf(item), listener, signal);
		return transport(upload, listener, signal);
	};
	return async (...args) => {
		let name: string | undefined;
		try {
			const uploaded = await send(...args);
			name = uploaded.name;
			return uploaded;
		} finally {
			turn.end(name);
		}
	};
}

/** Throws `alreadyExists` for an item to skip before any byte of it is sent. A name that is taken only later is found by the server. */
async function onConflictOf(item: QueueItem, { onConflict, username }: Upload, { nameStateOf }: RunOptions) {
	if (onConflict === 'rename') return onConflict;
	const state = await nameStateOf(item);
	const isTaken = state === 'file' || state === 'directory';
	if (onConflict === 'fail' && isTaken) throw new Failure('alreadyExists', messages.nameTaken);
	return choiceOf(item, state, username === undefined) === 'rename' ? 'rename' : onConflict;
}

/** The path of an item's folder. */
export function placeOf(item: Pick<QueueItem, 'target' | 'isPublic' | 'folder' | 'username'>): FolderPlace {
	const { username } = item;
	return { area: areaOf(item), base: baseOf(item), directory: directoryOf(item), username };
}

function isFatal(error: unknown, options: Pick<RunOptions, 'fatalKinds'>): boolean {
	return [...fatalKinds, ...(options.fatalKinds ?? [])].some((kind) => isFailure(error, kind));
}

/** The upload of an item, for who has added it; a visitor's is for who is signed in now. */
function uploadOf(item: QueueItem, options: Pick<RunOptions, 'username' | 'sender' | 'attempts'>): Upload {
	const username = item.username ?? options.username();
	const fileName = fullName(item);
	const directory = directoryOf(item);
	const { file, ifExists } = item;
	const area = areaOf(item);
	const onConflict = ifExists === 'skip' ? 'fail' : ifExists;
	const sender = options.sender === undefined ? {} : { sender: options.sender };
	const upload = { file, fileName, directory, area, username, onConflict, ...sender } as const;
	return { ...upload, key: options.attempts.keyOf(item.id, upload) };
}

/** Throttles `onUploaded` for each folder. */
function createFolderNotifier({ onUploaded }: RunOptions, now: () => number) {
	const folders = new Map<string, { area: Area; directory: StoragePath; notifiedAt: number; isPending: boolean }>();
	return {
		onUploaded(area: Area, directory: StoragePath): void {
			const key = `${area}/${directory}`;
			const folder = folders.get(key) ?? { area, directory, notifiedAt: Number.NEGATIVE_INFINITY, isPending: false };
			folders.set(key, folder);
			folder.isPending = now() - folder.notifiedAt < notifyIntervalMs;
			if (folder.isPending) return;
			folder.notifiedAt = now();
			onUploaded(area, directory);
		},
		flush(): void {
			for (const { area, directory, isPending } of folders.values()) if (isPending) onUploaded(area, directory);
		},
	};
}
