import { formatDate, formatListSize, formatTime, plural, shownName } from '@stowage/rules';
import { isActive, type Job } from '../../api/jobs/jobs.js';
import type { Receipt } from '../../api/shares.js';
import { sortJobs } from './jobText.js';
import { activityMessages as messages } from './messages.js';

/** A line of the Activity dialog. */
export type ActivityItem = { kind: 'job'; id: string; job: Job } | { kind: 'received'; id: string; receipt: Receipt };

/** Running and waiting jobs first, then what has ended or was received, the latest first. */
export function activityItems(jobs: readonly Job[], received: readonly Receipt[]): ActivityItem[] {
	const ofJobs = sortJobs(jobs).map((job) => ({ kind: 'job', id: `job-${job.id}`, job }) as const);
	const ofShares = received.map((receipt) => ({ kind: 'received', id: `received-${receipt.id}`, receipt }) as const);
	const running = ofJobs.filter(({ job }) => isActive(job));
	const over = [...ofJobs.slice(running.length), ...ofShares];
	return [...running, ...over.toSorted((one, other) => timeOf(other) - timeOf(one))];
}

function timeOf(item: ActivityItem): number {
	if (item.kind === 'received') return item.receipt.endedAt;
	const { endTime, createdAt } = item.job;
	return endTime ?? createdAt;
}

export function receiptTitle({ sender, files }: Pick<Receipt, 'sender' | 'files'>): string {
	const what = plural(files, 'file');
	return sender === null ? messages.received(what) : messages.receivedFrom(shownName(sender), what);
}

export function receiptDetail({ title, bytes, endedAt }: Pick<Receipt, 'title' | 'bytes' | 'endedAt'>): string {
	const when = messages.endedAt(formatDate(endedAt), formatTime(endedAt));
	return [messages.receivedBy(shownName(title)), formatListSize(bytes), when].join(' · ');
}
