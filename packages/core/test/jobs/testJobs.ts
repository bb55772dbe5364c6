import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Database, openDatabase } from '@stowage/database';
import type { JobContext, JobKind, JobOwner, JobRunKey, JobStore, Notification } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import { z } from 'zod';
import { currentContext } from '../../src/context.js';
import { createNotifications } from '../../src/events/notifications.js';
import type { SiblingEvents } from '../../src/events/SiblingEvents.js';
import { createJobs, type JobService } from '../../src/jobs/createJobs.js';
import { createLog } from '../../src/log.js';

type Teardown = { teardown(end: () => Promise<void>): void };

/** The job runner of a process; a test has several in one. Nothing runs by itself: each `poll` stands for one second's. */
export interface TestJobs {
	jobs: JobService;
	/** Subscribes to the notifications for the owner's pages; the returned list collects them. */
	notificationsOf(owner: JobOwner): Notification[];
	/** The jobs of whose end it has said something, each with whose that was. */
	ended: string[];
	/** Stops it as a stopping server does: its runs are aborted, then awaited. */
	close(): Promise<void>;
}

export interface Bench {
	database: Database;
	/** Moves the clocks of all processes and of the database. */
	advance(ms: number): void;
	/** Sets the clock of the database by so many milliseconds, and that of the processes by which they show times. */
	setClock(ms: number): void;
	/** Whether jobs may not begin, in any process. */
	setPaused(isPaused: boolean): void;
	addUser(name: string): Promise<JobOwner>;
	/** `lacks` are the capabilities that it lacks, and waits for unless they are `givenUp`. */
	process(lacks?: ReadonlySet<string>, givenUp?: ReadonlySet<string>, siblings?: SiblingEvents): TestJobs;
	/** From now on `hasEnded` is true for the identity of the n-th process, counted from 0. */
	markGone(n: number): void;
}

/** A real database, and processes that share it. */
export async function jobBench(t: Teardown): Promise<Bench> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-jobs-'));
	const clock = { now: Date.UTC(2030, 0, 1), monotonic: 1000, isPaused: false };
	const now = () => clock.now;
	const database = await openDatabase(`sqlite:${folder}/stowage.db`, { now });
	const ends: (() => Promise<void>)[] = [];
	const gone = new Set<string>();
	t.teardown(async () => {
		for (const end of ends) await end();
		await database.close();
		await rm(folder, { recursive: true, force: true });
	});
	return {
		database,
		advance(ms) {
			clock.now += ms;
			clock.monotonic += ms;
		},
		setClock(ms) {
			clock.now += ms;
		},
		setPaused(isPaused) {
			clock.isPaused = isPaused;
		},
		markGone: (n) => void gone.add(`process ${n}`),
		async addUser(username) {
			const { id } = await database.users.add({ username, secret: 's' });
			return { kind: 'user', id, username };
		},
		process(lacks = new Set(), givenUp = new Set(), siblings) {
			const notifications = createNotifications();
			const ended: string[] = [];
			const jobs = createJobs({
				...{ store: database.jobs, users: database.users, notifications, log: createLog('silent') },
				...{ databaseReserve: { assertRoom: async () => {} }, now, monotonic: () => clock.monotonic },
				mayBegin: () => !clock.isPaused,
				...(siblings === undefined ? {} : { siblings }),
				capabilities: {
					isOffered: (name) => !lacks.has(name),
					isAwaited: (name) => lacks.has(name) && !givenUp.has(name),
				},
				onEnd({ title }, { status }) {
					const owner = currentContext()?.job?.owner;
					ended.push(`${title} ${status} ${owner?.kind === 'user' ? owner.username : ''}`);
				},
				identity: { name: `process ${ends.length}`, hasEnded: async (name) => gone.has(name), canTell: () => true },
			});
			ends.push(() => jobs.close());
			return {
				jobs,
				ended,
				notificationsOf(owner) {
					const items: Notification[] = [];
					notifications.subscribe({ userId: owner.id }, (item) => items.push(item));
					return items;
				},
				close: () => jobs.close(),
			};
		},
	};
}

/** A run that has started and waits until the test ends it. */
export interface HeldRun {
	context: JobContext<string>;
	finish(result?: Record<string, unknown>): void;
	fail(error: unknown): void;
}

/** Private work of a run, which lasts until the test ends it. */
export interface PrivateWork {
	context: JobContext<string>;
	finish(): void;
	/** Whether the run went on after it. */
	hasGoneOn: boolean;
}

/** A kind whose runs do private work that waits for the test. */
export function privateKind() {
	const runs: PrivateWork[] = [];
	const kind: JobKind<string> = {
		...{ name: 'test', input: z.string(), onRestart: 'resume', concurrency: 2, perUser: 10 },
		async run(context) {
			const work: PrivateWork = { context, finish: () => {}, hasGoneOn: false };
			await context.privately(
				() =>
					new Promise<void>((resolve, reject) => {
						work.finish = resolve;
						context.signal.addEventListener('abort', () => reject(context.signal.reason));
						runs.push(work);
					}),
			);
			work.hasGoneOn = true;
			return {};
		},
	};
	return { kind, runs };
}

/** The database is away or full for these processes, or for all of them, until the result is called. */
export function breakJobs(
	store: JobStore,
	kind: 'unavailable' | 'storageFull',
	holders?: readonly string[],
): () => void {
	const { listHeld, listInterruptions, renew, checkpoint, claim, requeue, end } = store;
	const whole = { listHeld, listInterruptions, renew, checkpoint, claim, requeue, end };
	const failure = () => new Failure(kind, 'The database is not available right now.');
	const broken =
		<Args extends unknown[], T>(method: (run: JobRunKey, ...args: Args) => Promise<T>) =>
		async (run: JobRunKey, ...args: Args): Promise<T> => {
			if (holders?.includes(run.holder) ?? true) throw failure();
			return method(run, ...args);
		};
	const refuse = async () => {
		throw failure();
	};
	Object.assign(store, {
		...{ renew: broken(renew), checkpoint: broken(checkpoint), claim: broken(claim) },
		// With the key of this run others take its job over.
		...(holders === undefined ? { requeue: broken(requeue), end: broken(end) } : {}),
		...(kind === 'unavailable' && holders === undefined ? { listHeld: refuse, listInterruptions: refuse } : {}),
	});
	return () => void Object.assign(store, whole);
}

/** A kind whose runs wait for the test. They fail with their signal's reason when it aborts, unless `ignoresSignal`. */
export function heldKind(more: Partial<JobKind<string>> & { ignoresSignal?: boolean } = {}) {
	const runs: HeldRun[] = [];
	const { ignoresSignal = false, ...changes } = more;
	const kind: JobKind<string> = {
		...{ name: 'test', input: z.string(), onRestart: 'resume', concurrency: 2, perUser: 10 },
		run: (context) =>
			new Promise((resolve, reject) => {
				runs.push({ context, finish: resolve, fail: reject });
				if (!ignoresSignal) context.signal.addEventListener('abort', () => reject(context.signal.reason));
				if (!ignoresSignal && context.signal.aborted) reject(context.signal.reason);
			}),
		...changes,
	};
	return { kind, runs };
}
