import type { Config } from '../config/schema.js';
import { workerCount } from '../config/workers.js';
import { type AuditClass, auditShares } from './auditClasses.js';

/** Parts of a class's share: how much may be written at once, and in all the time that lines are kept. */
interface Limit {
	burst: number;
	rate: number;
}

/** The limits of one source: for lines in detail, and for aggregates of what exceeds those. */
const sourceLimits = {
	lines: { burst: 1 / 100, rate: 1 / 8 },
	aggregates: { burst: 1 / 400, rate: 1 / 64 },
};

/**
 * The limits of all sources together, and of aggregates of many sources (`totals`). Their sum is less than the share,
 * so that its oldest lines are removed by their age only.
 */
const classLimits = {
	lines: { burst: 1 / 4, rate: 3 / 8 },
	aggregates: { burst: 1 / 16, rate: 1 / 16 },
	totals: { burst: 1 / 16, rate: 1 / 16 },
};

/** The least that may be written at once, however small the limit of the log is. */
const minBurstBytes = 64 * 1024;

/**
 * Once this part of what all may write at once is used, it is divided among the sources: so that what is left lasts for
 * very many of them, however many have taken all that they could before.
 */
const freePart = 1 / 2;
const dividedPart = 1 / 20;

/** How many times as much the networks of one site may write together as one of them; once it is divided, a site is one source. */
const siteFactor = 4;

/** The first line of a source is written where there is any room, if it is no longer. */
export const maxFirstBytes = 700;

/** The most sources, and networks of sites, that are remembered; the one that has written nothing for longest is forgotten first. */
const maxSources = 5_000;

/** How often the sources that have written anything lately are counted. */
const countMs = 60_000;

interface Rate {
	burst: number;
	perMs: number;
}

/**
 * Who may write: an account, or the address of a visitor. A customer may have very many networks of IPv6, which belong to one site; what
 * is of several of them is of the site itself.
 */
export interface LineSource {
	name: string;
	site?: string;
}

/**
 * How much the sources of events, that is accounts and addresses, may write into the audit log. What is above that is only counted in
 * aggregates.
 */
export class LineBudgets {
	readonly #config: Pick<Config, 'audit' | 'workers'>;
	readonly #monotonic: () => number;
	readonly #pools = new Map<string, Pool>();

	/** Spans are measured by `monotonic`, the milliseconds of a monotonic clock. */
	constructor(config: Pick<Config, 'audit' | 'workers'>, monotonic: () => number) {
		this.#config = config;
		this.#monotonic = monotonic;
	}

	/** Whether a source may write a line or an aggregate of this length now; then it counts, for its site too. */
	take(auditClass: AuditClass, part: 'lines' | 'aggregates', source: LineSource, bytes: number): boolean {
		const own = this.#rate(auditClass, sourceLimits[part]);
		return this.#pool(auditClass, part).takeFor(
			source,
			bytes,
			own,
			this.#rate(auditClass, classLimits[part]),
			this.#monotonic(),
		);
	}

	/** Whether an aggregate of many sources may be written now; then it counts. */
	takeTotal(auditClass: AuditClass, bytes: number): boolean {
		return this.#pool(auditClass, 'totals').take(bytes, this.#rate(auditClass, classLimits.totals), this.#monotonic());
	}

	/**
	 * Begins with what the class is known to have been written before, the oldest first: a server that is restarted each night would begin
	 * a new budget each night. `at` and `now` are times of day.
	 */
	resume(auditClass: AuditClass, written: readonly { at: number; bytes: number }[], now: number): void {
		const parts = (['lines', 'aggregates', 'totals'] as const).map((part) => ({
			pool: this.#pool(auditClass, part),
			...this.#rate(auditClass, classLimits[part]),
		}));
		const perMs = parts.reduce((sum, part) => sum + part.perMs, 0);
		const burst = parts.reduce((sum, part) => sum + part.burst, 0);
		let used = 0;
		let since = 0;
		for (const { at, bytes } of [...written, { at: now, bytes: 0 }]) {
			used = Math.max(0, used - Math.max(0, at - since) * perMs) + bytes / workerCount(this.#config);
			since = at;
		}
		// Which part a line was of is not known.
		for (const part of parts) part.pool.begin(Math.min(used / burst, 1) * part.burst);
	}

	/** What others have written meanwhile counts for all, and for no source. */
	addOthers(auditClass: AuditClass, bytes: number): void {
		const parts = (['lines', 'aggregates', 'totals'] as const).map((part) => ({
			pool: this.#pool(auditClass, part),
			...this.#rate(auditClass, classLimits[part]),
		}));
		const burst = parts.reduce((sum, part) => sum + part.burst, 0);
		// Which part a line was of is not known.
		for (const part of parts) part.pool.addOthers((bytes * part.burst) / burst, part, this.#monotonic());
	}

	#pool(auditClass: AuditClass, part: keyof typeof classLimits): Pool {
		const name = `${auditClass} ${part}`;
		const pool = this.#pools.get(name) ?? new Pool();
		this.#pools.set(name, pool);
		return pool;
	}

	#rate(auditClass: AuditClass, { burst, rate }: Limit): Rate {
		const { maxSize, keepFor } = this.#config.audit;
		// Each process of the server has its part.
		const share = (maxSize * auditShares[auditClass]) / workerCount(this.#config);
		return { burst: Math.max(minBurstBytes, share * burst), perMs: (share * rate) / Math.max(keepFor, 1) };
	}
}

/** What the sources of a class write together. */
class Pool {
	readonly #all = new Bucket();
	/** Accounts, addresses and sites. */
	readonly #sources = new Map<string, Bucket>();
	readonly #networksOfSites = new Map<string, Bucket>();
	/** Sources that have written anything lately, as counted last, and those that came since. */
	#active = 0;
	#countedAt = Number.NEGATIVE_INFINITY;

	/** What was written before the server began. */
	begin(bytes: number): void {
		this.#all.add(bytes);
	}

	/** What others have written meanwhile: never above what all may write at once, so that it is not paid for twice as long. */
	addOthers(bytes: number, { burst, perMs }: Rate, now: number): void {
		const used = this.#all.usedAt(now, perMs);
		this.#all.add(Math.max(0, Math.min(bytes, burst - used)));
	}

	take(bytes: number, limit: Rate, now: number): boolean {
		if (this.#all.usedAt(now, limit.perMs) + bytes > limit.burst) return false;
		this.#all.add(bytes);
		return true;
	}

	takeFor({ name, site }: LineSource, bytes: number, own: Rate, { burst, perMs }: Rate, now: number): boolean {
		// What all get back is what these get back together: who has written much before does not count as new soon.
		const usedOf = (bucket: Bucket) =>
			bucket.usedAt(now, Math.min(own.perMs * bucket.factor, perMs / Math.max(this.#active, 1)));
		this.#count(now, usedOf);
		const whole = site ?? name;
		const known = this.#sources.get(whole);
		const its = known ?? new Bucket(site === undefined ? 1 : siteFactor);
		const used = usedOf(its);
		const active = this.#active + (used === 0 ? 1 : 0);
		const isPlenty = this.#all.usedAt(now, perMs) + bytes <= burst * freePart;
		const hasRoom = (bucket: Bucket) => {
			const most = own.burst * bucket.factor;
			return usedOf(bucket) + bytes <= (isPlenty ? most : Math.min(most, (burst * dividedPart) / active));
		};
		// While those that have written are forgotten, whoever comes may be one of them.
		const [oldest] = known === undefined && this.#sources.size >= maxSources ? this.#sources.values() : [];
		const isFirst = used === 0 && bytes <= maxFirstBytes && (oldest === undefined || usedOf(oldest) === 0);
		const network = name === whole ? undefined : (this.#networksOfSites.get(name) ?? new Bucket());
		if (!isFirst && !(hasRoom(its) && (network === undefined || hasRoom(network)))) return false;
		if (!this.take(bytes, { burst, perMs }, now)) return false;
		its.add(bytes);
		network?.add(bytes);
		remember(this.#sources, whole, its);
		if (network !== undefined) remember(this.#networksOfSites, name, network);
		this.#active = active;
		return true;
	}

	#count(now: number, usedOf: (bucket: Bucket) => number): void {
		if (now - this.#countedAt < countMs) return;
		this.#countedAt = now;
		let active = 0;
		for (const its of this.#sources.values()) if (usedOf(its) > 0) active++;
		this.#active = active;
	}
}

/** Puts a bucket at the end: those that have written nothing for longest are the first, and the first to be forgotten. */
function remember(buckets: Map<string, Bucket>, name: string, its: Bucket): void {
	buckets.delete(name);
	buckets.set(name, its);
	if (buckets.size > maxSources) buckets.delete(buckets.keys().next().value as string);
}

/** What was written lately, less what has become free since. */
class Bucket {
	/** How many times as much it has as the bucket of one source. */
	readonly factor: number;
	#used = 0;
	#at: number | undefined;

	constructor(factor = 1) {
		this.factor = factor;
	}

	usedAt(now: number, perMs: number): number {
		this.#used = Math.max(0, this.#used - (now - (this.#at ?? now)) * perMs);
		this.#at = now;
		return this.#used;
	}

	add(bytes: number): void {
		this.#used += bytes;
	}
}
