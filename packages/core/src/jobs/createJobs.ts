import type {
	Job,
	JobEnd,
	JobHold,
	JobKind,
	JobOwner,
	JobRecord,
	JobStore,
	Jobs,
	UserStore,
} from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { ObservableNotifications } from '../events/notifications.js';
import { SiblingEvents } from '../events/SiblingEvents.js';
import { noSiblings } from '../events/siblings.js';
import type { LiveProcesses } from '../leases/LiveProcesses.js';
import type { ProcessIdentity } from '../leases/processIdentity.js';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import { createKeyedMutex } from '../limits/keyedMutex.js';
import type { Log } from '../log.js';
import { JobHolds } from './JobHolds.js';
import { JobPauses } from './JobPauses.js';
import { JobPublisher } from './JobPublisher.js';
import { JobWaiters } from './JobWaiters.js';
import { jobDetail } from './jobDetail.js';
import { jobLimits } from './jobLimits.js';
import { boundsOf, jobStarter, noSuchJob } from './jobStarter.js';
import { createJobRunner } from './runner/createJobRunner.js';
import type { EndedJob } from './runner/JobRuns.js';
import type { AnyKind, JobPause } from './runs/runToEnd.js';
import { Suspects } from './Suspects.js';

export interface JobService extends Jobs {
	/** The JSON of each job of its owner, as `list` has them, made one after the other as they are taken. */
	texts(owner: JobOwner): AsyncGenerator<string>;
	/** The jobs of one user or of all, the newest first, each with the reason why it waits. */
	listOf(userId?: string): Promise<(JobRecord & Pick<Job, 'hold'>)[]>;
	/**
	 * Lets jobs go on that wait since a process ended: of a user, of a kind, or of both. Resolves to how many interruptions were forgotten.
	 */
	release(choice: { userId?: string; kind?: string }): Promise<number>;
	/**
	 * Cancels any user's job, for the administrator. Resolves to the job as it was, and whether that changed anything. Throws `notFound`
	 * for an unknown one.
	 */
	cancelAny(id: string): Promise<{ job: JobRecord; isChanged: boolean }>;
	/**
	 * Queues any user's failed or cancelled job again, for the administrator. Throws `notFound` for an unknown one, otherwise as `retry`.
	 * Resolves to the job as it was.
	 */
	retryAny(id: string): Promise<JobRecord>;
	/** Begins to run jobs, optionally of one kind only. A process that only reads them never calls it. */
	begin(only?: string): void;
	/** Starts no further run and stops those under way; they continue after the restart, or fail, depending on their kinds. */
	stop(): void;
	/** Stops, and waits for a while for the runs to end. */
	close(): Promise<void>;
	/** Polls once for work, here and for other processes. It also does so by itself; resolves when the work it found has been started. */
	poll(): Promise<void>;
	/** Removes ended jobs beyond the latest of each user and, by age, old ones; resolves to how many. */
	sweep(choice: { byAge: boolean }): Promise<number>;
}

interface Dependencies {
	store: JobStore;
	users: Pick<UserStore, 'get'>;
	notifications: ObservableNotifications;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	identity: ProcessIdentity;
	/** One of these processes polls, and all of them tell each other of their changes. */
	siblings?: SiblingEvents;
	/** Whether jobs may begin in this process. */
	mayBegin(): boolean;
	/** Whether what jobs need is there. */
	capabilities: Pick<LiveProcesses, 'isOffered' | 'isAwaited'>;
	/** Called with each job that ends here, or that this process ends for another one. */
	onEnd?(job: JobRecord, end: JobEnd): void;
}

const siblingKind = 'job';
const obstacleKind = 'job obstacle';
const pauseKind = 'job pause';

const administratorsJob = (action: 'cancel' | 'retry') =>
	new Failure('forbidden', `The administrator has started this, and only the administrator can ${action} it.`);

/** Long work that survives its page, its session and the process; see docs/architecture.md. */
export function createJobs(parts: Dependencies): JobService {
	const { store, users, notifications, databaseReserve, log, now, monotonic, identity, mayBegin } = parts;
	const siblings = parts.siblings ?? new SiblingEvents(noSiblings);
	const kinds = new Map<string, AnyKind>();
	const exclusively = createKeyedMutex();
	const waiters = new JobWaiters(monotonic);
	const pauses = new JobPauses(monotonic);
	const holds = new JobHolds({
		pauses,
		kinds,
		mayBegin,
		isOffered: (name) => parts.capabilities.isOffered(name),
		now,
		monotonic,
	});
	const jobOf = (record: JobRecord): Job => toJob(record, kinds, holds.find(record, runner.suspects()));
	const publisher = new JobPublisher({
		notifications,
		monotonic,
		find: async (id) => runner.find(id)?.record ?? (await store.find(id)),
		jobOf,
		onPublish: (id, userId) => siblings.send(`job ${id}`, { kind: siblingKind, id, userId }),
		onError: (error) => log.warn({ err: error }, 'a job event could not be published'),
	});

	const findAny = async (id: string): Promise<JobRecord> => {
		const record = isJobId(id) ? await store.find(id) : undefined;
		if (record === undefined) throw noSuchJob();
		return record;
	};

	const findOwn = async (owner: JobOwner, id: string): Promise<JobRecord> => {
		const record = await findAny(id);
		if (record.userId !== owner.id) throw noSuchJob();
		return runner.find(id)?.record ?? record;
	};

	/** Removes what a job has left that has ended without a run of its own. */
	const discard = async ({ id, userId, kind }: EndedJob): Promise<void> => {
		try {
			const saved = await store.checkpointOf(id);
			const user = saved === undefined ? undefined : await users.get(userId);
			if (saved === undefined || user === undefined) return;
			await kinds.get(kind)?.discard?.(JSON.parse(saved), { kind: 'user', id: userId, username: user.username });
		} catch (error) {
			log.warn(
				{ err: error, job: id, kind },
				'the files that a cancelled job had left could not be removed: they are swept later',
			);
		}
	};

	const pauseEverywhere = (id: string, pause: JobPause) => {
		pauses.begin(id, pause);
		siblings.send(`${pauseKind} ${id}`, { kind: pauseKind, id, ...pause });
	};

	const runner = createJobRunner({
		...{ store, users, kinds, publisher, identity, log, monotonic, mayBegin },
		pauses,
		isAwaited: (capability) => parts.capabilities.isAwaited(capability),
		isGivenUp: (capability) => !parts.capabilities.isOffered(capability) && !parts.capabilities.isAwaited(capability),
		isPolling: () => siblings.isLeader,
		onChange: (id) => waiters.notify(id),
		onPolled(obstacle) {
			holds.noteFullDisk(obstacle !== undefined);
			if (obstacle !== undefined) siblings.send(obstacleKind, { kind: obstacleKind });
		},
		onPause: pauseEverywhere,
		discard,
		onEnd: parts.onEnd,
	});
	siblings.onLead(() => runner.wake());
	siblings.on(obstacleKind, () => holds.noteFullDisk(true));
	siblings.on(pauseKind, (message) => {
		const { id, ms, reason } = message as unknown as { id: string } & JobPause;
		pauses.begin(id, { ms, reason });
	});
	siblings.on(siblingKind, (message) => {
		const { id, userId } = message as unknown as { id: string; userId: string };
		// Another process has cancelled it, perhaps.
		if (runner.find(id) !== undefined) return runner.wake();
		publisher.publishHere(id, userId);
		waiters.notify(id);
	});

	const retry = async (record: JobRecord): Promise<void> => {
		const { id, userId } = record;
		const kind = kinds.get(record.kind);
		if (kind === undefined || !isRetriable(record)) throw new Failure('conflict', 'This can’t be tried again.');
		await databaseReserve.assertRoom(0);
		const isQueued = await exclusively(userId, () => store.retry(id, boundsOf(kind, record)));
		if (!isQueued) throw new Failure('conflict', 'This can’t be tried again.');
		pauseEverywhere(id, { reason: '', ms: 0 });
		publisher.publish(id, userId);
		runner.wake();
	};

	const jobs: JobService = {
		define<Input>(kind: JobKind<Input>) {
			if (kinds.has(kind.name)) throw new Error(`Two plugins define the kind of job '${kind.name}'.`);
			// The input is parsed by its own schema before it is passed to `run`.
			kinds.set(kind.name, kind as AnyKind);
			return jobStarter(kind, { store, databaseReserve, publisher, runner, exclusively, findOwn, jobOf });
		},

		async find(owner, id) {
			await runner.refreshSuspects();
			return jobOf(await findOwn(owner, id));
		},

		async list(owner) {
			await runner.refreshSuspects();
			const records = await store.list(jobLimits.keptEnded, owner.id);
			return records.map((record) => jobOf(runner.find(record.id)?.record ?? record));
		},

		async *texts(owner) {
			await runner.refreshSuspects();
			for (const listed of await store.list(jobLimits.keptEnded, owner.id)) {
				const record = runner.find(listed.id)?.record ?? listed;
				const { detail: _, ...job } = jobOf({ ...record, detail: null });
				// The details are a JSON text already.
				yield `${JSON.stringify(job).slice(0, -1)},"detail":${record.detail}}`;
			}
		},

		async cancel(owner, id) {
			const { isOrdered, endTime } = await findOwn(owner, id);
			if (isOrdered && endTime === null) throw administratorsJob('cancel');
			await jobs.cancelAny(id);
		},

		async retry(owner, id) {
			const record = await findOwn(owner, id);
			if (record.isOrdered) throw administratorsJob('retry');
			await retry(record);
			return jobOf(await findOwn(owner, id));
		},

		waitForEnd(owner, id, waitMs) {
			const read = async () => {
				const job = jobOf(await findOwn(owner, id));
				return job.endTime === null ? undefined : job;
			};
			return waiters.firstResult(id, read, { waitMs, stopping: runner.stopping });
		},

		async listOf(userId) {
			const records = await store.list(jobLimits.keptEnded, userId);
			const suspects = new Suspects(await store.listInterruptions());
			return records.map((record) => ({ ...record, hold: holds.find(record, suspects) }));
		},

		async release(choice) {
			const released = await store.forgetInterruptions(choice);
			runner.wake();
			return released;
		},

		async cancelAny(id) {
			const record = await findAny(id);
			const { userId, kind, isOrdered, status } = record;
			const isChanged = await store.cancel(id);
			if (isChanged && status === 'queued') {
				// To begin it once more, for its cleanup, may end the process again.
				if (!isOrdered && new Suspects(await store.listInterruptions()).has({ userId, kind })) await store.cancel(id);
				// Also one of which this was asked before, and whose cleanup has not begun.
				if ((await store.find(id))?.status === 'cancelled') await discard(record);
			}
			runner.find(id)?.cancel();
			publisher.publish(id, userId);
			waiters.notify(id);
			return { job: record, isChanged };
		},

		async retryAny(id) {
			const record = await findAny(id);
			const user = await users.get(record.userId);
			if (user === undefined) throw new Failure('conflict', 'Its user is no longer there.');
			if (user.isDisabled) throw new Failure('conflict', `${user.username} is disabled.`);
			await retry(record);
			return record;
		},

		begin: runner.begin,
		stop: runner.stop,
		close: runner.close,
		poll: runner.poll,

		sweep: ({ byAge }) => store.sweep(byAge ? now() - jobLimits.keptMs : 0, jobLimits.keptEnded),
	};
	return jobs;
}

function toJob(record: JobRecord, kinds: ReadonlyMap<string, AnyKind>, hold: JobHold | null): Job {
	const { userId: _, hasInput: __, isOrdered, ...job } = record;
	return {
		...job,
		detail: jobDetail(record),
		canRetry: !isOrdered && isRetriable(record) && kinds.has(job.kind),
		canCancel: !isOrdered && job.endTime === null,
		hold,
	};
}

function isRetriable({ hasInput, status }: JobRecord): boolean {
	return hasInput && ['failed', 'cancelled'].includes(status);
}

/** Any other text is no id of a job, and is not queried. */
function isJobId(text: string): boolean {
	return /^[0-9a-f]{32}$/.test(text);
}
