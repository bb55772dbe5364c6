import { randomInt } from 'node:crypto';
import type { HeldJob, JobChoice, JobStore } from '@stowage/plugin-api';
import type { JobPauses } from '../JobPauses.js';
import type { JobPlace, JobRun } from '../runs/JobRun.js';
import type { AnyKind } from '../runs/runToEnd.js';
import type { Suspect, Suspects } from '../Suspects.js';
import type { JobRuns, WaitingJob } from './JobRuns.js';

interface Dependencies {
	store: JobStore;
	runs: JobRuns;
	/** The kinds that begin in this process. */
	kinds(): readonly AnyKind[];
	/** Jobs that are passed over for the moment. */
	pauses: Pick<JobPauses, 'ids'>;
	/** Whether jobs that need a capability wait for it, or for another process. */
	isAwaited(capability: string): boolean;
	suspects(): Suspects;
	/** Called when another process was first. That one also looks for the next job, so there is no hurry. */
	onTaken(): void;
}

/** Which waiting job begins in which free place. */
export class JobClaims {
	readonly #parts: Dependencies;
	/** The suspects of whom a job was tried here, the latest last. */
	readonly #tried = new Set<string>();
	/** The network whose job was the last to begin here in each group of places. */
	readonly #served = new Map<string, string>();
	/** The groups of places in which a job on trial was the last to begin here. */
	readonly #triedIn = new Set<string>();

	constructor(parts: Dependencies) {
		this.#parts = parts;
	}

	/** Fills the free slots of all kinds; the slots of `held` were taken at the last read. */
	async claimAll(held: readonly HeldJob[]): Promise<void> {
		const { store, runs, kinds, onTaken } = this.#parts;
		const taken = this.#takenSlots(held);
		// Mostly none: one query instead of some for each kind.
		const waiting = await store.waitingKinds();
		for (const kind of kinds()) {
			const suspects = this.#parts.suspects();
			if (!waiting.has(kind.name) || suspects.kindHold(kind.name) !== undefined) continue;
			const suspected = suspects.usersOf(kind.name);
			// Not counted: it only removes its partial results, which needs no capability, and its owner waits for that.
			const cleanup = `${kind.name}#cancelled`;
			const cancelled = async () => {
				const next = await store.next(kind.name, { except: suspected });
				return next?.isCancelRequested ? next : undefined;
			};
			if (!taken.has(cleanup)) await runs.begin(kind, { slot: cleanup }, cancelled);
			if (this.#isAwaited(kind)) continue;
			const fill = async (
				group: Places,
				enough: () => Enough,
				find: (choice: JobChoice) => Promise<WaitingJob | undefined>,
			) => {
				for (const place of group.places) {
					if (taken.has(place.slot)) continue;
					let network = '';
					const outcome = await runs.begin(kind, place, async () => {
						const next = await this.#nextIn(group, enough(), suspected, find);
						network = next?.network ?? '';
						return next;
					});
					if (outcome === 'none') break;
					if (outcome === 'taken') {
						onTaken();
						continue;
					}
					this.#triedIn.delete(group.name);
					this.#served.set(group.name, network);
				}
			};
			await fill(
				placesOf(kind),
				() => this.#enough(kind, held),
				(choice) => this.#nextOf(kind, choice),
			);
			await fill(
				shortPlacesOf(kind),
				() => this.#enoughShort(kind, held),
				(choice) => this.#next(kind.name, { ...choice, isLong: false }),
			);
			await this.#yieldOverdue(kind, held);
		}
	}

	/**
	 * Begins one job that may have ended a process, or one of the same user and kind. No other such job begins in any process while it is on
	 * trial, so that the one which ends processes is known. Suspects take turns, or one with jobs without end would be tried for ever; and
	 * together they take turns with all others, who come first where one was tried last and a single place is free. Resolves to whether one
	 * was begun.
	 */
	async tryOne(held: readonly HeldJob[], when: 'beforeOthers' | 'afterOthers'): Promise<boolean> {
		const { runs, kinds } = this.#parts;
		const suspects = this.#parts.suspects();
		const taken = this.#takenSlots(held);
		for (const suspect of this.#inTurns(suspects.inOrder())) {
			const kind = kinds().find(({ name }) => name === suspect.kind);
			if (kind === undefined || this.#isAwaited(kind) || suspects.holdOf(suspect) !== undefined) continue;
			const tryIn = async ({ name, places }: Places, isLong?: false) => {
				const choice = { userId: suspect.userId, ...(isLong === undefined ? {} : { isLong }) };
				const [place, another] = places.filter(({ slot }) => !taken.has(slot));
				const isTurnOfOthers = this.#triedIn.has(name) && another === undefined;
				if (place === undefined || isTurnOfOthers !== (when === 'afterOthers')) return false;
				const outcome = await runs.begin(kind, place, () => this.#next(kind.name, choice), 'trial');
				if (outcome === 'none') return false;
				this.#tried.delete(keyOf(suspect));
				this.#tried.add(keyOf(suspect));
				this.#triedIn.add(name);
				return true;
			};
			if (await tryIn(placesOf(kind))) return true;
			if (await tryIn(shortPlacesOf(kind), false)) return true;
		}
		return false;
	}

	/** The suspects in the order in which they are tried: those who were tried here come last, the latest of them at the end. */
	#inTurns(suspects: readonly Suspect[]): Suspect[] {
		const byKey = new Map(suspects.map((each) => [keyOf(each), each]));
		for (const key of this.#tried) if (!byKey.has(key)) this.#tried.delete(key);
		const tried = [...this.#tried].map((key) => byKey.get(key)).filter((each) => each !== undefined);
		return [...suspects.filter((each) => !this.#tried.has(keyOf(each))), ...tried];
	}

	/** `held` was read before what has begun here since. */
	#takenSlots(held: readonly HeldJob[]): ReadonlySet<string> {
		return new Set([...held.map((job) => job.slot), ...this.#parts.runs.all.map(({ place }) => place.slot)]);
	}

	#isAwaited({ needs }: AnyKind): boolean {
		return needs !== undefined && this.#parts.isAwaited(needs.capability);
	}

	/** The next job that is not passed over, nor one of those that are to begin elsewhere. */
	#next(kind: string, choice: JobChoice, elsewhere: readonly WaitingJob[] = []): Promise<WaitingJob | undefined> {
		const exceptJobs = [...this.#parts.pauses.ids(), ...elsewhere.map(({ id }) => id)];
		return this.#parts.store.next(kind, { ...choice, exceptJobs });
	}

	/**
	 * The next job for one of these places: users with enough are passed over, and networks with enough where another one waits. Many people
	 * may have one address, so no place stays empty for a network that does not wait.
	 */
	async #nextIn(
		{ name }: Places,
		{ users, networks }: Enough,
		except: readonly string[],
		find: (choice: JobChoice) => Promise<WaitingJob | undefined>,
	): Promise<WaitingJob | undefined> {
		// No name is always the first one after a start.
		const after = this.#served.get(name) ?? `${randomInt(1, 256)}.`;
		const choice = { except: [...except, ...users], after };
		const ofAnother = networks.length === 0 ? undefined : await find({ ...choice, exceptNetworks: networks });
		return ofAnother ?? find(choice);
	}

	/** Those with so many running jobs that the other places are left to others. */
	#enough(kind: AnyKind, held: readonly HeldJob[]): Enough {
		return this.#enoughIn(placesOf(kind), kind.runningPerUser ?? kind.concurrency, held);
	}

	/** Those with so many running jobs in places for short ones that another one is left to others. */
	#enoughShort(kind: AnyKind, held: readonly HeldJob[], changes?: Changes): Enough {
		const short = shortPlacesOf(kind);
		const count = short.places.length;
		const limit = kind.runningPerUser === undefined ? count : Math.max(1, count - 1);
		return this.#enoughIn(short, limit, held, changes);
	}

	/** Those with `limit` running jobs in the places; none where there are no more places. */
	#enoughIn({ places }: Places, limit: number, held: readonly HeldJob[], changes = noChanges): Enough {
		const { runs } = this.#parts;
		if (limit >= places.length) return { users: [], networks: [] };
		const slots = new Set(places.map(({ slot }) => slot));
		const elsewhere = held.filter((job) => slots.has(job.slot) && runs.find(job.id) === undefined);
		const here = runs.all.filter((run) => slots.has(run.place.slot) && !changes.leaving.includes(run));
		const running = [
			...[...elsewhere, ...changes.following].map(({ userId, network }) => ({ userId, network })),
			...here.map(({ owner, network }) => ({ userId: owner.id, network })),
		];
		return {
			users: frequent(
				running.map(({ userId }) => userId),
				limit,
			),
			networks: frequent(
				running.map(({ network }) => network),
				limit,
			),
		};
	}

	/** The next job for a place of any length: short jobs have places of their own, so long ones come first. */
	async #nextOf({ name, short }: AnyKind, choice: JobChoice): Promise<WaitingJob | undefined> {
		const long = short === undefined ? undefined : await this.#next(name, { ...choice, isLong: true });
		return long ?? this.#next(name, choice);
	}

	/**
	 * Gives back places for short jobs that have been taken for too long, each of them for a job of its own that waits and may begin in it.
	 */
	async #yieldOverdue(kind: AnyKind, held: readonly HeldJob[]): Promise<void> {
		if (kind.onRestart === 'fail') return;
		const short = this.#parts.runs.all.filter(
			({ record, place }) => record.kind === kind.name && place.shortSeconds !== undefined,
		);
		const overdue = short.filter((run) => !run.signal.aborted && run.isOverdue());
		if (overdue.length === 0) return;
		const suspected = this.#usersWhoCannotBegin(kind, held);
		// Those that end already, which may take them a while, make room first. One that does not end is no room for a waiting job.
		const ending = short.filter((run) => run.isLeaving());
		const leaving = [...ending];
		const following: WaitingJob[] = [];
		for (const run of [...ending, ...overdue]) {
			const enough = this.#enoughShort(kind, held, { leaving: [...leaving, run], following });
			const next = await this.#nextIn(shortPlacesOf(kind), enough, suspected, (choice) =>
				this.#next(kind.name, { ...choice, isLong: false }, following),
			);
			if (next === undefined) continue;
			following.push(next);
			leaving.push(run);
			if (!run.signal.aborted) run.yield();
		}
	}

	/** Suspects whose jobs would not begin in a free place: they are on hold, or another one is tried. */
	#usersWhoCannotBegin({ name }: AnyKind, held: readonly HeldJob[]): string[] {
		const suspects = this.#parts.suspects();
		const isTried = held.some(({ isOnTrial }) => isOnTrial) || this.#parts.runs.all.some((run) => run.isOnTrial);
		return suspects.usersOf(name).filter((userId) => isTried || suspects.holdOf({ userId, kind: name }) !== undefined);
	}
}

const keyOf = ({ userId, kind }: Suspect) => `${userId} ${kind}`;

/** Whose running jobs are so many that another place is left to others. */
interface Enough {
	users: readonly string[];
	networks: readonly string[];
}

/** Those that are there so many times at least. */
function frequent(keys: readonly string[], times: number): string[] {
	const counts = new Map<string, number>();
	for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
	return [...counts].filter(([, count]) => count >= times).map(([key]) => key);
}

/** What is counted as if it had happened: these runs have ended, and these jobs run. */
interface Changes {
	leaving: readonly JobRun[];
	following: readonly WaitingJob[];
}

const noChanges: Changes = { leaving: [], following: [] };

/** Places that are filled with the same jobs. */
interface Places {
	name: string;
	places: JobPlace[];
}

const placesOf = ({ name, concurrency }: AnyKind): Places => ({
	name,
	places: Array.from({ length: concurrency }, (_, n) => ({ slot: `${name}#${n}` })),
});

const shortPlacesOf = ({ name, short }: AnyKind): Places => ({
	name: `${name}#short`,
	places: Array.from({ length: short?.places ?? 0 }, (_, n) => ({
		slot: `${name}#short${n}`,
		shortSeconds: short?.seconds ?? 0,
	})),
});
