import type { Database } from '@stowage/database';
import type { Failure, Viewer } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import { rateLimited } from '../../limits/rateLimited.js';
import type { Log } from '../../log.js';
import type { ByteMeter } from '../../trees/space/metered.js';
import { assertPossible, type Limit, limitsOf, maxOf, type UploadAmount, type Windows } from './limitsOf.js';

interface Dependencies {
	config: Pick<Config, 'uploads'>;
	database: Pick<Database, 'limits'>;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
}

/** What was counted, in a window that ends then. */
interface Counted {
	key: string;
	amount: number;
	endsAt: number;
}

const hourMs = 60 * 60_000;

/** Bytes after which those that have arrived are counted, since a count is a write of the database; fewer where a limit is small. */
const stepBytes = { min: 64 * 1024, max: 8 * 1024 * 1024 };

/** Reports the progress of an upload. */
export interface UploadCounter {
	/** Counts bytes in steps as they arrive. */
	readonly bytes: ByteMeter;
	/** Counts this many files, with the rest of bytes below a step. */
	files(count: number): Promise<void>;
	/** Counts a file that was created in another way. */
	createdFile(bytes: number): Promise<void>;
}

/**
 * The limits of uploads in an hour, by visitors, by all of them together, and from any one address. Without a limit
 * nothing is counted.
 */
export class HourlyLimits {
	readonly #dependencies: Dependencies;

	constructor(dependencies: Dependencies) {
		this.#dependencies = dependencies;
	}

	/**
	 * Runs `work`, which counts what arrives; all is undone when it fails. Throws `tooLarge` for an amount that never
	 * fits and `rateLimited` for one that does not fit now, at once if the announced amount is too large already. An
	 * announcement alone is not counted.
	 */
	async counted<T>(
		viewer: Viewer,
		address: string,
		announced: UploadAmount,
		work: (counter: UploadCounter) => Promise<T>,
	): Promise<T> {
		await this.#assertRoom(this.#limitsOf(viewer, address, announced));
		const counted: Counted[] = [];
		const count = async (arrived: UploadAmount) => {
			counted.push(...(await this.#hit(this.#limitsOf(viewer, address, arrived))));
		};
		const steps = this.#batched(viewer, count);
		try {
			return await work({
				// The remainder of one file is counted with the next ones.
				bytes: { arrived: steps.arrived, ended: () => {} },
				files: steps.rest,
				createdFile: (bytes) => count({ files: 1, bytes }),
			});
		} catch (error) {
			for (const each of counted) await this.#release(each);
			throw error;
		}
	}

	/** Uncounts what was counted at this time, unless its hour is over. What it was counted for is done: it does not fail for this. */
	async giveBack(viewer: Viewer, address: string, amount: UploadAmount, countedAt: number): Promise<void> {
		const all = this.#limitsOf(viewer, address, amount);
		if (all.length === 0) return;
		const windows = await this.#find(all).catch((cause: unknown): Windows => {
			this.#warn(cause);
			return new Map();
		});
		for (const limit of all) {
			const window = windows.get(limit.key);
			if (window === undefined || countedAt < window.endsAt - hourMs) continue;
			await this.#release({ ...limit, endsAt: window.endsAt });
		}
	}

	/** Counts bytes as they arrive. They stay counted, also after a failure. */
	arriving(viewer: Viewer, address: string): ByteMeter {
		const hit = async (amount: UploadAmount) => void (await this.#hit(this.#limitsOf(viewer, address, amount)));
		const { arrived, rest } = this.#batched(viewer, hit);
		return { arrived, ended: () => rest(0) };
	}

	#limitsOf(viewer: Viewer, address: string, amount: UploadAmount): Limit[] {
		return limitsOf(this.#dependencies.config.uploads, viewer, address, amount);
	}

	async #assertRoom(all: readonly Limit[]): Promise<void> {
		if (all.length === 0) return;
		const windows = await this.#find(all);
		for (const limit of all) {
			assertPossible(limit);
			const window = windows.get(limit.key);
			if (window !== undefined && window.count + limit.amount > maxOf(limit, windows))
				throw this.#refusal(limit, window.endsAt);
		}
	}

	/** Counts all of them, or none and throws. */
	async #hit(all: readonly Limit[]): Promise<Counted[]> {
		if (all.length === 0) return [];
		const { database, now } = this.#dependencies;
		for (const limit of all) assertPossible(limit);
		const windows = all.some(({ visitorKey }) => visitorKey !== undefined) ? await this.#find(all) : new Map();
		const bounded = all.map((limit) => ({ ...limit, max: maxOf(limit, windows) }));
		const hits = await database.limits.hitAll(bounded, hourMs, now());
		if ('endsAt' in hits) return all.map(({ key, amount }) => ({ key, amount, endsAt: hits.endsAt.get(key) ?? 0 }));
		const { key: exceeded, endsAt } = hits.exceeded;
		throw this.#refusal(all.find(({ key }) => key === exceeded) as Limit, endsAt);
	}

	#find(all: readonly Limit[]): Promise<Windows> {
		const { database, now } = this.#dependencies;
		return database.limits.find(
			all.map(({ key }) => key),
			now(),
		);
	}

	/** The remaining count ends with its hour; the caller gets the reason why the upload failed. */
	async #release({ key, amount, endsAt }: Counted): Promise<void> {
		await this.#dependencies.database.limits.release(key, amount, endsAt).catch((cause: unknown) => this.#warn(cause));
	}

	#warn(cause: unknown): void {
		this.#dependencies.log.warn({ err: cause }, 'the hourly count of a failed upload could not be reversed');
	}

	#refusal({ visitorKey }: Limit, endsAt: number): Failure {
		return rateLimited(
			visitorKey !== undefined
				? 'Visitors have uploaded as much as they may in an hour. Please try again later.'
				: 'As much as may be uploaded in an hour was uploaded from here already.',
			endsAt,
			this.#dependencies.now(),
		);
	}

	#batched(viewer: Viewer, count: (arrived: UploadAmount) => Promise<void>) {
		const bounds = this.#limitsOf(viewer, '', { files: 0, bytes: 1 }).map(({ max }) => max / 8);
		const step = Math.floor(Math.max(stepBytes.min, Math.min(stepBytes.max, ...bounds)));
		let uncounted = 0;
		return {
			async arrived(bytes: number) {
				uncounted += bytes;
				// In steps, however much is waiting: a body that is still arriving is refused for the rest of the
				// hourly amount, not for its own size.
				while (uncounted >= step) {
					uncounted -= step;
					await count({ files: 0, bytes: step });
				}
			},
			/** Counts what is left below a step. */
			async rest(files: number) {
				const bytes = uncounted;
				uncounted = 0;
				await count({ files, bytes });
			},
		};
	}
}
