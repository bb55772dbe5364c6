import type { HeldJob, JobEnd, JobOwner, JobRecord, JobRunKey, JobStore, UserStore } from '@stowage/plugin-api';
import { runInContext } from '../../context.js';
import type { Log } from '../../log.js';
import type { JobPublisher } from '../JobPublisher.js';
import { jobLimits } from '../jobLimits.js';
import { type JobPlace, JobRun } from '../runs/JobRun.js';
import { type AnyKind, isEnd, type JobPause, recordEnd, runToEnd, type StoredInput } from '../runs/runToEnd.js';
import { waitOrAborted } from '../waitOrAborted.js';

export interface RunDependencies {
	store: JobStore;
	users: Pick<UserStore, 'get'>;
	publisher: JobPublisher;
	log: Log;
	/** The identity of this process. */
	holder: string;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** Whether a capability has been lacking for so long that jobs wait for it no more. */
	isGivenUp(capability: string): boolean;
	/** Called with the id of each job that may have changed. */
	onChange(id: string): void;
	/** Called with each job that ends here, or that this process ends for another one. */
	onEnd: ((job: JobRecord, end: JobEnd) => void) | undefined;
	/** Called with each job of which a run here lacked something for the moment, before it is queued again. */
	onPause(id: string, pause: JobPause): void;
	/** Removes what a job has left that has ended without a run of its own. Never throws. */
	discard(job: EndedJob): Promise<void>;
	/** Called when a place has become free. */
	onFree(): void;
	/** Fires when no further run begins. */
	stopping: AbortSignal;
	/** Fires when those that are under way are waited for no longer. */
	giveUp: AbortSignal;
}

/** A job that needs no more of its record. */
export type EndedJob = Pick<JobRecord, 'id' | 'userId' | 'kind'>;

/** A job that a place is for. */
export type WaitingJob = NonNullable<Awaited<ReturnType<JobStore['next']>>>;

/** The runs of jobs in this process. */
export class JobRuns {
	readonly #parts: RunDependencies;
	readonly #byId = new Map<string, JobRun>();
	/** The runs under way, until all of their end is recorded. */
	readonly #pending = new Set<Promise<void>>();

	constructor(parts: RunDependencies) {
		this.#parts = parts;
	}

	/** The run of a job in this process. */
	find(id: string): JobRun | undefined {
		return this.#byId.get(id);
	}

	get all(): readonly JobRun[] {
		return [...this.#byId.values()];
	}

	/** Claims the job of a kind that is next for a place. `taken` if another process was first, for the job or the place. */
	async begin(
		kind: AnyKind,
		place: JobPlace,
		find: () => Promise<WaitingJob | undefined>,
		trial?: 'trial',
	): Promise<'begun' | 'none' | 'taken'> {
		const { store, users, holder, monotonic, stopping } = this.#parts;
		const next = stopping.aborted ? undefined : await find();
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
			const end = next.isCancelRequested ? ({ status: 'cancelled', error: null } as const) : failed;
			if (await store.end(key, end)) this.endedWithoutRun({ ...record, ...end });
			return 'taken';
		}
		const owner: JobOwner = { kind: 'user', id: user.id, username: user.username };
		const { network } = next;
		const started = { key, record, owner, network, attempt, place, isOnTrial: trial !== undefined };
		const run = new JobRun(started, requestedAt, this.#runParts(key, kind));
		if (next.isCancelRequested) run.cancel();
		if (stopping.aborted) run.stop();
		this.#launch(kind, run, { input, saved });
		return 'begun';
	}

	#runParts(key: JobRunKey, kind: AnyKind): ConstructorParameters<typeof JobRun>[2] {
		const { store, log, monotonic, giveUp } = this.#parts;
		const onTooLarge = () =>
			log.warn({ job: key.id, kind: kind.name }, 'the progress detail of a job is too large to be stored');
		return {
			store,
			monotonic,
			wait: waitOrAborted,
			giveUp,
			longAfterSeconds: kind.short?.seconds ?? Number.POSITIVE_INFINITY,
			onTooLarge,
		};
	}

	#launch(kind: AnyKind, run: JobRun, given: StoredInput): void {
		const { id } = run.key;
		this.#byId.set(id, run);
		this.#parts.publisher.publish(id, run.owner.id);
		const context = { job: { id, kind: kind.name, owner: run.owner, network: run.network } };
		const execute = () => this.#execute(run, kind, given);
		const ended = runInContext(context, execute).finally(() => this.#pending.delete(ended));
		this.#pending.add(ended);
	}

	async #execute(run: JobRun, kind: AnyKind, given: StoredInput): Promise<void> {
		const { store, publisher, log, onChange, onPause, onEnd, onFree, stopping, giveUp } = this.#parts;
		const { id } = run.key;
		try {
			const outcome = await runToEnd(run, kind, given, this.#parts);
			if (typeof outcome !== 'string' && !isEnd(outcome)) onPause(id, outcome);
			// One that goes on does so as well by itself.
			await recordEnd(store, run.key, outcome, isEnd(outcome) ? giveUp : stopping);
			if (isEnd(outcome)) onEnd?.(run.record, outcome);
		} catch (error) {
			log.error({ err: error, job: id }, 'the end of a job could not be saved: it runs again');
		} finally {
			// A lost run may end after its job has begun here again.
			if (this.#byId.get(id) === run) this.#byId.delete(id);
			publisher.publish(id, run.owner.id);
			onChange(id);
			onFree();
		}
	}

	/**
	 * A job has ended, here or elsewhere, without a run that says so: removes what a cancelled one has left. Nothing waits for that but the
	 * process's end.
	 */
	endedWithoutRun(job: JobRecord): void {
		const ended = this.#reportEnd(job).finally(() => this.#pending.delete(ended));
		this.#pending.add(ended);
	}

	async #reportEnd(job: JobRecord): Promise<void> {
		const { users, discard, onEnd, log } = this.#parts;
		const { id, userId, kind, status, error } = job;
		if (status === 'cancelled') await discard(job);
		if (status === 'queued' || status === 'processing') return;
		try {
			const user = await users.get(userId);
			if (user === undefined) return;
			const owner: JobOwner = { kind: 'user', id: userId, username: user.username };
			runInContext({ job: { id, kind, owner } }, () => onEnd?.(job, { status, error }));
		} catch (cause) {
			log.warn({ err: cause, job: id }, 'the end of a job could not be reported');
		}
	}

	/** Publishes what has changed, and ends the runs whose leases have expired. */
	beat(): void {
		const { publisher } = this.#parts;
		for (const [id, run] of this.#byId) {
			run.loseIfExpired();
			if (run.takeChangedProgress()) publisher.publish(id, run.owner.id);
		}
		publisher.flush();
	}

	/** Renews all leases. A renewal that fails must not stop the others. */
	async renew(): Promise<void> {
		const renewals = await Promise.allSettled(
			this.all.map(async (run) => {
				await run.renew();
				await run.endTrial();
			}),
		);
		for (const renewal of renewals) if (renewal.status === 'rejected') throw renewal.reason;
	}

	/** Ends those of `before` that this process does not hold any more by the database, and those that are to be cancelled. */
	compare(before: readonly JobRun[], held: readonly HeldJob[]): void {
		const found = new Map(held.map((job) => [job.id, job]));
		for (const run of before) {
			const job = found.get(run.key.id);
			if (job === undefined || job.holder !== this.#parts.holder || job.epoch !== run.key.epoch) run.lose();
			else if (job.isCancelRequested) run.cancel();
		}
	}

	stop(): void {
		for (const run of this.#byId.values()) run.stop();
	}

	/** Resolves when all have ended. */
	async drained(): Promise<void> {
		await Promise.allSettled([...this.#pending]);
	}
}
