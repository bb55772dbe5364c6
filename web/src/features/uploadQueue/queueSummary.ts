import { bytesPerSecond, remainingSeconds } from '@stowage/rules';
import { areaOf, hasValidName, isWaiting, mayUploadAs, type QueueItem } from './queueItem.js';
import type { UploadProgress, UploadQueueState } from './uploadQueue.js';

export type QueueVisibility = 'private' | 'public' | 'mixed';

export interface QueueSummary {
	/** Of one's own; undefined if nothing can be set: all are for shared folders. */
	visibility: QueueVisibility | undefined;
	/** Of one's own. Those of another user hold up nobody. */
	hasInvalidName: boolean;
	/** All that wait. */
	waiting: readonly number[];
	/** How many of these are one's own: what can be changed, and removed without a question. */
	own: number;
	/** Who has added these; undefined among them for a visitor. */
	accounts: ReadonlySet<string | undefined>;
	completed: number;
	skipped: number;
}

/**
 * Summarizes the queue for who is signed in, or with undefined for a visitor. It visits every item, so it is computed
 * once for each change of `items`.
 */
export function summarize(items: readonly QueueItem[], username: string | undefined): QueueSummary {
	const waiting: number[] = [];
	let publicCount = 0;
	let privateCount = 0;
	let hasInvalidName = false;
	let own = 0;
	const accounts = new Set<string | undefined>();
	let completed = 0;
	let skipped = 0;
	for (const item of items) {
		const isOwn = mayUploadAs(username, item);
		const area = areaOf(item);
		if (isOwn && area === 'public') publicCount++;
		if (isOwn && area === 'private') privateCount++;
		if (item.status === 'completed') completed++;
		if (item.status === 'skipped') skipped++;
		if (!isWaiting(item)) continue;
		accounts.add(item.username);
		waiting.push(item.id);
		if (!isOwn) continue;
		own++;
		if (!hasValidName(item)) hasInvalidName = true;
	}
	return {
		visibility: visibilityOf(privateCount, publicCount),
		hasInvalidName,
		waiting,
		own,
		accounts,
		completed,
		skipped,
	};
}

function visibilityOf(privateCount: number, publicCount: number): QueueVisibility | undefined {
	if (privateCount > 0) return publicCount > 0 ? 'mixed' : 'private';
	return publicCount > 0 ? 'public' : undefined;
}

/** Aggregate progress of a run. */
export interface RunProgress {
	completed: number;
	total: number;
	uploadedSize: number;
	totalSize: number;
}

/** Progress of a run without the file that is being uploaded and those that are skipped. */
export function runProgress({ items, run }: Pick<UploadQueueState, 'items' | 'run'>): RunProgress {
	const progress: RunProgress = { completed: 0, total: 0, uploadedSize: 0, totalSize: 0 };
	for (const item of items) {
		if ((run && !run.has(item.id)) || item.status === 'skipped') continue;
		progress.total++;
		progress.totalSize += item.size;
		if (item.status === 'completed') {
			progress.completed++;
			progress.uploadedSize += item.size;
		}
	}
	return progress;
}

/** How much of `size` is done, 0 to 1. An empty file is done only when the server has responded. */
export function fraction(done: number, size: number): number {
	return size > 0 ? Math.min(1, done / size) : 0;
}

/** All bytes are sent and the server has not responded yet. */
export function isFinalizing(item: QueueItem, progress: UploadProgress | undefined): boolean {
	if (item.status !== 'uploading' || progress?.id !== item.id || progress.wait) return false;
	return progress.uploadedSize >= item.size;
}

/** Speed in bytes per second and seconds left, each undefined while unknown. */
export function measuredPace(item: QueueItem, { meter, uploadedSize }: UploadProgress) {
	const speed = bytesPerSecond(meter);
	return { speed, secondsLeft: remainingSeconds(item.size - uploadedSize, speed) };
}

export function mayStart({ waiting, hasInvalidName }: QueueSummary, isRunning: boolean): boolean {
	return waiting.length > 0 && !hasInvalidName && !isRunning;
}
