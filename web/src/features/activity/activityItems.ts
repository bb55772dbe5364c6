import { formatDate, formatListSize, formatTime, plural, shownName } from '@stowage/rules';
import { isActive, type Job } from '../../api/jobs/jobs.js';
import type { MemberChange } from '../../api/members.js';
import type { Receipt } from '../../api/shares.js';
import { sortJobs } from './jobText.js';
import { activityMessages as messages } from './messages.js';

/** A line of the Activity dialog. */
export type ActivityItem =
	| { kind: 'job'; id: string; job: Job }
	| { kind: 'received'; id: string; receipt: Receipt }
	| { kind: 'changed'; id: string; change: MemberChange };

/** Running and waiting jobs first, then what has ended, was received or was changed by others, the latest first. */
export function activityItems(
	jobs: readonly Job[],
	received: readonly Receipt[],
	changes: readonly MemberChange[],
): ActivityItem[] {
	const ofJobs = sortJobs(jobs).map((job) => ({ kind: 'job', id: `job-${job.id}`, job }) as const);
	const ofShares = received.map((receipt) => ({ kind: 'received', id: `received-${receipt.id}`, receipt }) as const);
	const ofMembers = changes.map((change) => ({ kind: 'changed', id: `changed-${change.id}`, change }) as const);
	const running = ofJobs.filter(({ job }) => isActive(job));
	const over = [...ofJobs.slice(running.length), ...ofShares, ...ofMembers];
	return [...running, ...over.toSorted((one, other) => timeOf(other) - timeOf(one))];
}

function timeOf(item: ActivityItem): number {
	if (item.kind === 'received') return item.receipt.endedAt;
	if (item.kind === 'changed') return item.change.endedAt;
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

export function changeTitle({
	member,
	added,
	changed,
	removed,
}: Pick<MemberChange, 'member' | 'added' | 'changed' | 'removed'>): string {
	const counts = [
		...(added > 0 ? [messages.added(plural(added, 'item'))] : []),
		...(changed > 0 ? [messages.changedItems(plural(changed, 'item'))] : []),
		...(removed > 0 ? [messages.removed(plural(removed, 'item'))] : []),
	];
	return `${shownName(member)} ${counts.join(', ')}`;
}

export function changeDetail({ folder, endedAt }: Pick<MemberChange, 'folder' | 'endedAt'>): string {
	const when = messages.endedAt(formatDate(endedAt), formatTime(endedAt));
	return [messages.inFolder(shownName(folder)), when].join(' · ');
}
