import { createContext, useContext } from 'react';
import type { Chosen } from './choosing/chosenFiles.js';
import type { QueueSummary, UploadQueueState, UploadTarget } from './uploadQueue.js';

/** What can be done with the queue. It stays the same object, so effects may depend on it. */
export interface UploadQueue {
	/**
	 * Puts files into the queue. Without a target they go to the root: of the private area for a signed-in person, of the
	 * public one for a visitor. A target's area decides how visible they are at first. A visitor's folders are refused.
	 */
	add(chosen: Chosen | Promise<Chosen>, target?: UploadTarget): void;
	rename(id: number, name: string): void;
	restoreName(id: number): void;
	setVisibility(id: number, isPublic: boolean): void;
	setAllVisibility(isPublic: boolean): void;
	remove(id: number): void;
	/** Uploads these, or all that wait, one after another. */
	start(ids?: readonly number[]): void;
	/** Stops what is on its way and empties the queue. */
	cancel(): void;
	openDialog(): void;
	/** The queue and a running upload stay. */
	closeDialog(): void;
	/** A person signed in or registered: what waits becomes private. */
	signedIn(): void;
	/** A person chose to log out: what waits becomes public. */
	signedOut(): void;
}

export interface UploadQueueView extends UploadQueueState {
	summary: QueueSummary;
	isRunning: boolean;
}

export const UploadQueueContext = createContext<UploadQueue | undefined>(undefined);
export const UploadQueueViewContext = createContext<UploadQueueView | undefined>(undefined);

export function useUploadQueue(): UploadQueue {
	return provided(useContext(UploadQueueContext));
}

/** What the queue holds and how far it is; changes several times a second during an upload. */
export function useUploadQueueView(): UploadQueueView {
	return provided(useContext(UploadQueueViewContext));
}

function provided<T>(value: T | undefined): T {
	if (value === undefined) throw new Error('The upload queue is used outside of UploadQueueProvider.');
	return value;
}
