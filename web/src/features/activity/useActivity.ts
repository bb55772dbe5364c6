import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { cancel, isActive, type Job, jobsQuery, refetchJobs, retry, updateJob } from '../../api/jobs/jobs.js';
import { type MemberChange, memberChangesQuery } from '../../api/members.js';
import { type Receipt, receivedQuery } from '../../api/shares.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { activityItems } from './activityItems.js';
import { announcement } from './jobText.js';
import { activityMessages as messages } from './messages.js';

const noJobs: readonly Job[] = [];
const noReceipts: readonly Receipt[] = [];
const noChanges: readonly MemberChange[] = [];

const noticeKey = 'activity';

/**
 * The jobs of the signed-in user, what their shares have received and what others have changed in their folders, and
 * the actions on the jobs.
 */
export function useActivity(username: string) {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const { data, error, refetch } = useQuery(jobsQuery(username));
	const received = useQuery(receivedQuery);
	// Without an answer the jobs are shown alone.
	const receipts = received.data ?? (received.isError ? noReceipts : undefined);
	const changed = useQuery(memberChangesQuery);
	const changes = changed.data ?? (changed.isError ? noChanges : undefined);
	const items = useMemo(
		() => data && receipts && changes && activityItems(data, receipts, changes),
		[data, receipts, changes],
	);
	const [asked, setAsked] = useState<ReadonlySet<string>>(new Set());
	const cancelling = data ? stillCancelling(asked, data) : asked;
	if (cancelling !== asked) setAsked(cancelling);
	const fail = (message: string) => (failure: Error) =>
		void notify({ key: noticeKey, intent: 'danger', message, detail: failure.message });

	const cancelMutation = useMutation({
		mutationFn: ({ id }: Job) => cancel(id),
		onMutate: ({ id }) => setAsked((before) => new Set([...before, id])),
		onError: (failure, { id }) => {
			setAsked((before) => new Set([...before].filter((other) => other !== id)));
			fail(messages.cancelFailed)(failure);
		},
		onSettled: () => refetchJobs(queryClient),
	});
	const retryMutation = useMutation({
		mutationFn: ({ id }: Job) => retry(id),
		onSuccess: (job) => {
			setAsked((before) => new Set([...before].filter((id) => id !== job.id)));
			updateJob(queryClient, job);
		},
		onError: fail(messages.retryFailed),
		onSettled: () => refetchJobs(queryClient),
	});
	return {
		jobs: data ?? noJobs,
		items,
		error,
		reload: () => void refetch(),
		cancel: cancelMutation.mutate,
		retry: retryMutation.mutate,
		/** Whether its cancellation was requested, and it has not ended yet. */
		isCancelling: (job: Job) => isActive(job) && cancelling.has(job.id),
	};
}

/**
 * Those of the jobs whose cancellation was requested that have not ended yet. One that runs again after its end, as it
 * was retried on another device, is not being cancelled. The same set where none has ended.
 */
export function stillCancelling(asked: ReadonlySet<string>, jobs: readonly Job[]): ReadonlySet<string> {
	const active = new Set(jobs.filter(isActive).map(({ id }) => id));
	const left = [...asked].filter((id) => active.has(id));
	return left.length === asked.size ? asked : new Set(left);
}

/** The last change of a state among the jobs, in words. Empty at first. */
export function useAnnouncement(jobs: readonly Job[]): string {
	const [last, setLast] = useState({ jobs, text: '' });
	if (jobs !== last.jobs) setLast({ jobs, text: announcement(last.jobs, jobs) || last.text });
	return last.text;
}
