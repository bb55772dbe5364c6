import {
	type Area,
	type CopyStep,
	Failure,
	isFailure,
	type MoveStep,
	parsePath,
	pathSegments,
	type StoragePath,
} from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { isUnanswered } from '../../../api/client/retries.js';
import { cancel, type Job } from '../../../api/jobs/jobs.js';
import { copyOne, moveOne, startTransfer } from '../../../api/jobs/transfers.js';
import { waitForJob } from '../../../api/jobs/waitForJob.js';
import { asUser } from '../../../api/session/refreshSession.js';
import { sessionQuery, signedInAs } from '../../../api/session/sessionQuery.js';
import { fractionOf, progressParts, unbreakable } from '../../../ui/display/progressText.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { delayedNotice } from './delayedNotice.js';
import { operationMessages as messages } from './messages.js';
import { reasonOf } from './runEach.js';
import type { Replacing } from './taken.js';
import { joinOutcomes, type Transferred, transferredBy } from './transferOutcome.js';

/** How long the notification bar shows the progress. Then the button of Activity does. */
const noticeMs = 60_000;

/** Copies or moves from one area into one folder of an area. */
export type TransferPlan =
	| { kind: 'copy'; from: Area; to: Area; directory: StoragePath; steps: readonly Replacing<CopyStep>[] }
	| { kind: 'move'; from: Area; to: Area; directory: StoragePath; steps: readonly Replacing<MoveStep>[] };

export type RunTransfer = <P extends TransferPlan>(title: string, plan: P) => Promise<Transferred<P['steps'][number]>>;

/**
 * Copies or moves items: one by its call, several as a job, which continues without the page. The notification bar
 * shows the progress at first, with `Cancel`.
 */
export function useTransfer(): RunTransfer {
	const queryClient = useQueryClient();
	const { notify, dismiss } = useNotify();

	return useCallback(
		async (title, plan) => {
			const notice = delayedNotice({ notify, dismiss });
			let isCancelled = false;
			const username = signedInAs(queryClient);
			const jobs = new Map<string, Job | undefined>();
			const cancelAll = () => {
				isCancelled = true;
				Promise.all([...jobs.keys()].map(cancel)).catch((error: unknown) =>
					notify({ intent: 'danger', message: messages.cancelFailed, detail: reasonOf(error) ?? '' }),
				);
			};
			const show = () => notice.show({ ...progressNotice([...jobs.values()]), message: title, onCancel: cancelAll });
			show();
			const late = setTimeout(notice.end, noticeMs);
			const waitForEnd = (id: string) => {
				jobs.set(id, undefined);
				// Cancelled before its id was known: the server would continue it.
				if (isCancelled) cancelAll();
				const onProgress = (job: Job) => {
					jobs.set(id, job);
					show();
				};
				return waitForJob(queryClient, id, { username, onProgress }).catch((cause) => {
					// A job needs no session.
					throw isFailure(cause, 'notSignedIn')
						? new Failure('notSignedIn', messages.goesOnSignedOut, { cause })
						: cause;
				});
			};
			try {
				const isOne = plan.steps.length === 1 && !(plan.kind === 'move' && plan.steps.some(isCopied));
				const send = () => (isOne ? sendOne(plan, waitForEnd) : sendAll(plan, waitForEnd));
				// What is replaced may be gone for good: where no versions are kept, or more than there may be.
				const isAsked = username && plan.steps.some(({ replaced }) => replaced !== undefined);
				const outcome = await (isAsked ? asUser(queryClient, username, send).catch(noneOf(plan)) : send());
				if (isFailure(outcome.reason, 'notSignedIn'))
					void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
				return outcome;
			} finally {
				clearTimeout(late);
				notice.end();
			}
		},
		[queryClient, notify, dismiss],
	);
}

/** Whether a move may be a copy, which takes as long as one: between shared folders, which may have two owners. */
function isCopied({ type, fromPath, toPath, isAcross }: MoveStep): boolean {
	return isAcross === true || (type === 'shared' && pathSegments(fromPath)[0] !== pathSegments(toPath)[0]);
}

type WaitForEnd = (id: string) => Promise<Job>;

/** A quick one answers as it always did. */
async function sendOne<P extends TransferPlan>(
	plan: P,
	waitForEnd: WaitForEnd,
): Promise<Transferred<P['steps'][number]>> {
	const { steps } = plan;
	try {
		const answer = plan.kind === 'copy' ? await copyOne(copyCall(plan.steps)) : await moveOne(moveCall(plan.steps));
		if ('jobId' in answer) return transferredBy(steps, await waitForEnd(answer.jobId));
		const toPath = parsePath(answer.entry.path);
		const placed = steps.map((step) => ({ ...step, toPath }));
		return { done: [...steps], placed, failed: [], left: [], reason: undefined };
	} catch (reason) {
		return noneOf(plan)(reason);
	}
}

/** The outcome of a plan of which nothing was sent. */
function noneOf<P extends TransferPlan>({ steps }: P) {
	return (reason: unknown): Transferred<P['steps'][number]> => ({
		done: [],
		placed: [],
		failed: [...steps],
		left: [],
		reason,
	});
}

function copyCall([step]: readonly Replacing<CopyStep>[]) {
	const { type, fromType, fromPath, toPath, owner, replaced } = step as Replacing<CopyStep>;
	return { type, fromType, fromPath, toPath, ...(owner === undefined ? {} : { owner }), ...onConflict(replaced) };
}

export function moveCall([step]: readonly Replacing<MoveStep>[]) {
	const { type, fromPath, toPath, item, replaced } = step as Replacing<MoveStep>;
	const owner = item.owner === undefined ? {} : { owner: item.owner };
	return { type, fromPath, toPath, ...owner, ...onConflict(replaced) };
}

function onConflict(replaced: unknown): { onConflict?: 'replace' } {
	return replaced === undefined ? {} : { onConflict: 'replace' };
}

/** A job has one answer for all names that are taken, so those that replace a file have jobs of their own. */
async function sendAll<P extends TransferPlan>(
	plan: P,
	waitForEnd: WaitForEnd,
): Promise<Transferred<P['steps'][number]>> {
	const replacing = plan.steps.filter(({ replaced }) => replaced !== undefined);
	const others = plan.steps.filter(({ replaced }) => replaced === undefined);
	const groups = [others, replacing].filter((steps) => steps.length > 0);
	return joinOutcomes(await Promise.all(groups.map((steps) => sendGroup(plan, steps, waitForEnd))));
}

async function sendGroup<P extends TransferPlan>(
	{ kind, from, to, directory }: P,
	steps: readonly P['steps'][number][],
	waitForEnd: WaitForEnd,
): Promise<Transferred<P['steps'][number]>> {
	const items = steps.map(({ item: { path, owner } }) => ({ path, ...(owner === undefined ? {} : { owner }) }));
	const place = { kind, type: from, toType: to, directory };
	const { jobs, refusal } = await startTransfer({ ...place, items, ...onConflict(steps[0]?.replaced) });
	let start = 0;
	const parts = jobs.map(({ id, items: count }) => {
		const part = steps.slice(start, start + count);
		start += count;
		return waitForEnd(id).then(
			(job) => transferredBy(part, job),
			// It may go on, and some of it may be done.
			(reason: unknown) => ({ done: [], placed: undefined, failed: part, left: [], reason }),
		);
	});
	const reason = isUnanswered(refusal)
		? new Failure('unavailable', messages.mayHaveBegun, { cause: refusal })
		: refusal;
	const refused = { done: [], placed: [], failed: steps.slice(start), left: [], reason };
	return joinOutcomes([...(await Promise.all(parts)), refused]);
}

/** How far the jobs are together. */
function progressNotice(jobs: readonly (Job | undefined)[]) {
	const [first] = jobs;
	const fractions = jobs.map((job) => (job ? fractionOf(job) : undefined));
	const isKnown = fractions.length > 0 && fractions.every((fraction) => fraction !== undefined);
	const sum = fractions.reduce<number>((all, fraction) => all + (fraction ?? 0), 0);
	const parts = jobs.length === 1 && first?.status === 'processing' ? progressParts(first) : [];
	return {
		progress: isKnown ? sum / fractions.length : ('indeterminate' as const),
		...(parts.length === 0 ? {} : { detail: unbreakable(parts) }),
	};
}
