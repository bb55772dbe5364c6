import type { Config } from '../config/schema.js';
import { workerCount } from '../config/workers.js';
import { type AuditClass, auditShares } from './auditClasses.js';

/** Parts of a class's share: how much may be written at once, and in all the time that lines are kept. */
interface Limit {
	burst: number;
	rate: number;
}

/** Of one origin: lines in detail, and the sums of what is above that. */
const originLimits = {
	lines: { burst: 1 / 100, rate: 1 / 8 },
	sums: { burst: 1 / 400, rate: 1 / 64 },
};

/**
 * Of all origins together, and the sums of many origins. In all less than the share, so that its oldest lines are removed by their age
 * only.
 */
const classLimits = {
	lines: { burst: 1 / 4, rate: 3 / 8 },
	sums: { burst: 1 / 16, rate: 1 / 16 },
	crowds: { burst: 1 / 16, rate: 1 / 16 },
};

/** So much may be written at once, however little the log may take. */
const minBurstBytes = 64 * 1024;

/**
 * Once this part of what all may write at once is used, it is divided among the origins: so that what is left lasts for
 * very many of them, however many have taken all that they could before.
 */
const freePart = 1 / 2;
const dividedPart = 1 / 20;

/** Above that the origin that has written nothing for longest is forgotten. */
const maxOrigins = 5_000;

/** How often the origins that have written anything lately are counted. */
const countMs = 60_000;

interface Rate {
	burst: number;
	perMs: number;
}

/**
 * How much the origins of events, that is accounts and addresses, may write into the audit log. What is above that is only counted in
 * sums.
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

	/** Whether an origin may write a line or a sum of this length now; then it counts. */
	take(of: AuditClass, part: 'lines' | 'sums', origin: string, bytes: number): boolean {
		const own = this.#rate(of, originLimits[part]);
		return this.#pool(of, part).takeFor(origin, bytes, own, this.#rate(of, classLimits[part]), this.#monotonic());
	}

	/** Whether a sum of many origins may be written now; then it counts. */
	takeCrowd(of: AuditClass, bytes: number): boolean {
		return this.#pool(of, 'crowds').take(bytes, this.#rate(of, classLimits.crowds), this.#monotonic());
	}

	/**
	 * Begins with what the class is known to have been written before, the oldest first: a server that is restarted each night would begin
	 * a new budget each night. `at` and `now` are times of day.
	 */
	resume(of: AuditClass, written: readonly { at: number; bytes: number }[], now: number): void {
		const parts = (['lines', 'sums', 'crowds'] as const).map((part) => ({
			pool: this.#pool(of, part),
			...this.#rate(of, classLimits[part]),
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

	#pool(of: AuditClass, part: keyof typeof classLimits): Pool {
		const name = `${of} ${part}`;
		const pool = this.#pools.get(name) ?? new Pool();
		this.#pools.set(name, pool);
		return pool;
	}

	#rate(of: AuditClass, { burst, rate }: Limit): Rate {
		const { maxSize, keepFor } = this.#config.audit;
		// Each process of the server has its part.
		const share = (maxSize * auditShares[of]) / workerCount(this.#config);
		return { burst: Math.max(minBurstBytes, share * burst), perMs: (share * rate) / Math.max(keepFor, 1) };
	}
}

/** What the origins of a class write together. */
class Pool {
	readonly #all = new Bucket();
	readonly #origins = new Map<string, Bucket>();
	/** Origins that have written anything lately, as counted last, and those that came since. */
	#active = 0;
	#countedAt = Number.NEGATIVE_INFINITY;

	/** What was written before the server began. */
	begin(bytes: number): void {
		this.#all.add(bytes);
	}

	take(bytes: number, limit: Rate, now: number): boolean {
		if (this.#all.usedAt(now, limit.perMs) + bytes > limit.burst) return false;
		this.#all.add(bytes);
		return true;
	}

	takeFor(origin: string, bytes: number, own: Rate, { burst, perMs }: Rate, now: number): boolean {
		const its = this.#originOf(origin);
		// What all get back is what these get back together: who has written much before does not count as new soon.
		const itsPerMs = () => Math.min(own.perMs, perMs / Math.max(this.#active, 1));
		this.#count(now, itsPerMs());
		const used = its.usedAt(now, itsPerMs());
		const active = this.#active + (used === 0 ? 1 : 0);
		const isPlenty = this.#all.usedAt(now, perMs) + bytes <= burst * freePart;
		const limit = isPlenty ? own.burst : Math.min(own.burst, (burst * dividedPart) / active);
		// The first line of an origin is written where there is any room.
		if (used > 0 && used + bytes > limit) return false;
		if (!this.take(bytes, { burst, perMs }, now)) return false;
		its.add(bytes);
		this.#active = active;
		return true;
	}

	#originOf(name: string): Bucket {
		const its = this.#origins.get(name) ?? new Bucket();
		this.#origins.delete(name);
		this.#origins.set(name, its);
		if (this.#origins.size > maxOrigins) this.#origins.delete(this.#origins.keys().next().value as string);
		return its;
	}

	#count(now: number, perMs: number): void {
		if (now - this.#countedAt < countMs) return;
		this.#countedAt = now;
		this.#active = 0;
		for (const its of this.#origins.values()) if (its.usedAt(now, perMs) > 0) this.#active++;
	}
}

/** What was written lately, less what has become free since. */
class Bucket {
	#used = 0;
	#at: number | undefined;

	usedAt(now: number, perMs: number): number {
		this.#used = Math.max(0, this.#used - (now - (this.#at ?? now)) * perMs);
		this.#at = now;
		return this.#used;
	}

	add(bytes: number): void {
		this.#used += bytes;
	}
}
