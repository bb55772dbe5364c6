import { AsyncLocalStorage } from 'node:async_hooks';
import type { HeldJob } from '@stowage/plugin-api';
import { type Failure, isFailure } from '@stowage/rules';
import type { ProcessIdentity } from '../../leases/processIdentity.js';
import type { JobPauses } from '../JobPauses.js';
import { jobLimits } from '../jobLimits.js';
import type { JobRun } from '../runs/JobRun.js';
import type { AnyKind } from '../runs/runToEnd.js';
import { Suspects } from '../Suspects.js';
import { waitOrAborted } from '../waitOrAborted.js';
import { JobClaims } from './JobClaims.js';
import { JobRuns, type RunDependencies } from './JobRuns.js';
import { takeOver } from './takeOver.js';

interface Dependencies extends Omit<RunDependencies, 'holder' | 'onFree' | 'stopping' | 'giveUp'> {
	/** The kinds by name; more may be defined later. */
	kinds: ReadonlyMap<string, AnyKind>;
	identity: ProcessIdentity;
	/** Whether jobs may begin in this process; those that run go on. */
	mayBegin(): boolean;
	/** Jobs that are passed over for the moment. */
	pauses: JobPauses;
	/** Whether jobs that need a capability wait for it, or for another process. */
	isAwaited(capability: string): boolean;
	/** Whether this process looks for work by itself; another one of the machine does otherwise. */
	isPolling(): boolean;
	/** Called with the id of each job that may have changed; without an id if jobs of other processes may have changed. */
	onChange(id?: string): void;
	/** Called after each poll with the failure for which jobs neither go on nor end; undefined where there is none. */
	onPolled(obstacle: Failure | undefined): void;
}

/** Runs jobs in this process: claims waiting jobs, renews the running ones, and takes over those of processes that have ended. */
export interface JobRunner {
	/** The run of a job in this process. */
	find(id: string): JobRun | undefined;
	/** Called when there may be work. */
	wake(): void;
	/** Fires when this process begins no further run. */
	readonly stopping: AbortSignal;
	/** What is known from the interruptions of jobs, as read last. */
	suspects(): Suspects;
	/** Reads them again if they have not been read for a while. */
	refreshSuspects(): Promise<void>;
	begin(only?: string): void;
	stop(): void;
	close(): Promise<void>;
	poll(): Promise<void>;
}

export function createJobRunner(parts: Dependencies): JobRunner {
	const { store, kinds, publisher, identity, log, monotonic, mayBegin, isPolling, onChange } = parts;
	const closing = new AbortController();
	const givingUp = new AbortController();
	/** A run belongs to no request, whichever one started it. */
	const inOwnContext = AsyncLocalStorage.snapshot();
	let hasBegun = false;
	let servedSince = Number.NEGATIVE_INFINITY;
	let suspects = new Suspects({ interruptions: [], now: 0 });
	let suspectsReadAt = Number.NEGATIVE_INFINITY;
	let onlyKind: string | undefined;
	let timers: NodeJS.Timeout[] = [];
	let polling: Promise<void> | undefined;
	let mustRerun = false;
	/** Whether there may be work here, whichever process polls. */
	let isWoken = false;
	let isFailing = false;
	/** When the database was away, too slow to renew a lease, or its clock was set, for the last time that is known here. */
	let disturbedAt = Number.NEGATIVE_INFINITY;
	/** By how much the clock of the leases is ahead of the monotonic one. */
	let clockOffset: number | undefined;

	const runs = new JobRuns({
		...parts,
		...{ holder: identity.name, onFree: () => wake(), stopping: closing.signal, giveUp: givingUp.signal },
	});
	const claims = new JobClaims({
		store,
		runs,
		kinds: () => [...kinds.values()].filter(({ name }) => onlyKind === undefined || name === onlyKind),
		pauses: parts.pauses,
		isAwaited: (capability) => parts.isAwaited(capability),
		suspects: () => suspects,
		onTaken() {
			mustRerun = isWoken = true;
		},
	});

	/**
	 * Ends the runs that this process has lost or that shall end, and takes over those of processes that have ended. Resolves to the jobs
	 * held.
	 */
	const readHeld = async (polledAt: number): Promise<HeldJob[]> => {
		const before = runs.all;
		const held = await store.listHeld(jobLimits.leaseMs);
		runs.compare(before, held);
		// This process is alive: what others recorded when its leases had expired was no end.
		if (suspects.knows(identity.name)) await store.forgetInterruptions({ holder: identity.name });
		const now = monotonic();
		if (now - polledAt >= jobLimits.renewMs) disturbedAt = now;
		// Those who could not renew their leases meanwhile come first.
		const trustsLeases = now - disturbedAt >= jobLimits.leaseMs;
		if (!(await takeOver({ store, identity, runs, log, trustsLeases }, held, suspects))) return held;
		await readSuspects();
		return store.listHeld(jobLimits.leaseMs);
	};

	const readSuspects = async (): Promise<void> => {
		suspectsReadAt = monotonic();
		const read = await store.listInterruptions();
		const at = monotonic();
		// A clock that is set, or a machine that has slept, ends all leases at once: those who live renew them first.
		const offset = read.now - at;
		if (Math.abs(offset - (clockOffset ?? offset)) >= jobLimits.jumpMs) disturbedAt = at;
		clockOffset = offset;
		suspects = new Suspects(read);
	};

	const pollOnce = async (): Promise<void> => {
		const polledAt = monotonic();
		runs.beat();
		await runs.renew();
		await readSuspects();
		const held = await readHeld(polledAt);
		// Those that are cancelled wait as well: their cleanup is a run too.
		if (mayBegin()) {
			const mayTry = monotonic() >= servedSince + jobLimits.settleMs && !held.some(({ isOnTrial }) => isOnTrial);
			const hasTried = mayTry && (await claims.tryOne(held, 'beforeOthers'));
			await claims.claimAll(held);
			if (mayTry && !hasTried) await claims.tryOne(held, 'afterOthers');
		}
		await publishChanges();
	};

	const publishChanges = async (): Promise<void> => {
		if (publisher.hasPages())
			publisher.publishChanges(await store.listChanged(publisher.changesMs()), (id) => runs.find(id) !== undefined);
		onChange();
	};

	/** What is left of a poll where another process of the machine looks for work. */
	const pollForPages = async (): Promise<void> => {
		if (publisher.hasPages()) await readSuspects();
		await publishChanges();
	};

	const poll = async (): Promise<void> => {
		const isForWork = isWoken || isPolling() || runs.all.length > 0;
		isWoken = false;
		try {
			await (isForWork ? pollOnce() : pollForPages());
			isFailing = false;
			if (isForWork) parts.onPolled(undefined);
		} catch (error) {
			disturbedAt = monotonic();
			if (isFailure(error, 'storageFull')) parts.onPolled(error);
			if (!isFailing) log.warn({ err: error }, 'the jobs could not be read from the database: trying again');
			isFailing = true;
		}
	};

	/** Polls, once at a time; a request during a poll causes one more. */
	const pollInTurn = (): Promise<void> => {
		isWoken = true;
		return pollByTime();
	};

	const pollByTime = (): Promise<void> => {
		mustRerun = true;
		polling ??= inOwnContext(async () => {
			while (mustRerun) {
				mustRerun = false;
				await poll();
			}
		}).finally(() => {
			polling = undefined;
		});
		return polling;
	};

	const wake = () => {
		if (hasBegun && !closing.signal.aborted) void pollInTurn();
	};

	const runner: JobRunner = {
		find: (id) => runs.find(id),
		wake,
		suspects: () => suspects,

		async refreshSuspects() {
			// Where it polls they are read all the time.
			if (hasBegun && !isPolling() && monotonic() - suspectsReadAt > jobLimits.pollMs) await readSuspects();
		},

		stopping: closing.signal,

		begin(only) {
			if (hasBegun) return;
			hasBegun = true;
			servedSince = monotonic();
			onlyKind = only;
			const byTime = () => closing.signal.aborted || void pollByTime();
			timers = [
				setInterval(byTime, jobLimits.pollMs).unref(),
				setInterval(() => runs.beat(), jobLimits.spacingMs).unref(),
			];
			wake();
		},

		stop() {
			closing.abort();
			runs.stop();
		},

		async close() {
			runner.stop();
			for (const timer of timers) clearInterval(timer);
			await polling;
			// Jobs that were claimed meanwhile.
			runner.stop();
			await Promise.race([runs.drained(), waitOrAborted(jobLimits.drainMs, givingUp.signal)]);
			givingUp.abort();
		},

		poll: pollInTurn,
	};
	return runner;
}
