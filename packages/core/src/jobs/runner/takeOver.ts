import type { HeldJob, JobEnd, JobStore } from '@stowage/plugin-api';
import type { ProcessIdentity } from '../../leases/processIdentity.js';
import type { Log } from '../../log.js';
import { jobLimits } from '../jobLimits.js';
import { interrupted } from '../runs/runToEnd.js';
import { type Suspects, suspectsAmong } from '../Suspects.js';
import type { JobRuns } from './JobRuns.js';

interface Dependencies {
	store: JobStore;
	identity: ProcessIdentity;
	runs: Pick<JobRuns, 'find' | 'endedWithoutRun'>;
	log: Log;
	/** Whether a lease that has ended says that its holder has: not if it may have been the database that was away. */
	trustsLeases: boolean;
}

/** Takes over the jobs of processes that have ended, by what was known before. Resolves to whether there were any. */
export async function takeOver(parts: Dependencies, held: readonly HeldJob[], suspects: Suspects): Promise<boolean> {
	const { identity, runs, trustsLeases } = parts;
	let hasFreed = false;
	for (const job of held) {
		if (job.holder === identity.name && runs.find(job.id) !== undefined) continue;
		// The lease of a process that has certainly ended need not be waited for.
		const leaseMs = job.isExpired && trustsLeases ? jobLimits.leaseMs : undefined;
		if (leaseMs === undefined && !(await identity.hasEnded(job.holder))) continue;
		const beside = held.filter((other) => other.holder === job.holder);
		const isRecorded =
			job.holder !== identity.name && suspectsAmong(beside, suspects.hadTrial(job.holder)).includes(job);
		const ends = suspects.endsOf(job.id) + (isRecorded ? 1 : 0);
		await release(parts, job, { end: endOf(job, ends), leaseMs, isRecorded });
		hasFreed = true;
	}
	return hasFreed;
}

interface Release {
	/** Undefined for a job that goes back to the queue. */
	end: JobEnd | undefined;
	leaseMs: number | undefined;
	isRecorded: boolean;
}

async function release({ store, runs, log }: Dependencies, job: HeldJob, { end, ...takeover }: Release): Promise<void> {
	const isFreed = await (end === undefined
		? store.requeue(job, 'interrupted', takeover)
		: store.end(job, end, takeover));
	if (!isFreed) return;
	log.warn({ job: job.id, kind: job.kind }, 'a job was taken over: its process had not renewed the lease');
	// No run of its own cleans up any more. One that has failed may go on from there if it is tried again.
	const ended = await store.find(job.id).catch((error: unknown) => {
		log.warn(
			{ err: error, job: job.id },
			'what a job of another process has left, if it was cancelled, is swept later',
		);
	});
	if (ended !== undefined && (end !== undefined || ended.status === 'cancelled')) runs.endedWithoutRun(ended);
}

/** The end of a job that is not tried again, after so many unclean ends of processes that ran it. */
function endOf({ isCancelRequested, onRestart, interruptions }: HeldJob, ends: number): JobEnd | undefined {
	const isRepeated = interruptions >= jobLimits.interruptions || ends >= jobLimits.uncleanEnds;
	if (isCancelRequested) return isRepeated ? { status: 'cancelled', error: null } : undefined;
	if (onRestart === 'fail') return { status: 'failed', error: interrupted };
	if (!isRepeated) return undefined;
	const error = `The server ended ${Math.max(interruptions + 1, ends)} times while this was under way, so it is not tried again by itself.`;
	return { status: 'failed', error };
}
