import type { Config } from '../config/schema.js';
import { workerCount } from '../config/workers.js';
import { type AuditClass, auditClasses } from './auditClasses.js';
import { writtenBefore } from './auditFolder.js';
import type { LineThrottle } from './createLineThrottle.js';

/** How often a process looks at what the others have written. */
const lookMs = 30_000;

/** Files of days that ended before that have no new lines. */
const recentMs = 60 * 60_000;

interface Options {
	config: Pick<Config, 'workers'>;
	folder: string;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
	/** Milliseconds of a monotonic clock. */
	monotonic(): number;
	/** Resolves when the lines of this process are in their files. */
	flush(): Promise<void>;
}

/** What all servers that have the folder in common write there: what one may write is less by what the others have written. */
export class WrittenByAll {
	readonly #options: Options;
	/** The sizes of the files at the last look. */
	readonly #sizes = new Map<string, number>();
	/** What this process has written since. */
	readonly #own = new Map<AuditClass, number>();
	#lookedAt: number;
	#looking: Promise<void> | undefined;

	constructor(options: Options) {
		this.#options = options;
		this.#lookedAt = options.monotonic();
	}

	/** Gives the budgets what the files have. */
	async begin(throttle: LineThrottle): Promise<void> {
		const { folder, now } = this.#options;
		await Promise.all(
			auditClasses.map(async (each) => {
				const written = await writtenBefore(folder, each, now());
				for (const { file, bytes } of written) this.#sizes.set(file, bytes);
				throttle.resume(each, written, now());
			}),
		);
	}

	addOwn(auditClass: AuditClass, bytes: number): void {
		this.#own.set(auditClass, (this.#own.get(auditClass) ?? 0) + bytes);
	}

	/** Looks at what the others have written unless that was done lately. Doesn't wait. */
	lookAfterAWhile(throttle: LineThrottle): void {
		const time = this.#options.monotonic();
		if (time - this.#lookedAt < lookMs || this.#looking !== undefined) return;
		this.#lookedAt = time;
		// A folder that can't be read now is looked at again: what has been written is counted then.
		this.#looking = this.#look(throttle).catch(() => undefined);
		void this.#looking.then(() => {
			this.#looking = undefined;
		});
	}

	/** Resolves when nothing is looked at. */
	async idle(): Promise<void> {
		await this.#looking;
	}

	async #look(throttle: LineThrottle): Promise<void> {
		const { config, folder, flush, now } = this.#options;
		await flush();
		// The last lines of a day may be written a moment after it.
		const since = now() - recentMs;
		for (const each of auditClasses) {
			const written = await writtenBefore(folder, each, now(), since);
			const own = this.#own.get(each) ?? 0;
			this.#own.set(each, 0);
			let all = 0;
			for (const { file, bytes } of written) {
				all += Math.max(0, bytes - (this.#sizes.get(file) ?? 0));
				this.#sizes.set(file, bytes);
			}
			// Each process of this server counts its part of what all have written.
			const others = all / workerCount(config) - own;
			if (others > 0) throttle.addOthers(each, others);
		}
	}
}
