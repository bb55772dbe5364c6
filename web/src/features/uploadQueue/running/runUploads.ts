import { type Area, isFailure, type StoragePath } from '@stowage/rules';
import type { FolderPlace, MakeFolder } from '../../../api/uploads/uploadFolders.js';
import { isSmall, type Transport, type Upload } from '../../../api/uploads/uploads.js';
import { baseOf, directoryOf, fullName, type QueueFolder, type QueueItem } from '../uploadQueue.js';
import { type AttemptOptions, UploadAttempt } from './uploadAttempt.js';
import type { UploadKeys } from './uploadKeys.js';

export interface RunOptions extends AttemptOptions {
	/** An item as it is now; undefined once it is gone. */
	itemOf: (id: number) => QueueItem | undefined;
	/** Who is signed in now; undefined for a visitor. */
	username: () => string | undefined;
	transport: Transport;
	makeFolder: MakeFolder;
	/** Empty ones, made before the first file. */
	folders: readonly QueueFolder[];
	/** Frees on the server what was begun of a cancelled upload. */
	discard: (upload: Upload) => Promise<void>;
	/** The key of an item's upload, kept from one run to the next. */
	keys: UploadKeys;
	/** Fired with `paused` everything waits as it was; with anything else it is given up. */
	signal: AbortSignal;
	/** A folder has changed; told at most every other second, and once more at the end. */
	onUploaded: (area: Area, directory: StoragePath) => void;
	/** The sentence for people, and where it says little what the server said. */
	describe: (error: unknown) => { error: string; detail?: string | undefined };
	now?: () => number;
}

/** The reason to fire the signal with when the files are to wait. */
export const paused = new DOMException('The upload is paused.', 'AbortError');

const tellMilliseconds = 2000;
/**
 * Small files that may be on their way behind the one that is shown: each waits for the disk more than for the line. A
 * browser has six connections to a server, and the page needs some for itself.
 */
const smallFilesBehind = 3;

/** Refusals that would meet the next file as well. */
const stopsTheRun = ['unavailable', 'timeout', 'storageFull', 'rateLimited', 'notSignedIn'] as const;

/**
 * Uploads files in their order. One is shown as on its way; small ones behind it may be on theirs already, and are told
 * of when their turn comes. What fails by itself is marked; what would fail for all ends the run.
 */
export async function runUploads(ids: readonly number[], options: RunOptions): Promise<void> {
	const { itemOf, signal, dispatch, now = Date.now } = options;
	const stop = new AbortController();
	signal.addEventListener('abort', () => stop.abort(signal.reason));
	const begun = new Map<number, UploadAttempt>();
	const tellFolder = folderTeller(options, now);
	const attempt = (id: number): UploadAttempt | undefined => {
		const item = itemOf(id);
		if (!item || begun.has(id)) return begun.get(id);
		const made = new UploadAttempt(id, uploadOf(item, options.username(), options.keys), options, now);
		begun.set(id, made);
		made.begin(transportInto(item, id === ids[0] ? options.folders : [], options), stop.signal);
		return made;
	};
	const lacksAccount = (item: QueueItem) => item.needsAccount && options.username() === undefined;
	const account = async (id: number) => {
		const item = itemOf(id);
		if (!item || !lacksAccount(item)) return;
		dispatch({ type: 'itemStarted', id, at: now() });
		await options.signedIn(() => dispatch({ type: 'itemWaits', id, reason: 'signIn' }), stop.signal);
	};
	const beginBehind = (index: number) => {
		for (const id of ids.slice(index + 1, index + 1 + smallFilesBehind)) {
			const item = itemOf(id);
			if (!item || !isSmall(item.file) || lacksAccount(item)) return;
			attempt(id);
		}
	};
	const complete = (id: number, { upload, result }: UploadAttempt) => {
		if (!result) return;
		begun.delete(id);
		options.keys.forget(id);
		dispatch({ type: 'itemCompleted', id, savedName: result.name, isVerified: result.isVerified });
		tellFolder.uploaded(upload.isPublic ? 'public' : 'private', upload.directory);
	};

	dispatch({ type: 'runStarted', ids });
	for (const [index, id] of ids.entries()) {
		try {
			await account(id);
			const current = attempt(id);
			if (!current) continue;
			current.show();
			current.whenSent(() => beginBehind(index));
			if (isSmall(current.upload.file)) beginBehind(index);
			await current.outcome;
			if (signal.aborted) break;
			complete(id, current);
		} catch (error) {
			if (signal.aborted) break;
			begun.delete(id);
			dispatch({ type: 'itemFailed', id, ...options.describe(error) });
			if (wouldStop(error)) break;
		}
	}
	stop.abort(paused);
	await Promise.allSettled([...begun.values()].map(({ outcome }) => outcome));
	if (signal.aborted && signal.reason !== paused) {
		await Promise.all([...begun.values()].filter(({ result }) => !result).map(({ upload }) => options.discard(upload)));
	} else {
		for (const [id, made] of begun) complete(id, made);
		dispatch({ type: 'runEnded' });
	}
	tellFolder.end();
}

/** The transport that makes the folders first into which the file goes, and those that go with it. */
function transportInto(item: QueueItem, folders: readonly QueueFolder[], options: RunOptions): Transport {
	const { makeFolder, transport, dispatch, describe } = options;
	return async (upload, listener, signal) => {
		for (const folder of folders) {
			try {
				await makeFolder(placeOf(folder), listener, signal);
				dispatch({ type: 'folderMade', id: folder.id });
			} catch (error) {
				if (signal.aborted || wouldStop(error)) throw error;
				dispatch({ type: 'folderFailed', error: describe(error).error });
			}
		}
		await makeFolder(placeOf(item), listener, signal);
		return transport(upload, listener, signal);
	};
}

/** Where the folder of an item lies. */
export function placeOf(item: Pick<QueueItem, 'target' | 'isPublic' | 'folder'>): FolderPlace {
	return { area: item.isPublic ? 'public' : 'private', within: baseOf(item), directory: directoryOf(item) };
}

function wouldStop(error: unknown): boolean {
	return stopsTheRun.some((kind) => isFailure(error, kind));
}

/** What an item is to the server. */
export function uploadOf(item: QueueItem, username: string | undefined, keys: UploadKeys): Upload {
	const fileName = fullName(item);
	const directory = directoryOf(item);
	const { file, isPublic } = item;
	const key = keys.keyOf(item.id, JSON.stringify([username, isPublic, directory, fileName]));
	return { file, fileName, directory, isPublic, username, key };
}

function folderTeller({ onUploaded }: RunOptions, now: () => number) {
	const folders = new Map<string, { area: Area; directory: StoragePath; at: number; isDue: boolean }>();
	return {
		uploaded(area: Area, directory: StoragePath): void {
			const key = `${area}/${directory}`;
			const folder = folders.get(key) ?? { area, directory, at: Number.NEGATIVE_INFINITY, isDue: false };
			folders.set(key, folder);
			folder.isDue = now() - folder.at < tellMilliseconds;
			if (folder.isDue) return;
			folder.at = now();
			onUploaded(area, directory);
		},
		end(): void {
			for (const { area, directory, isDue } of folders.values()) if (isDue) onUploaded(area, directory);
		},
	};
}
