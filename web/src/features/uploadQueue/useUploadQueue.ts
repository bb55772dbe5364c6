import { createContext, useContext } from 'react';
import type { Chosen } from './choosing/chosenFiles.js';
import type { Conflicts } from './conflicts/useConflicts.js';
import type { IfExists, UploadTarget } from './queueItem.js';
import type { QueueSummary } from './queueSummary.js';
import type { UploadQueueState } from './uploadQueue.js';

/**
 * The commands of the queue. Always the same object, so effects may depend on it. What changes files changes those of
 * who is signed in only.
 */
export interface UploadQueue {
	/**
	 * Adds files. Without a target they go to the root of the private area for a signed-in user, of the public area for a
	 * visitor. The target's area sets their initial visibility. A visitor's folders are refused.
	 */
	add(chosen: Chosen | Promise<Chosen>, target?: UploadTarget): void;
	rename(id: number, name: string): void;
	restoreName(id: number): void;
	setVisibility(id: number, isPublic: boolean): void;
	setAllVisibility(isPublic: boolean): void;
	/** What happens to a file whose name is taken. */
	setIfExists(id: number, ifExists: IfExists): void;
	setAllIfExists(ifExists: IfExists): void;
	remove(id: number): void;
	/** Uploads these files, or all that wait. */
	start(ids?: readonly number[]): void;
	/**
	 * Aborts running uploads and removes one's own files. A run of another user's is only ended: its files wait for that
	 * user.
	 */
	cancel(): void;
	/** Removes the files of other users. Ask before. */
	removeOthers(): void;
	openDialog(): void;
	/** Keeps the queue and a running upload. */
	closeDialog(): void;
	/** A user signed in or registered: waiting files become private, but for those of another user. */
	signedIn(): void;
	/** This user logged out: their waiting files become public. */
	signedOut(username: string): void;
}

export interface UploadQueueView extends UploadQueueState {
	summary: QueueSummary;
	conflicts: Conflicts;
	isRunning: boolean;
}

export const UploadQueueContext = createContext<UploadQueue | undefined>(undefined);
export const UploadQueueViewContext = createContext<UploadQueueView | undefined>(undefined);

export function useUploadQueue(): UploadQueue {
	return provided(useContext(UploadQueueContext));
}

/** The state of the queue. Changes several times a second during an upload. */
export function useUploadQueueView(): UploadQueueView {
	return provided(useContext(UploadQueueViewContext));
}

function provided<T>(value: T | undefined): T {
	if (value === undefined) throw new Error('The upload queue is used outside of UploadQueueProvider.');
	return value;
}
