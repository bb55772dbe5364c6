import type { HeldJob, JobHold, JobInterruption, JobRecord } from '@stowage/plugin-api';
import { jobLimits } from './jobLimits.js';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** How long interrupted jobs wait after the first, second ... unclean end of a process in a series. */
const pauses = [0, 30_000, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs] as const;

/** Ends that are closer together than this are a series. */
const seriesMs = hourMs;

/**
 * Processes that end in this time end by one cause, such as a power cut that all workers of a server share, or all nodes of a cluster:
 * of these the leases run out one after another.
 */
const togetherMs = jobLimits.leaseMs;

/** After so many unclean ends with jobs of a user and kind all of these wait, a day first and longer if it happens again. */
const userEnds = 3;
const userHoldsMs = [dayMs, 3 * dayMs] as const;

/** After so many unclean ends in a day with jobs of one kind, of so many users, all jobs of the kind wait. */
const kindEnds = 6;
const kindUsers = 3;

/** Times of the database beyond this ahead were recorded while the clock was wrong. */
const skewMs = minuteMs;

/** The jobs of a user and kind, of which one may have ended a process. */
export interface Suspect {
	userId: string;
	kind: string;
}

/** What is known from interruptions: whose jobs run one at a time, and which of them wait for how long. */
export class Suspects {
	readonly #interruptions: readonly JobInterruption[];
	/** The interruptions that count, for suspicion or for how often a process has ended. */
	readonly #counted: readonly JobInterruption[];
	/** Jobs that have passed a trial since they were interrupted last. */
	readonly #passed: ReadonlySet<string>;
	readonly #now: number;

	/** `interruptions` with the latest first, as the store lists them. */
	constructor({ interruptions, now }: { interruptions: readonly JobInterruption[]; now: number }) {
		this.#interruptions = interruptions.filter(({ at }) => at <= now + skewMs);
		this.#now = now;
		const latest = new Map<string, JobInterruption>();
		for (const each of this.#interruptions) if (!latest.has(each.jobId)) latest.set(each.jobId, each);
		// One that ends a process again had passed by chance, or too soon.
		this.#passed = new Set([...latest.values()].filter(({ hasPassed }) => hasPassed).map(({ jobId }) => jobId));
		this.#counted = this.#interruptions.filter((each) => !this.#isPast(each));
	}

	/** Users whose jobs of this kind are run one at a time. */
	usersOf(kind: string): string[] {
		const users = new Set(this.#counted.filter((each) => each.kind === kind).map(({ userId }) => userId));
		return [...users].filter((userId) => this.has({ userId, kind }));
	}

	has(suspect: Suspect): boolean {
		const own = this.#of(suspect);
		return own.some(this.#isOpen) || this.#holdOfUser(own) !== undefined;
	}

	/** How many unclean ends a job was part of: it runs in one process at a time. */
	endsOf(jobId: string): number {
		return new Set(this.#counted.filter((each) => each.jobId === jobId).map(({ holder }) => holder)).size;
	}

	/** Whether a process counts as ended without giving its jobs back. */
	knows(holder: string): boolean {
		return this.#interruptions.some((each) => each.holder === holder);
	}

	/** Whether the ended process is known to have had a job on trial. */
	hadTrial(holder: string): boolean {
		return this.#interruptions.some((each) => each.holder === holder && each.wasTrial);
	}

	/** The suspects in the order in which they are tried after a start: users whose jobs ran at many unclean ends come last. */
	inOrder(): Suspect[] {
		const byKey = new Map(this.#counted.map(({ userId, kind }) => [`${userId} ${kind}`, { userId, kind }]));
		const suspects = [...byKey.values()].filter((each) => this.has(each));
		const weights = new Map<string, number>();
		for (const { userId } of suspects)
			weights.set(userId, this.#weightOf(this.#counted.filter((each) => each.userId === userId)));
		return suspects.sort((a, b) => (weights.get(a.userId) ?? 0) - (weights.get(b.userId) ?? 0));
	}

	/** Why jobs of this user and kind wait now. Nothing where only a trial is under way, or the administrator has ordered them. */
	holdOf({ userId, kind }: Suspect): JobHold | undefined {
		const own = this.#of({ userId, kind });
		// One that is cut off again and again fails; a home must not stay blocked for a day.
		if (own.length > 0 && own.every(({ isOrdered }) => isOrdered)) return undefined;
		return this.#holdOfUser(own) ?? this.kindHold(kind) ?? (own.some(this.#isOpen) ? this.#pause() : undefined);
	}

	/** Why all jobs of a kind wait. */
	kindHold(kind: string): JobHold | undefined {
		const all = this.#counted.filter((each) => each.kind === kind && !each.isOrdered);
		const recent = all.filter(({ at }) => at > this.#now - dayMs);
		const users = new Set(recent.map(({ userId }) => userId));
		if (this.#weightOf(recent) < kindEnds || users.size < kindUsers) return undefined;
		const reason = `The server ended unexpectedly ${endsIn(recent)} times while such jobs ran. All of them wait for the administrator.`;
		return this.#until(recent, dayMs, reason);
	}

	#holdOfUser(own: readonly JobInterruption[]): JobHold | undefined {
		const weight = this.#weightOf(own);
		if (weight < userEnds) return undefined;
		const span = userHoldsMs[Math.min(Math.floor(weight) - userEnds, userHoldsMs.length - 1)] ?? dayMs;
		const reason = `The server ended unexpectedly ${endsIn(own)} times while such jobs of yours ran. They wait for the administrator.`;
		return this.#until(own, span, reason);
	}

	#pause(): JobHold | undefined {
		const series: JobInterruption[] = [];
		for (const each of this.#counted) {
			const later = series.at(-1);
			if (later !== undefined && later.at - each.at > seriesMs) break;
			series.push(each);
		}
		const span = pauses[Math.min(endsIn(series), pauses.length) - 1] ?? 0;
		const reason = 'The server ended unexpectedly while this or a similar job ran. It continues after a pause.';
		return this.#until(this.#counted, span, reason);
	}

	#until(since: readonly JobInterruption[], span: number, reason: string): JobHold | undefined {
		const until = (since[0]?.at ?? 0) + span;
		return until > this.#now ? { reason, until } : undefined;
	}

	/** Whether its job may still be what ended the process. */
	readonly #isOpen = ({ jobId }: JobInterruption): boolean => !this.#passed.has(jobId);

	/**
	 * How many unclean ends these are. One of which all jobs have passed counts half: what a job works on can be exchanged for something
	 * harmless before its trial, and back after it.
	 */
	#weightOf(interruptions: readonly JobInterruption[]): number {
		return (endsIn(interruptions) + endsIn(interruptions.filter(this.#isOpen))) / 2;
	}

	/**
	 * Whether it counts no more: its job has passed a day ago, or was cancelled, or has failed, so that nothing shows any more whether that
	 * ended the process, and no further one has ended in a day. Not after as many ends as a hold takes, or those could be repeated day by
	 * day.
	 */
	#isPast(interruption: JobInterruption): boolean {
		const { hasEnded, at, userId, kind } = interruption;
		if (at > this.#now - dayMs) return false;
		if (!this.#isOpen(interruption)) return true;
		if (!hasEnded) return false;
		const own = this.#interruptions.filter(
			(each) => each.userId === userId && each.kind === kind && this.#isOpen(each),
		);
		return endsIn(own) < userEnds && own.every((each) => each.at <= this.#now - dayMs);
	}

	#of({ userId, kind }: Suspect): JobInterruption[] {
		return this.#counted.filter((each) => each.userId === userId && each.kind === kind);
	}
}

/** Why a waiting job waits, beside for a free place. */
export function holdOf(job: Pick<JobRecord, 'userId' | 'kind' | 'status'>, suspects: Suspects): JobHold | null {
	if (job.status !== 'queued') return null;
	const hold = suspects.holdOf(job);
	if (hold !== undefined) return hold;
	if (!suspects.has(job)) return null;
	const reason = 'The server ended unexpectedly while this or a similar job ran. Such jobs run one after another.';
	return { reason, until: null };
}

/**
 * The jobs of an ended process that may have ended it: the one on trial, if there was one, and those that had begun shortly before;
 * otherwise all but those that had run for an hour, which are more likely to be innocent, as after a power cut.
 */
export function suspectsAmong(held: readonly HeldJob[], hadTrial: boolean): readonly HeldJob[] {
	const isTried = hadTrial || held.some(({ isOnTrial }) => isOnTrial);
	const maxMs = isTried ? jobLimits.trialMs : hourMs;
	return held.filter(({ isOnTrial, ranMs }) => isOnTrial || ranMs < maxMs);
}

/**
 * How often something ended the server, or a process of it. Processes that ended together count once. One that had a job on trial counts
 * by itself: a trial follows an earlier end, maybe at once.
 */
function endsIn(interruptions: readonly JobInterruption[]): number {
	const processes = new Map<string, { at: number; wasTrial: boolean }>();
	for (const { holder, at, wasTrial } of interruptions) {
		const found = processes.get(holder);
		processes.set(holder, {
			at: Math.min(found?.at ?? at, at),
			wasTrial: wasTrial || found?.wasTrial === true,
		});
	}
	let ends = 0;
	let since = Number.NEGATIVE_INFINITY;
	for (const { at, wasTrial } of [...processes.values()].sort((a, b) => a.at - b.at)) {
		if (!wasTrial && at - since <= togetherMs) continue;
		ends++;
		since = at;
	}
	return ends;
}
