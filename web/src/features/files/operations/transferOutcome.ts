import { transferDetail } from '@stowage/contract';
import { Failure, failureKind, joinPath, parentPath, type StoragePath } from '@stowage/rules';
import type { Job } from '../../../api/jobs/jobs.js';
import type { Outcome } from './runEach.js';

/** How a transfer ended. */
export interface Transferred<S> extends Outcome<S> {
	/** The steps that are done, with the paths that their items got; undefined if those are not all known. */
	placed: readonly S[] | undefined;
}

/** The outcome of one part of a transfer, a job that has ended. */
export function transferredBy<S extends { item: { path: string }; toPath: StoragePath }>(
	steps: readonly S[],
	job: Job,
): Transferred<S> {
	const outcome = outcomeOf(steps, job);
	const { success, data } = transferDetail.safeParse(job.detail);
	// Of failures that are not listed `done` only counts: an undo would take what was there before for a copy.
	const isKnown = success && data.unlisted === 0 && data.failed <= data.errors.length;
	if (!isKnown) return { ...outcome, placed: outcome.done.length === 0 ? [] : undefined };
	const names = new Map(data.renamed.map(([index, name]) => [steps[index], name]));
	const placed = outcome.done.map((step) => {
		const name = names.get(step);
		return name === undefined ? step : { ...step, toPath: joinPath(parentPath(step.toPath), name) };
	});
	return { ...outcome, placed };
}

/** The results of the items of a job that has ended, in their order. */
export function outcomeOf<T extends { item: { path: string } }>(items: readonly T[], job: Job): Outcome<T> {
	const parsed = transferDetail.safeParse(job.detail);
	const isCancelled = job.status === 'cancelled';
	if (!parsed.success) {
		const all = { done: [], failed: [], left: [], reason: reasonOf(job) };
		if (job.status === 'completed') return { ...all, done: [...items] };
		return isCancelled ? { ...all, left: [...items] } : { ...all, failed: [...items] };
	}
	const { done: doneCount, failed: failedCount, errors } = parsed.data;
	const reached = items.slice(0, doneCount + failedCount);
	// Items of several owners may have one path. A job that was begun by a former version has no indexes.
	const indexes = new Set(errors.map(({ index }) => index));
	const paths = new Set(errors.flatMap(({ index, path }) => (index === undefined ? [path] : [])));
	const refused = new Set(reached.filter(({ item }, index) => indexes.has(index) || paths.has(item.path)));
	const done = reached.filter((item) => !refused.has(item));
	// The number of errors in a job is limited: of the others only the count is known, not the items.
	const failed = new Set([...refused, ...done.splice(doneCount)]);
	const unreached = items.slice(reached.length);
	return {
		done,
		failed: [...reached.filter((item) => failed.has(item)), ...(isCancelled ? [] : unreached)],
		left: isCancelled ? unreached : [],
		reason: reasonOf(job, errors[0]),
	};
}

type ItemError = { message: string; code?: string | undefined };

function reasonOf({ status, error }: Job, first?: ItemError): Failure | undefined {
	if (status === 'completed') return first && failureOf(first.message, first.code);
	return error === null ? undefined : failureOf(error, first?.code);
}

/** The failure with a code of the server; one without a code is a fault of the server. */
function failureOf(message: string, code: string | undefined): Failure {
	return new Failure((code !== undefined && failureKind(code)) || 'unavailable', message);
}

/** The outcome of a transfer by those of its parts, in their order. */
export function joinOutcomes<T>(outcomes: readonly Transferred<T>[]): Transferred<T> {
	const placed = outcomes.map((outcome) => outcome.placed);
	const failed = outcomes.flatMap((outcome) => outcome.failed);
	const parts = outcomes.filter((outcome) => outcome.done.length + outcome.failed.length + outcome.left.length > 0);
	return {
		placed: placed.every((steps) => steps !== undefined) ? placed.flat() : undefined,
		done: outcomes.flatMap(({ done }) => done),
		failed,
		left: outcomes.flatMap(({ left }) => left),
		// A part that was cancelled says how many of its own items are done.
		reason: (parts.length === 1 ? parts : parts.filter((part) => part.failed.length > 0)).find(hasReason)?.reason,
	};
}

const hasReason = ({ reason }: Outcome<unknown>) => reason !== undefined;
