import type { Config } from '../config/schema.js';
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
const leastBurstBytes = 64 * 1024;

/** Above that the origin that has written nothing for longest is forgotten. */
const maxOrigins = 10_000;

interface Rate {
	burst: number;
	perMs: number;
}

/**
 * How much the origins of events, that is accounts and addresses, may write into the audit log. What is above that is only counted in
 * sums.
 */
export class LineBudgets {
	readonly #config: Pick<Config, 'audit'>;
	readonly #monotonic: () => number;
	readonly #classes = new Map<string, Bucket>();
	readonly #origins = new Map<string, Bucket>();

	/** Spans are measured by `monotonic`, the milliseconds of a monotonic clock. */
	constructor(config: Pick<Config, 'audit'>, monotonic: () => number) {
		this.#config = config;
		this.#monotonic = monotonic;
	}

	/** Whether an origin may write a line or a sum of this length now; then it counts. */
	take(of: AuditClass, part: 'lines' | 'sums', origin: string, bytes: number): boolean {
		const its = this.#originOf(`${of} ${part} ${origin}`);
		if (!its.hasRoom(bytes, this.#rate(of, originLimits[part]), this.#monotonic())) return false;
		if (!this.#takeOfClass(of, part, bytes)) return false;
		its.take(bytes);
		return true;
	}

	/** Whether a sum of many origins may be written now; then it counts. */
	takeCrowd(of: AuditClass, bytes: number): boolean {
		return this.#takeOfClass(of, 'crowds', bytes);
	}

	#takeOfClass(of: AuditClass, part: keyof typeof classLimits, bytes: number): boolean {
		const name = `${of} ${part}`;
		const bucket = this.#classes.get(name) ?? new Bucket();
		this.#classes.set(name, bucket);
		if (!bucket.hasRoom(bytes, this.#rate(of, classLimits[part]), this.#monotonic())) return false;
		bucket.take(bytes);
		return true;
	}

	#rate(of: AuditClass, { burst, rate }: Limit): Rate {
		const { maxSize, keepFor } = this.#config.audit;
		const share = maxSize * auditShares[of];
		return { burst: Math.max(leastBurstBytes, share * burst), perMs: (share * rate) / Math.max(keepFor, 1) };
	}

	#originOf(name: string): Bucket {
		const bucket = this.#origins.get(name) ?? new Bucket();
		this.#origins.delete(name);
		this.#origins.set(name, bucket);
		if (this.#origins.size > maxOrigins) this.#origins.delete(this.#origins.keys().next().value as string);
		return bucket;
	}
}

/** What was written lately, less what has become free since. */
class Bucket {
	#used = 0;
	#at: number | undefined;

	hasRoom(bytes: number, { burst, perMs }: Rate, now: number): boolean {
		this.#used = Math.max(0, this.#used - (now - (this.#at ?? now)) * perMs);
		this.#at = now;
		return this.#used + bytes <= burst;
	}

	take(bytes: number): void {
		this.#used += bytes;
	}
}
