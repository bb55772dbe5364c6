import { cancelJob, jobs, type ResultOf, retryJob } from '@stowage/contract';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { call } from '../client/client.js';
import { resending } from '../client/idempotency.js';
import { isStreaming } from '../events/eventStream.js';
import { queryKeys } from '../queryKeys.js';

/** Long work of the signed-in user. */
export type Job = ResultOf<typeof jobs>[number];

/** How often the jobs are fetched while some are active: with an event stream only in case it missed something. */
const pollMs = 2000;
const pollWithEventsMs = 10_000;

/** The user's jobs, which events keep current if there is a stream. */
export function jobsQuery(username: string) {
	return queryOptions({
		queryKey: queryKeys.jobs.of(username),
		queryFn: ({ signal }) => call(jobs, { signal }),
		staleTime: 0,
		refetchOnWindowFocus: true,
		refetchInterval: ({ state }) => {
			if (!state.data?.some(isActive)) return false;
			return isStreaming() ? pollWithEventsMs : pollMs;
		},
		retry: 1,
	});
}

/** Whether it waits or runs. */
export function isActive({ status }: Pick<Job, 'status'>): boolean {
	return status === 'queued' || status === 'processing';
}

/** Applies the state of a job from an event or a response. */
export function updateJob(queryClient: QueryClient, job: Job): void {
	queryClient.setQueriesData<Job[]>(
		{ queryKey: queryKeys.jobs.all, type: 'active' },
		(cached) => cached && withJob(cached, job),
	);
	// The response of an earlier fetch may still contain it as running.
	if (!isActive(job)) refetchJobs(queryClient);
}

/** Events may have been missed. */
export function refetchJobs(queryClient: QueryClient): void {
	void queryClient.invalidateQueries({ queryKey: queryKeys.jobs.all });
}

/** The list with the job in its place, a new one at the front. */
export function withJob(jobs: readonly Job[], job: Job): Job[] {
	const isListed = jobs.some(({ id }) => id === job.id);
	return isListed ? jobs.map((other) => (other.id === job.id ? job : other)) : [job, ...jobs];
}

export async function cancel(id: string): Promise<void> {
	await resending(() => call(cancelJob, { params: { id } }));
}

/** Queues one that failed or was cancelled again. */
export async function retry(id: string): Promise<Job> {
	return call(retryJob, { params: { id } });
}
