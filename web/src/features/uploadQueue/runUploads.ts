import { type Area, isFailure, type StoragePath } from '@stowage/rules';
import type { Transport } from '../../api/uploads.js';
import { directoryOf, fullName, type QueueItem, type UploadQueueAction } from './uploadQueue.js';

export interface RunOptions {
	isVisitor: boolean;
	transport: Transport;
	signal: AbortSignal;
	dispatch: (action: UploadQueueAction) => void;
	/** A folder has changed; told at most every other second, and once more at the end. */
	onUploaded: (area: Area, directory: StoragePath) => void;
	onSessionEnded: () => void;
	/** The sentence for people. */
	describe: (error: unknown) => string;
	now?: () => number;
}

const progressMilliseconds = 100;
const tellMilliseconds = 2000;

/** Refusals that would meet the next file as well. */
const stopsTheRun = ['unavailable', 'timeout', 'storageFull', 'rateLimited', 'notSignedIn'] as const;

/** Uploads one file after another. What fails by itself is marked; what would fail for all ends the run. */
export async function runUploads(items: readonly QueueItem[], options: RunOptions): Promise<void> {
	const { isVisitor, transport, signal, dispatch, now = Date.now } = options;
	const told = new Map<string, { area: Area; directory: StoragePath; at: number; isDue: boolean }>();
	dispatch({ type: 'runStarted', ids: items.map(({ id }) => id) });
	for (const item of items) {
		const { id, file, size } = item;
		const directory = directoryOf(item);
		dispatch({ type: 'itemStarted', id, at: now() });
		let shownAt = 0;
		const onProgress = (uploadedSize: number) => {
			if (signal.aborted || (now() - shownAt < progressMilliseconds && uploadedSize < size)) return;
			shownAt = now();
			dispatch({ type: 'progressed', id, uploadedSize, at: shownAt });
		};
		try {
			const upload = { file, fileName: fullName(item), directory, isPublic: item.isPublic, isVisitor };
			const { name } = await transport(upload, onProgress, signal);
			if (signal.aborted) return;
			dispatch({ type: 'itemCompleted', id, savedName: name });
			tell(item.isPublic || isVisitor ? 'public' : 'private', directory);
		} catch (error) {
			if (signal.aborted) return;
			if (isFailure(error, 'notSignedIn')) {
				// Nothing is wrong with the file: it waits for the session to come back.
				options.onSessionEnded();
				break;
			}
			dispatch({ type: 'itemFailed', id, error: options.describe(error) });
			if (stopsTheRun.some((kind) => isFailure(error, kind))) break;
		}
	}
	dispatch({ type: 'runEnded' });
	for (const { area, directory, isDue } of told.values()) if (isDue) options.onUploaded(area, directory);

	function tell(area: Area, directory: StoragePath): void {
		const key = `${area}/${directory}`;
		const folder = told.get(key) ?? { area, directory, at: Number.NEGATIVE_INFINITY, isDue: false };
		told.set(key, folder);
		folder.isDue = now() - folder.at < tellMilliseconds;
		if (folder.isDue) return;
		folder.at = now();
		options.onUploaded(area, directory);
	}
}
