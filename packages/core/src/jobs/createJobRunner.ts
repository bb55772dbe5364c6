import { AsyncLocalStorage } from 'node:async_hooks';
import type {
	HeldJob,
	JobChoice,
	JobEnd,
	JobOwner,
	JobRecord,
	JobRunKey,
	JobStore,
	JobTakeover,
	UserStore,
} from '@stowage/plugin-api';
import { runInContext } from '../context.js';
import type { ProcessIdentity } from '../leases/processIdentity.js';
import type { Log } from '../log.js';
import type { JobPublisher } from './JobPublisher.js';
import { type JobPlace, JobRun } from './JobRun.js';
import { jobLimits } from './jobLimits.js';
import { type AnyKind, interrupted, recordEnd, runToEnd, type StoredInput } from './runToEnd.js';
import { Suspects, suspectsAmong } from './Suspects.js';
import { wait } from './wait.js';

interface Dependencies {
	store: JobStore;
	users: Pick<UserStore, 'get'>;
	/** By name; more may be defined later. */
	kinds: ReadonlyMap<string, AnyKind>;
	publisher: JobPublisher;
	identity: ProcessIdentity;
	log: Log;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** Whether jobs may begin in this process; those that run go on. */
	mayBegin(): boolean;
	/** Whether jobs that need a capability are left to other processes. */
	isLeftToOthers(capability: string): boolean;
	/** Whether this process looks for work by itself; another one of the machine does otherwise. */
	isPolling(): boolean;
	/** Called with the id of each job that may have changed; without an id if jobs of other processes may have changed. */
	onChange(id?: string): void;
	/** Called with each job that ends here. */
	onEnd: ((job: JobRecord, end: JobEnd) => void) | undefined;
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

/** A job that a place is for. */
type WaitingJob = NonNullable<Awaited<ReturnType<JobStore['next']>>>;

export function createJobRunner(parts: Dependencies): JobRunner {
	const { store, users, kinds, publisher, identity, log, monotonic, mayBegin, isPolling, onChange, onEnd } = parts;
	const isLeft = ({ needs }: AnyKind) => needs !== undefined && parts.isLeftToOthers(needs);
	const holder = identity.name;
	const runs = new Map<string, JobRun>();
	/** The runs under way, including their end. */
	const pending = new Set<Promise<void>>();
	const closing = new AbortController();
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

	const execute = async (run: JobRun, kind: AnyKind, given: StoredInput): Promise<void> => {
		const { id } = run.key;
		try {
			const outcome = await runToEnd(run, kind, given, log);
			await recordEnd(store, run.key, outcome, closing.signal);
			if (typeof outcome !== 'string') onEnd?.(run.record, outcome);
		} catch (error) {
			log.error({ err: error, job: id }, 'the end of a job could not be saved: it runs again');
		} finally {
			// A lost run may end after its job has begun here again.
			if (runs.get(id) === run) runs.delete(id);
			publisher.publish(id, run.owner.id);
			onChange(id);
			wake();
		}
	};

	const launch = (kind: AnyKind, run: JobRun, given: StoredInput) => {
		runs.set(run.key.id, run);
		publisher.publish(run.key.id, run.owner.id);
		const context = { job: { id: run.key.id, kind: kind.name, owner: run.owner } };
		const ended = runInContext(context, execute, run, kind, given).finally(() => pending.delete(ended));
		pending.add(ended);
	};

	/** Releases a job of a process that has ended: back to the queue, or ended. */
	const takeOver = async (job: HeldJob, takeover: JobTakeover): Promise<void> => {
		const ends = suspects.endsOf(job.id) + (takeover.isRecorded ? 1 : 0);
		const end = (): JobEnd | undefined => {
			const { isCancelRequested, onRestart, interruptions } = job;
			const isRepeated = interruptions >= jobLimits.interruptions || ends >= jobLimits.uncleanEnds;
			if (isCancelRequested && isRepeated) return { status: 'cancelled', error: null };
			if (isCancelRequested) return undefined;
			if (onRestart === 'fail') return { status: 'failed', error: interrupted };
			if (!isRepeated) return undefined;
			const error = `The server ended ${Math.max(interruptions + 1, ends)} times while this was under way, so it is not tried again by itself.`;
			return { status: 'failed', error };
		};
		const ended = end();
		const isFreed = await (ended === undefined
			? store.requeue(job, 'interrupted', takeover)
			: store.end(job, ended, takeover));
		if (isFreed)
			log.warn({ job: job.id, kind: job.kind }, 'a job was taken over: its process had not renewed the lease');
	};

	/** Claims the job of a kind that is next for a place. `taken` if another process was first, for the job or the place. */
	const claimNext = async (
		kind: AnyKind,
		place: JobPlace,
		find: () => Promise<WaitingJob | undefined>,
		trial?: 'trial',
	): Promise<'begun' | 'none' | 'taken'> => {
		const next = closing.signal.aborted ? undefined : await find();
		if (next === undefined) return 'none';
		// Before the claim: while the database is not available no job fails for that.
		const user = await users.get(next.userId);
		const key: JobRunKey = { id: next.id, holder, epoch: next.epoch + 1 };
		const requestedAt = monotonic();
		const claimed = await store.claim(key, place.slot, jobLimits.leaseMs, trial);
		if (claimed === undefined) return 'taken';
		const { input, saved, attempt, record } = claimed;
		if (user === undefined || user.isDisabled) {
			const failed = { status: 'failed', error: 'The account is no longer there, or is disabled.' } as const;
			await store.end(key, next.isCancelRequested ? { status: 'cancelled', error: null } : failed);
			return 'taken';
		}
		const owner: JobOwner = { kind: 'user', id: user.id, username: user.username };
		const onTooLarge = () =>
			log.warn({ job: key.id, kind: kind.name }, 'the progress detail of a job is too large to be stored');
		const longAfterSeconds = kind.short?.seconds ?? Number.POSITIVE_INFINITY;
		const parts = { store, monotonic, wait, longAfterSeconds, onTooLarge };
		const run = new JobRun({ key, record, owner, attempt, place, isOnTrial: trial !== undefined }, requestedAt, parts);
		if (next.isCancelRequested) run.cancel();
		if (closing.signal.aborted) run.stop();
		launch(kind, run, { input, saved });
		return 'begun';
	};

	const placesOf = ({ name, concurrency }: AnyKind): JobPlace[] =>
		Array.from({ length: concurrency }, (_, n) => ({ slot: `${name}#${n}` }));

	const shortPlacesOf = ({ name, short }: AnyKind): JobPlace[] =>
		Array.from({ length: short?.places ?? 0 }, (_, n) => ({
			slot: `${name}#short${n}`,
			shortSeconds: short?.seconds ?? 0,
		}));

	/** Users with so many running jobs that others come first. */
	const usersWithEnough = (kind: AnyKind, held: readonly HeldJob[]): string[] => {
		const limit = kind.runningPerUser ?? kind.concurrency;
		if (limit >= kind.concurrency) return [];
		const slots = new Set(placesOf(kind).map(({ slot }) => slot));
		const elsewhere = held.filter((job) => slots.has(job.slot) && !runs.has(job.id)).map(({ userId }) => userId);
		const here = [...runs.values()].filter(({ place }) => slots.has(place.slot)).map(({ owner }) => owner.id);
		const counts = new Map<string, number>();
		for (const userId of [...elsewhere, ...here]) counts.set(userId, (counts.get(userId) ?? 0) + 1);
		return [...counts].filter(([, count]) => count >= limit).map(([userId]) => userId);
	};

	/** Fills the free slots of all kinds; the slots of `held` were taken at the last read. */
	const claimAll = async (held: readonly HeldJob[]): Promise<void> => {
		const taken = new Set(held.map((job) => job.slot));
		// Mostly none: one query instead of some for each kind.
		const waiting = await store.waitingKinds();
		for (const kind of kindsHere()) {
			if (!waiting.has(kind.name) || isLeft(kind) || suspects.kindHold(kind.name) !== undefined) continue;
			const suspected = suspects.usersOf(kind.name);
			// Not counted: it only removes its partial results, and its owner waits for that.
			const cleanup = `${kind.name}#cancelled`;
			const cancelled = async () => {
				const next = await store.next(kind.name, { except: suspected });
				return next?.isCancelRequested ? next : undefined;
			};
			if (!taken.has(cleanup)) await claimNext(kind, { slot: cleanup }, cancelled);
			const fill = async (places: JobPlace[], find: () => Promise<WaitingJob | undefined>) => {
				for (const place of places) {
					if (taken.has(place.slot)) continue;
					const outcome = await claimNext(kind, place, find);
					if (outcome === 'none') break;
					// Another process claimed it first. That one also looks for the next job, so there is no hurry.
					if (outcome === 'taken') mustRerun = isWoken = true;
				}
			};
			await fill(placesOf(kind), () => nextOf(kind, { except: [...suspected, ...usersWithEnough(kind, held)] }));
			await fill(shortPlacesOf(kind), () => store.next(kind.name, { isLong: false, except: suspected }));
			await yieldOverdue(kind);
		}
	};

	const kindsHere = () => [...kinds.values()].filter(({ name }) => onlyKind === undefined || name === onlyKind);

	/**
	 * Begins one job that may have ended a process, or one of the same user and kind. No other begins in any process while it is on trial,
	 * so that the job which ends processes is known.
	 */
	const tryOne = async (held: readonly HeldJob[]): Promise<void> => {
		if (monotonic() < servedSince + jobLimits.settleMs) return;
		const taken = new Set([...held.map((job) => job.slot), ...[...runs.values()].map(({ place }) => place.slot)]);
		const isFree = ({ slot }: JobPlace) => !taken.has(slot);
		for (const suspect of suspects.inOrder()) {
			const kind = kindsHere().find(({ name }) => name === suspect.kind);
			if (kind === undefined || isLeft(kind) || suspects.holdOf(suspect) !== undefined) continue;
			const { userId } = suspect;
			const place = placesOf(kind).find(isFree);
			const short = shortPlacesOf(kind).find(isFree);
			const isBegun =
				(place !== undefined &&
					(await claimNext(kind, place, () => store.next(kind.name, { userId }), 'trial')) !== 'none') ||
				(short !== undefined &&
					(await claimNext(kind, short, () => store.next(kind.name, { userId, isLong: false }), 'trial')) !== 'none');
			if (isBegun) return;
		}
	};

	/** The next job for a place of any length: short jobs have places of their own, so long ones come first. */
	const nextOf = async ({ name, short }: AnyKind, choice: JobChoice): Promise<WaitingJob | undefined> => {
		const long = short === undefined ? undefined : await store.next(name, { ...choice, isLong: true });
		return long ?? store.next(name, choice);
	};

	/** Gives back places for short jobs that have been taken for too long, if another one waits for them. */
	const yieldOverdue = async (kind: AnyKind): Promise<void> => {
		if (kind.onRestart === 'fail') return;
		const overdue = [...runs.values()].filter((run) => run.record.kind === kind.name && run.isOverdue());
		if (overdue.length === 0 || (await store.next(kind.name, { isLong: false })) === undefined) return;
		for (const run of overdue) run.yield();
	};

	/**
	 * Ends the runs that this process has lost or that shall end, and takes over those of processes that have ended. Resolves to the jobs
	 * held.
	 */
	const readHeld = async (): Promise<HeldJob[]> => {
		const before = new Set(runs.values());
		const held = await store.listHeld(jobLimits.leaseMs);
		const found = new Map(held.map((job) => [job.id, job]));
		for (const run of before) {
			const job = found.get(run.key.id);
			if (job === undefined || job.holder !== holder || job.epoch !== run.key.epoch) run.lose();
			else if (job.isCancelRequested) run.cancel();
		}
		// This process is alive: what others recorded when its leases had expired was no end.
		if (suspects.knows(holder)) await store.forgetInterruptions({ holder });
		let hasFreed = false;
		for (const job of held) {
			if (job.holder === holder && runs.has(job.id)) continue;
			// The lease of a process that has certainly ended need not be waited for.
			const leaseMs = job.isExpired ? jobLimits.leaseMs : undefined;
			if (leaseMs === undefined && !(await identity.hasEnded(job.holder))) continue;
			const beside = held.filter((other) => other.holder === job.holder);
			const isRecorded = job.holder !== holder && suspectsAmong(beside, suspects.hadTrial(job.holder)).includes(job);
			await takeOver(job, { leaseMs, isRecorded });
			hasFreed = true;
		}
		if (!hasFreed) return held;
		await readSuspects();
		return store.listHeld(jobLimits.leaseMs);
	};

	const readSuspects = async (): Promise<void> => {
		suspectsReadAt = monotonic();
		suspects = new Suspects(await store.listInterruptions());
	};

	const beat = () => {
		for (const [id, run] of runs) {
			run.loseIfExpired();
			if (run.takeChangedProgress()) publisher.publish(id, run.owner.id);
		}
		publisher.flush();
	};

	/** A failed renewal must not stop the others. */
	const renewAll = async (): Promise<void> => {
		const renewals = await Promise.allSettled(
			[...runs.values()].map(async (run) => {
				await run.renew();
				await run.endTrial();
			}),
		);
		for (const renewal of renewals) if (renewal.status === 'rejected') throw renewal.reason;
	};

	const pollOnce = async (): Promise<void> => {
		beat();
		await renewAll();
		await readSuspects();
		const held = await readHeld();
		// Those that are cancelled wait as well: their cleanup is a run too.
		if (mayBegin() && !held.some(({ isOnTrial }) => isOnTrial)) {
			await claimAll(held);
			await tryOne(held);
		}
		await publishChanges();
	};

	const publishChanges = async (): Promise<void> => {
		if (publisher.hasPages())
			publisher.publishChanges(await store.listChanged(publisher.changesMs()), (id) => runs.has(id));
		onChange();
	};

	/** What is left of a poll where another process of the machine looks for work. */
	const pollForPages = async (): Promise<void> => {
		if (publisher.hasPages()) await readSuspects();
		await publishChanges();
	};

	const poll = async (): Promise<void> => {
		const isForWork = isWoken || isPolling() || runs.size > 0;
		isWoken = false;
		try {
			await (isForWork ? pollOnce() : pollForPages());
			isFailing = false;
		} catch (error) {
			if (!isFailing) log.warn({ err: error }, 'the jobs could not be read from the database: trying again');
			isFailing = true;
		}
	};

	/** One poll at a time; a request during a poll causes one more. */
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
		find: (id) => runs.get(id),
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
			timers = [setInterval(byTime, jobLimits.pollMs).unref(), setInterval(beat, jobLimits.spacingMs).unref()];
			wake();
		},

		stop() {
			closing.abort();
			for (const run of runs.values()) run.stop();
		},

		async close() {
			runner.stop();
			for (const timer of timers) clearInterval(timer);
			await polling;
			// Jobs that were claimed meanwhile.
			runner.stop();
			const drained = new AbortController();
			await Promise.race([Promise.allSettled([...pending]), wait(jobLimits.drainMs, drained.signal)]);
			drained.abort();
		},

		poll: pollInTurn,
	};
	return runner;
}
