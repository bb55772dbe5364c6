import { conversionDetail, transferDetail } from '@stowage/contract';
import { formatDate, formatListSize, formatTime, plural, shownName } from '@stowage/rules';
import { keptReason } from '../../api/jobs/jobReasons.js';
import { isActive, type Job } from '../../api/jobs/jobs.js';
import { fractionOf, progressParts, unbreakable } from '../../ui/display/progressText.js';
import { activityMessages as messages } from './messages.js';

/** Running jobs first, then waiting ones in the order of the queue, then ended ones, the latest first. */
export function sortJobs(jobs: readonly Job[]): Job[] {
	const endOf = ({ endTime, createdAt }: Job) => endTime ?? createdAt;
	return jobs.toSorted((a, b) => {
		const byStatus = rankOf(a) - rankOf(b);
		if (byStatus !== 0) return byStatus;
		return isActive(a) ? a.createdAt - b.createdAt : endOf(b) - endOf(a);
	});
}

function rankOf({ status }: Job): number {
	return status === 'processing' ? 0 : status === 'queued' ? 1 : 2;
}

/** The value of its progress bar, 0 to 1; undefined while unknown. */
export function progressOf(job: Job): number | undefined {
	if (job.status === 'completed') {
		const failures = failuresOf(job);
		return failures === undefined ? 1 : 1 - failures.failed / failures.items;
	}
	const fraction = fractionOf(job) ?? (job.status === 'processing' ? undefined : 0);
	// What it has counted was only tried, such as each item of a move: a full bar would look like success.
	return fraction === 1 && !isActive(job) ? 0 : fraction;
}

/** How far all active ones are together, each counting the same. */
export function overallFraction(jobs: readonly Job[]): number {
	const active = jobs.filter(isActive);
	return active.reduce((sum, job) => sum + (progressOf(job) ?? 0), 0) / Math.max(1, active.length);
}

/** The text beside a job's title: the percentage while that is known, else its state. */
export function statusText(job: Job): string {
	const fraction = progressOf(job);
	if (job.status === 'processing' && fraction !== undefined) return `${Math.floor(fraction * 100)}%`;
	return messages.states[job.status];
}

/** What went wrong with it: all of it, or some items of a copy or move that is otherwise done. */
export function errorText(job: Job): string | undefined {
	if (job.error !== null) return shownName(job.error);
	const failures = failuresOf(job);
	if (failures === undefined) return undefined;
	const { failed, items, reason } = failures;
	return [
		messages.itemsFailed(failed, plural(items, 'item')),
		...(reason === undefined ? [] : [shownName(reason)]),
	].join(' ');
}

/** How many items of a completed copy or move failed, and why the first did; undefined if none did. */
function failuresOf({ status, kind, detail }: Job): { failed: number; items: number; reason?: string } | undefined {
	if (status !== 'completed' || (kind !== 'copy' && kind !== 'move')) return undefined;
	const { success, data } = transferDetail.safeParse(detail);
	if (!success || data.failed === 0) return undefined;
	const [first] = data.errors;
	return { failed: data.failed, items: data.done + data.failed, ...(first && { reason: first.message }) };
}

/** The text below a job's bar. An error has a line of its own. */
export function detailText(job: Job): string {
	const parts = job.status === 'queued' ? [] : isActive(job) ? runningParts(job) : resultParts(job);
	// Or its user would look for a way to cancel it.
	const isOrdered = isActive(job) && !job.canCancel;
	const shown = unbreakable(isOrdered ? [...parts, messages.byAdministrator] : parts);
	const kept = isActive(job) ? undefined : keptReason(conversionOf(job.detail));
	return [...(shown === '' ? [] : [shown]), ...(kept === undefined ? [] : [kept])].join(' · ');
}

function runningParts(job: Job): string[] {
	const { currentFps, phase } = conversionOf(job.detail);
	// What is left of the time is that of encoding, which is over.
	if (phase === 'checking') return [messages.checking];
	return [...(typeof currentFps === 'number' ? [messages.fps(currentFps.toFixed(1))] : []), ...progressParts(job)];
}

function resultParts({ detail, endTime }: Job): string[] {
	const { sizeBefore, sizeAfter } = conversionOf(detail);
	const hasSizes = typeof sizeBefore === 'number' && typeof sizeAfter === 'number';
	return [
		...(hasSizes ? [messages.sizes(formatListSize(sizeBefore), formatListSize(sizeAfter))] : []),
		...(endTime === null ? [] : [messages.endedAt(formatDate(endTime), formatTime(endTime))]),
	];
}

/** Other kinds of jobs have details of their own. */
function conversionOf(detail: Job['detail']) {
	const parsed = conversionDetail.safeParse(detail ?? {});
	return parsed.success ? parsed.data : {};
}

/** The announcement for screen readers when the jobs have changed: only those that changed their state. */
export function announcement(before: readonly Job[], now: readonly Job[]): string {
	const states = new Map(before.map(({ id, status }) => [id, status]));
	return now
		.filter(({ id, status }) => states.get(id) !== status)
		.map(({ title, status }) => messages.changed(shownName(title), messages.states[status]))
		.join('. ');
}
