import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type {
	HeldJob,
	Job,
	JobEnd,
	JobKind,
	JobOwner,
	JobRecord,
	JobRunKey,
	JobStore,
	Jobs,
	JobTakeover,
	UserStore,
} from '@stowage/plugin-api';
import { Failure, isFailure, truncateToBytes } from '@stowage/rules';
import { inContext } from '../context.js';
import type { HeardNotifications } from '../events/notifications.js';
import type { ProcessIdentity } from '../leases/processIdentity.js';
import type { DatabaseReserve } from '../limits/databaseReserve.js';
import { createKeyedMutex } from '../limits/keyedMutex.js';
import type { Log } from '../log.js';
import { JobRun } from './JobRun.js';
import { JobTeller } from './JobTeller.js';
import { jobLimits } from './jobLimits.js';

export interface JobService extends Jobs {
	/** Of one user or of all, the newest first. */
	listOf(userId?: string): Promise<JobRecord[]>;
	/** Asks for the end of anybody's job. Throws `notFound` for an unknown one. */
	cancelAny(id: string): Promise<void>;
	/** Begins to run jobs, of one kind only where it is named. A process that only looks at them never calls it. */
	begin(only?: string): void;
	/** Begins no further run and asks those under way to end; they go on after the restart, or fail, as their kinds say. */
	stop(): void;
	/** Stops, and waits for a while for the runs to end. */
	close(): Promise<void>;
	/** Looks once at what there is to do, here and for other processes. It does so by itself; resolves when what it began has been begun. */
	poll(): Promise<void>;
	/** Forgets old ones; resolves to how many. */
	sweep(): Promise<number>;
}

interface Dependencies {
	store: JobStore;
	users: Pick<UserStore, 'get'>;
	notifications: HeardNotifications;
	databaseReserve: Pick<DatabaseReserve, 'assertRoom'>;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a clock that nobody sets. */
	monotonic(): number;
	identity: ProcessIdentity;
	/** Hears of each job that ends here. */
	onEnd?(job: JobRecord, end: JobEnd): void;
}

type AnyKind = JobKind<unknown>;

/** What a run begins with, as JSON. */
interface Given {
	input: string;
	saved: string | null;
}

const noSuchJob = () => new Failure('notFound', 'There is no such job.');
const interrupted = 'The server ended while this was under way.';

/** Long work that survives its page, its session and the process; see docs/architecture.md. */
export function createJobs(parts: Dependencies): JobService {
	const { store, users, notifications, databaseReserve, log, now, monotonic, identity } = parts;
	const holder = identity.name;
	const kinds = new Map<string, AnyKind>();
	/** One start of a user after the other: they wait for each other in the database too, and would take all of its connections for that. */
	const exclusively = createKeyedMutex();
	const runs = new Map<string, JobRun>();
	/** What runs until it has ended, and what its end takes. */
	const settling = new Set<Promise<void>>();
	const waiting = new Map<string, Set<() => void>>();
	const closing = new AbortController();
	/** What a run does belongs to no request, whoever started it. */
	const inOwnContext = AsyncLocalStorage.snapshot();
	let hasBegun = false;
	let onlyKind: string | undefined;
	let timers: NodeJS.Timeout[] = [];
	let polling: Promise<void> | undefined;
	let isAskedAgain = false;
	let isAway = false;

	const jobOf = (record: JobRecord): Job => toJob(record, kinds);
	const teller = new JobTeller({
		notifications,
		monotonic,
		find: async (id) => runs.get(id)?.record ?? (await store.find(id)),
		jobOf,
		onFault: (error) => log.warn({ err: error }, 'a job event could not be published'),
	});

	const own = async (owner: JobOwner, id: string): Promise<JobRecord> => {
		const record = isJobId(id) ? await store.find(id) : undefined;
		if (record === undefined || record.userId !== owner.id) throw noSuchJob();
		return runs.get(id)?.record ?? record;
	};

	const assertInput = (input: string) => {
		if (Buffer.byteLength(input) > jobLimits.inputBytes)
			throw new Failure('tooLarge', 'This is too much for one job. Please do it in several parts.');
	};

	const boundsOf = ({ perUser }: AnyKind) => ({ jobs: perUser, bytes: jobLimits.userBytes });

	/** What waits for the end of this job looks again. */
	const wakeWaiting = (id: string) => {
		for (const wake of [...(waiting.get(id) ?? [])]) wake();
	};

	const settled = (error: unknown, run: JobRun, kind: AnyKind): JobEnd | 'requeue' => {
		if (run.isCancelled) return { status: 'cancelled', error: isOwnReason(error, run) ? null : sentenceOf(error) };
		if (run.signal.aborted) return kind.onRestart === 'fail' ? { status: 'failed', error: interrupted } : 'requeue';
		if (!isFailure(error))
			log.error({ err: error, job: run.key.id, kind: kind.name }, 'a job failed with an unexpected error');
		return {
			status: 'failed',
			error: sentenceOf(error) ?? 'Something went wrong. The administrator finds details in the log.',
		};
	};

	const outcomeOf = async (run: JobRun, kind: AnyKind, given: Given): Promise<JobEnd | 'requeue'> => {
		try {
			const result = await kind.run(run.contextOf(kind.input.parse(JSON.parse(given.input)), parsed(given.saved)));
			const detail = result === undefined ? null : JSON.stringify(result);
			const isTooLarge = detail !== null && Buffer.byteLength(detail) > jobLimits.detailBytes;
			if (isTooLarge) log.warn({ job: run.key.id, kind: kind.name }, 'the result of a job is too large to be stored');
			// What was told last is all of it. Where the database is away, the end is written for as long as that takes, and the progress is not worth a failure.
			await run.renew().catch(() => {});
			return { status: 'completed', error: null, detail: isTooLarge ? null : detail };
		} catch (error) {
			// How far it came stays with why it came no further, unless the database is away: the reason that is settled below is what counts.
			await run.renew().catch(() => {});
			return settled(error, run, kind);
		}
	};

	/** Writes the end until it is written, however long the database is away: work that is done is not to be done again. */
	const recordEnd = async (key: JobRunKey, outcome: JobEnd | 'requeue'): Promise<void> => {
		for (;;) {
			try {
				if (outcome === 'requeue') await store.requeue(key);
				else await store.end(key, outcome);
				return;
			} catch (error) {
				if (!isFailure(error, 'unavailable') && !isFailure(error, 'storageFull')) throw error;
				if (closing.signal.aborted) throw error;
				await wait(jobLimits.pollMs, closing.signal);
			}
		}
	};

	const execute = async (run: JobRun, kind: AnyKind, given: Given): Promise<void> => {
		const { id } = run.key;
		try {
			const outcome = await outcomeOf(run, kind, given);
			await recordEnd(run.key, outcome);
			if (outcome !== 'requeue') parts.onEnd?.(run.record, outcome);
		} catch (error) {
			log.error({ err: error, job: id }, 'the end of a job could not be saved: it runs again');
		} finally {
			// One that was lost may end after its job has begun here anew.
			if (runs.get(id) === run) runs.delete(id);
			teller.tell(id, run.owner.id);
			wakeWaiting(id);
			wake();
		}
	};

	const launch = (kind: AnyKind, run: JobRun, given: Given) => {
		runs.set(run.key.id, run);
		teller.tell(run.key.id, run.owner.id);
		const context = { job: { id: run.key.id, kind: kind.name, owner: run.owner } };
		const ended = inContext(context, execute, run, kind, given).finally(() => settling.delete(ended));
		settling.add(ended);
	};

	/** Frees what a process that is gone has left: back to the queue, or ended. */
	const takeOver = async (job: HeldJob, takeover: JobTakeover | undefined): Promise<void> => {
		const end = (): JobEnd | undefined => {
			const { isCancelRequested, onRestart, interruptions } = job;
			const isRepeated = interruptions >= jobLimits.interruptions;
			if (isCancelRequested && isRepeated) return { status: 'cancelled', error: null };
			if (isCancelRequested) return undefined;
			if (onRestart === 'fail') return { status: 'failed', error: interrupted };
			if (!isRepeated) return undefined;
			const error = `The server ended ${interruptions + 1} times while this was under way, so it is not tried again by itself.`;
			return { status: 'failed', error };
		};
		const ended = end();
		const isFreed = await (ended === undefined ? store.requeue(job, takeover) : store.end(job, ended, takeover));
		if (isFreed) log.warn({ job: job.id, kind: job.kind }, 'took over a job whose process no longer renews its lease');
	};

	/** Takes the next job of a kind into a slot, or only one that was cancelled. `taken` if another process was first, to the job or the slot. */
	const claimNext = async (
		kind: AnyKind,
		slot: string,
		wanted: 'any' | 'cancelled' = 'any',
		except: readonly string[] = [],
	): Promise<'begun' | 'none' | 'taken'> => {
		const next = closing.signal.aborted ? undefined : await store.next(kind.name, except);
		if (next === undefined || (wanted === 'cancelled' && !next.isCancelRequested)) return 'none';
		// Before the claim: while the database can't tell, nobody's job fails.
		const user = await users.get(next.userId);
		const key: JobRunKey = { id: next.id, holder, epoch: next.epoch + 1 };
		const askedAt = monotonic();
		const claimed = await store.claim(key, slot, jobLimits.leaseMs);
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
		const run = new JobRun({ key, record, owner, attempt }, askedAt, { store, monotonic, wait, onTooLarge });
		if (next.isCancelRequested) run.cancel();
		if (closing.signal.aborted) run.stop();
		launch(kind, run, { input, saved });
		return 'begun';
	};

	const slotsOf = ({ name, concurrency }: AnyKind) => Array.from({ length: concurrency }, (_, n) => `${name}#${n}`);

	/** Users of whom so many run that they leave room for others. */
	const usersWithEnough = (kind: AnyKind, held: readonly HeldJob[]): string[] => {
		const most = kind.runningPerUser ?? kind.concurrency;
		if (most >= kind.concurrency) return [];
		const elsewhere = held.filter((job) => job.kind === kind.name && !runs.has(job.id)).map(({ userId }) => userId);
		const here = [...runs.values()].filter(({ record }) => record.kind === kind.name).map(({ owner }) => owner.id);
		const counts = new Map<string, number>();
		for (const userId of [...elsewhere, ...here]) counts.set(userId, (counts.get(userId) ?? 0) + 1);
		return [...counts].filter(([, count]) => count >= most).map(([userId]) => userId);
	};

	/** Fills the free slots of all kinds, of which those of `held` were taken a moment ago. */
	const claimAll = async (held: readonly HeldJob[]): Promise<void> => {
		const taken = new Set(held.map((job) => job.slot));
		for (const kind of kinds.values()) {
			if (onlyKind !== undefined && kind.name !== onlyKind) continue;
			// Beside the others: it only drops what it had made, and its owner waits for that.
			const clearing = `${kind.name}#cancelled`;
			if (!taken.has(clearing)) await claimNext(kind, clearing, 'cancelled');
			for (const slot of slotsOf(kind)) {
				if (taken.has(slot)) continue;
				const outcome = await claimNext(kind, slot, 'any', usersWithEnough(kind, held));
				if (outcome === 'none') break;
				// Another process was first. It looks for the next one too, so there is no hurry.
				if (outcome === 'taken') isAskedAgain = true;
			}
		}
	};

	/** Runs of ours that are no longer ours or shall end, and those of processes that are gone. Resolves to what is held. */
	const lookAtHeld = async (): Promise<HeldJob[]> => {
		const before = new Set(runs.values());
		const held = await store.held(jobLimits.leaseMs);
		const found = new Map(held.map((job) => [job.id, job]));
		for (const run of before) {
			const job = found.get(run.key.id);
			if (job === undefined || job.holder !== holder || job.epoch !== run.key.epoch) run.lose();
			else if (job.isCancelRequested) run.cancel();
		}
		let hasFreed = false;
		for (const job of held) {
			if (job.holder === holder && runs.has(job.id)) continue;
			// Of a process that is surely gone nobody need wait for the lease to run out.
			const takeover = job.isExpired ? { leaseMs: jobLimits.leaseMs } : undefined;
			if (takeover === undefined && !(await identity.isGone(job.holder))) continue;
			await takeOver(job, takeover);
			hasFreed = true;
		}
		return hasFreed ? store.held(jobLimits.leaseMs) : held;
	};

	const beat = () => {
		for (const [id, run] of runs) {
			run.loseIfExpired();
			if (run.takeNews()) teller.tell(id, run.owner.id);
		}
		teller.flush();
	};

	/** One that can't be renewed must not keep the others. */
	const renewAll = async (): Promise<void> => {
		const renewals = await Promise.allSettled([...runs.values()].map((run) => run.renew()));
		for (const renewal of renewals) if (renewal.status === 'rejected') throw renewal.reason;
	};

	const pollOnce = async (): Promise<void> => {
		beat();
		await renewAll();
		const held = await lookAtHeld();
		await claimAll(held);
		if (teller.isHeard()) teller.tellChanges(await store.changed(teller.changesMs()), (id) => runs.has(id));
		for (const id of [...waiting.keys()]) wakeWaiting(id);
	};

	const poll = async (): Promise<void> => {
		try {
			await pollOnce();
			isAway = false;
		} catch (error) {
			if (!isAway) log.warn({ err: error }, 'the jobs could not be read from the database: trying again');
			isAway = true;
		}
	};

	/** One look at a time; asked meanwhile, it looks once more. */
	const pollInTurn = (): Promise<void> => {
		isAskedAgain = true;
		polling ??= inOwnContext(async () => {
			while (isAskedAgain) {
				isAskedAgain = false;
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

	const jobs: JobService = {
		define<Input>(kind: JobKind<Input>) {
			if (kinds.has(kind.name)) throw new Error(`Two plugins define the kind of job '${kind.name}'.`);
			// The input is parsed by its own schema before it is given to `run`.
			const known = kind as AnyKind;
			kinds.set(kind.name, known);
			return {
				async start(owner, input, title) {
					const text = JSON.stringify(input ?? null);
					assertInput(text);
					await databaseReserve.assertRoom(Buffer.byteLength(text));
					const id = randomBytes(16).toString('hex');
					const job = {
						...{ id, kind: kind.name, userId: owner.id, input: text, onRestart: kind.onRestart },
						title: shortened(title, jobLimits.titleBytes),
					};
					await exclusively(owner.id, () => store.add(job, boundsOf(known)));
					const started = jobOf(await own(owner, id));
					teller.tell(id, owner.id);
					wake();
					return started;
				},

				async find(owner, id) {
					const record = await own(owner, id);
					const input = record.kind === kind.name ? await store.input(id) : undefined;
					if (input === undefined) throw noSuchJob();
					return { job: jobOf(record), input: kind.input.parse(JSON.parse(input)) };
				},
			};
		},

		find: async (owner, id) => jobOf(await own(owner, id)),

		async list(owner) {
			const records = await jobs.listOf(owner.id);
			return records.map((record) => jobOf(runs.get(record.id)?.record ?? record));
		},

		async cancel(owner, id) {
			await own(owner, id);
			await jobs.cancelAny(id);
		},

		async retry(owner, id) {
			const record = await own(owner, id);
			const kind = kinds.get(record.kind);
			if (kind === undefined || !jobOf(record).canRetry) throw new Failure('conflict', 'This can’t be tried again.');
			await databaseReserve.assertRoom(0);
			const isQueued = await exclusively(owner.id, () => store.retry(id, boundsOf(kind)));
			if (!isQueued) throw new Failure('conflict', 'This can’t be tried again.');
			const job = jobOf(await own(owner, id));
			teller.tell(id, owner.id);
			wake();
			return job;
		},

		async waitForEnd(owner, id, waitMs) {
			const until = monotonic() + waitMs;
			for (;;) {
				// Before the look, or what ends meanwhile would be missed.
				const attention = new AbortController();
				const wake = () => attention.abort();
				waiting.set(id, (waiting.get(id) ?? new Set()).add(wake));
				try {
					const job = jobOf(await own(owner, id));
					if (job.endTime !== null) return job;
					const left = until - monotonic();
					if (left <= 0 || closing.signal.aborted) return undefined;
					await wait(left, AbortSignal.any([attention.signal, closing.signal]));
				} finally {
					waiting.get(id)?.delete(wake);
					if (waiting.get(id)?.size === 0) waiting.delete(id);
				}
			}
		},

		listOf: (userId) => store.list(jobLimits.keptEnded, userId),

		async cancelAny(id) {
			const record = isJobId(id) ? await store.find(id) : undefined;
			if (record === undefined) throw noSuchJob();
			await store.cancel(id);
			runs.get(id)?.cancel();
			teller.tell(id, record.userId);
			wakeWaiting(id);
		},

		begin(only) {
			if (hasBegun) return;
			hasBegun = true;
			onlyKind = only;
			timers = [setInterval(wake, jobLimits.pollMs).unref(), setInterval(beat, jobLimits.spacingMs).unref()];
			wake();
		},

		stop() {
			closing.abort();
			for (const run of runs.values()) run.stop();
		},

		async close() {
			jobs.stop();
			for (const timer of timers) clearInterval(timer);
			await polling;
			// What was claimed meanwhile.
			jobs.stop();
			const drained = new AbortController();
			await Promise.race([Promise.allSettled([...settling]), wait(jobLimits.drainMs, drained.signal)]);
			drained.abort();
		},

		poll: pollInTurn,

		sweep: () => store.sweep(now() - jobLimits.keptMs, jobLimits.keptEnded),
	};
	return jobs;
}

function toJob({ userId: _, hasInput, detail, ...job }: JobRecord, kinds: ReadonlyMap<string, AnyKind>): Job {
	return {
		...job,
		detail: detail === null ? null : JSON.parse(detail),
		canRetry: hasInput && ['failed', 'cancelled'].includes(job.status) && kinds.has(job.kind),
	};
}

function parsed(saved: string | null): unknown {
	return saved === null ? undefined : JSON.parse(saved);
}

/** Whatever else comes in an address is no id of ours, and need not be asked of a database. */
function isJobId(text: string): boolean {
	return /^[0-9a-f]{32}$/.test(text);
}

/** Whether a run ended by throwing what its signal gave it: that is no news to the owner. */
function isOwnReason(error: unknown, { signal }: JobRun): boolean {
	return error === signal.reason || (error instanceof Error && error.name === 'AbortError');
}

function sentenceOf(error: unknown): string | null {
	return isFailure(error) ? shortened(error.message, jobLimits.errorBytes) : null;
}

/** Cut with an ellipsis, and without what a database takes for the end of a text. */
function shortened(text: string, bytes: number): string {
	const plain = text.replaceAll('\0', '');
	const cut = truncateToBytes(plain, bytes);
	return cut === plain ? plain : `${truncateToBytes(plain, bytes - 3)}…`;
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
	try {
		await delay(ms, undefined, { signal });
	} catch (error) {
		if (!signal.aborted) throw error;
	}
}
