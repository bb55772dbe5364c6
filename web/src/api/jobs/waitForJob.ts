import { findJob } from '@stowage/contract';
import { isFailure } from '@stowage/rules';
import type { QueryClient } from '@tanstack/react-query';
import { call } from '../client/client.js';
import { isActive, type Job, updateJob } from './jobs.js';

/** Short work is noticed at once; the pauses double up to the last. */
const firstPauseMs = 60;
const lastPauseMs = 1000;

/**
 * Resolves to a job when it has ended. A lost connection only delays that. Throws `notFound` for one that the server
 * no longer has, and when the session has ended.
 */
export async function waitForJob(
	queryClient: QueryClient,
	id: string,
	onProgress: (job: Job) => void = () => {},
): Promise<Job> {
	for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, lastPauseMs)) {
		const job = await find(id);
		if (job) {
			updateJob(queryClient, job);
			onProgress(job);
			if (!isActive(job)) return job;
		}
		await new Promise((resolve) => setTimeout(resolve, pause));
	}
}

async function find(id: string): Promise<Job | undefined> {
	try {
		return await call(findJob, { params: { id } });
	} catch (error) {
		if (!isFailure(error, 'unavailable') && !isFailure(error, 'rateLimited')) throw error;
		return undefined;
	}
}
