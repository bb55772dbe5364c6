import { isOfDatabase } from '@stowage/database';
import type { JobEnd, JobKind, JobReturn, JobRunKey, JobStore } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import type { Log } from '../../log.js';
import { jobLimits, shortened } from '../jobLimits.js';
import { waitOrAborted } from '../waitOrAborted.js';
import type { JobRun } from './JobRun.js';
import { retryForNow } from './retryForNow.js';

export type AnyKind = JobKind<unknown>;

/** The input of a run, as JSON. */
export interface StoredInput {
	input: string;
	saved: string | null;
}

/** Why a job that is queued again waits, as a sentence, and for how long. */
export interface JobPause {
	reason: string;
	ms: number;
}

/** What becomes of a job after a run. */
export type JobOutcome = JobEnd | JobReturn | JobPause;

export const isEnd = (outcome: JobOutcome): outcome is JobEnd => typeof outcome !== 'string' && 'status' in outcome;

export const interrupted = 'The server ended while this was under way.';

interface Dependencies {
	log: Log;
	/** Whether a capability has been lacking for so long that jobs wait for it no more. */
	isGivenUp(capability: string): boolean;
}

/** Runs a job until it ends, or until it is to be queued again. */
export async function runToEnd(
	run: JobRun,
	kind: AnyKind,
	given: StoredInput,
	parts: Dependencies,
): Promise<JobOutcome> {
	try {
		const input = await kind.input.parseAsync(JSON.parse(given.input));
		const result = await kind.run(run.contextOf(input, parsed(given.saved)));
		const detail = result === undefined ? null : JSON.stringify(result);
		const isTooLarge = detail !== null && Buffer.byteLength(detail) > jobLimits.detailBytes;
		if (isTooLarge)
			parts.log.warn({ job: run.key.id, kind: kind.name }, 'the result of a job is too large to be stored');
		// The last reported progress is complete. While the database is not available, only the end of the job is retried; saving its
		// progress is not worth a failure.
		await run.renew().catch(() => {});
		return { status: 'completed', error: null, detail: isTooLarge ? null : detail };
	} catch (error) {
		// Not worth a failure of its own, as above.
		await run.renew().catch(() => {});
		const outcome = outcomeOf(error, run, kind, parts);
		// Whoever waits for the end reads the reasons in the detail, also where the progress could not be saved.
		return isEnd(outcome) ? { ...outcome, detail: run.record.detail } : outcome;
	}
}

function outcomeOf(error: unknown, run: JobRun, kind: AnyKind, { log, isGivenUp }: Dependencies): JobOutcome {
	if (run.isCancelled) return { status: 'cancelled', error: isOwnReason(error, run) ? null : sentenceOf(error) };
	if (run.hasYielded) return 'yielded';
	if (run.signal.aborted) return kind.onRestart === 'fail' ? { status: 'failed', error: interrupted } : 'released';
	if (kind.onRestart !== 'fail' && run.attempt < jobLimits.attempts) {
		// It goes on once the database is back, as after a restart of the server.
		if (isOfDatabase(error)) return 'released';
		const isInVain = kind.needs !== undefined && isGivenUp(kind.needs.capability);
		const pause = isInVain ? undefined : pauseFor(error, run.attempt);
		if (pause !== undefined) {
			log.warn(
				{ err: error, job: run.key.id, kind: kind.name, seconds: pause.ms / 1000 },
				'a job waits, as it can’t run now',
			);
			return pause;
		}
	}
	if (!isFailure(error))
		log.error({ err: error, job: run.key.id, kind: kind.name }, 'a job failed with an unexpected error');
	return {
		status: 'failed',
		error: sentenceOf(error) ?? 'Something went wrong. The administrator finds details in the log.',
	};
}

/** What says when to try again is no fault of the job: such as a program that could not be started, or a disk that is away. */
function pauseFor(error: unknown, attempt: number): JobPause | undefined {
	if (!isFailure(error, 'unavailable') || error.retryAfter === undefined) return undefined;
	return { reason: sentenceOf(error) ?? '', ms: Math.min(error.retryAfter * 1000 * attempt, jobLimits.pauseMs) };
}

/**
 * Writes the end, with retries for as long as the database is not available: completed work must not be repeated. Throws once `giveUp`
 * has fired.
 */
export async function recordEnd(
	store: Pick<JobStore, 'requeue' | 'end'>,
	key: JobRunKey,
	outcome: JobOutcome,
	giveUp: AbortSignal,
): Promise<void> {
	const record = async () => {
		if (isEnd(outcome)) await store.end(key, outcome);
		else await store.requeue(key, typeof outcome === 'string' ? outcome : 'released');
	};
	await retryForNow(record, giveUp, () => waitOrAborted(jobLimits.pollMs, giveUp));
}

function parsed(saved: string | null): unknown {
	return saved === null ? undefined : JSON.parse(saved);
}

/** Whether a run ended by throwing the reason of its own signal, which its owner already knows. */
function isOwnReason(error: unknown, { signal }: JobRun): boolean {
	return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

function sentenceOf(error: unknown): string | null {
	return isFailure(error) ? shortened(error.message, jobLimits.errorBytes) : null;
}
