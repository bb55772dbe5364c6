import { findJob } from '@stowage/contract';
import { Failure, isFailure } from '@stowage/rules';
import type { QueryClient } from '@tanstack/react-query';
import { messages } from '../../messages.js';
import { call } from '../client/client.js';
import { refreshSession } from '../session/refreshSession.js';
import { isReplaced } from '../session/sessionQuery.js';
import { isActive, type Job, updateJob } from './jobs.js';

/** Short work is noticed at once; the pauses double up to the last. */
const firstPauseMs = 60;
const lastPauseMs = 1000;

export interface WaitOptions {
	/** Who was signed in when it was begun, as far as the page knew. */
	username: string | null | undefined;
	onProgress?: (job: Job) => void;
}

/**
 * Resolves to a job when it has ended. A lost connection only delays that. Throws `notFound` for one that the server
 * no longer has, and `notSignedIn` when the session has ended, also if another user is signed in by then.
 */
export async function waitForJob(queryClient: QueryClient, id: string, options: WaitOptions): Promise<Job> {
	const { username, onProgress } = options;
	for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, lastPauseMs)) {
		const job = await find(queryClient, id, username);
		if (job) {
			updateJob(queryClient, job);
			onProgress?.(job);
			if (!isActive(job)) return job;
		}
		await new Promise((resolve) => setTimeout(resolve, pause));
	}
}

async function find(queryClient: QueryClient, id: string, username: string | null | undefined) {
	try {
		return await findOf(queryClient, id, username);
	} catch (error) {
		if (!isFailure(error, 'unavailable') && !isFailure(error, 'rateLimited')) throw error;
		return undefined;
	}
}

async function findOf(queryClient: QueryClient, id: string, username: string | null | undefined) {
	try {
		return await call(findJob, { params: { id } });
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
		// Every other user is told so too, who may have signed in in another tab while this one was frozen.
		await refreshSession(queryClient, 0, new AbortController().signal);
		if (isReplaced(queryClient, username)) throw new Failure('notSignedIn', messages.signedOut, { cause: error });
		throw error;
	}
}
