import type { Database } from '@stowage/database';
import { Failure, type Viewer } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import { limitAddress } from '../../http/requests/proxy.js';
import { createKeyedMutex } from '../../limits/keyedMutex.js';
import { rateLimited } from '../../limits/rateLimited.js';
import type { Log } from '../../log.js';
import type { ByteMeter } from '../../trees/metered.js';

interface Dependencies {
	config: Pick<Config, 'uploads'>;
	database: Database;
	log: Log;
	now(): number;
}

/** An amount that arrives, or is announced. */
export interface Amount {
	files: number;
	bytes: number;
}

interface Limit {
	key: string;
	max: number;
	amount: number;
	/** Whether all visitors share it. */
	isOfAll?: boolean;
}

const hourMs = 60 * 60_000;

/** Bytes after which those that have arrived are counted, since a count is a write of the database; fewer where a limit is small. */
const stepBytes = { most: 8 * 1024 * 1024, least: 64 * 1024 };

/** Reports the progress of an upload. */
export interface UploadCounter {
	/** Counts bytes in steps as they arrive. */
	readonly bytes: ByteMeter;
	/** Counts this many files, with the rest of bytes below a step. */
	files(count: number): Promise<void>;
	/** Counts a file that was created in another way. */
	createdFile(bytes: number): Promise<void>;
}

/** The limits of uploads in an hour, by visitors, by all of them together, and from any one address. Without a limit nothing is counted. */
export interface UploadLimits {
	/**
	 * Runs `work`, which counts what arrives; all is undone when it fails. Throws `tooLarge` for an amount that never fits and `rateLimited` for one that does not fit now,
	 * at once if the announced amount is too large already. An announcement alone is not counted.
	 */
	counted<T>(
		viewer: Viewer,
		address: string,
		announced: Amount,
		work: (counter: UploadCounter) => Promise<T>,
	): Promise<T>;
	/** Counts bytes as they arrive. They stay counted, also after a failure. */
	arriving(viewer: Viewer, address: string): ByteMeter;
	/**
	 * Runs `begin`, after which an upload is known as unfinished. Throws `rateLimited` above the limit of a visitor, also when many begin at once. Other processes are
	 * not seen here: `begin` gets the maximum number of rows, if there is one.
	 */
	beginUnfinished<T>(viewer: Viewer, address: string, begin: (maxRows?: number) => Promise<T>): Promise<T>;
	/** The same for a form, which is unfinished until `work` has ended. */
	whileUnfinished<T>(viewer: Viewer, address: string, work: () => Promise<T>): Promise<T>;
}

export function createUploadLimits({ config: { uploads }, database, log, now }: Dependencies): UploadLimits {
	const isBounded = (viewer: Viewer) => uploads.anonymousUnfinished > 0 && viewer.kind === 'anonymous';
	/** Forms of visitors under way, by address. */
	const forms = new Map<string, number>();
	const exclusively = createKeyedMutex();

	const limitsFor = (viewer: Viewer, address: string, { files, bytes }: Amount): Limit[] => {
		const from = limitAddress(address);
		const all: Limit[] = [
			{ key: `upload files ${from}`, max: uploads.addressFilesPerHour, amount: files },
			{ key: `upload bytes ${from}`, max: uploads.addressBytesPerHour, amount: bytes },
		];
		if (viewer.kind === 'anonymous') {
			all.push(
				{ key: `upload files visitor ${from}`, max: uploads.anonymousFilesPerHour, amount: files },
				{ key: `upload bytes visitor ${from}`, max: uploads.anonymousBytesPerHour, amount: bytes },
				{ key: 'upload files visitors', max: uploads.anonymousTotalFilesPerHour, amount: files, isOfAll: true },
				{ key: 'upload bytes visitors', max: uploads.anonymousTotalBytesPerHour, amount: bytes, isOfAll: true },
			);
		}
		return all.filter(({ max, amount }) => max > 0 && amount > 0);
	};

	const assertPossible = ({ amount, max }: Limit) => {
		if (amount > max) throw new Failure('tooLarge', 'This upload is larger than what may be uploaded in an hour.');
	};
	const refuseNow = ({ isOfAll }: Limit, endsAt: number) =>
		rateLimited(
			isOfAll === true
				? 'Visitors have uploaded as much as they may in an hour. Please try again later.'
				: 'As much as may be uploaded in an hour was uploaded from here already.',
			endsAt,
			now(),
		);
	const assertRoom = async (all: readonly Limit[]): Promise<void> => {
		if (all.length === 0) return;
		const windows = await database.limits.find(
			all.map(({ key }) => key),
			now(),
		);
		for (const limit of all) {
			assertPossible(limit);
			const window = windows.get(limit.key);
			if (window !== undefined && window.count + limit.amount > limit.max) throw refuseNow(limit, window.endsAt);
		}
	};
	/** Counts all of them, or none and throws. */
	const hit = async (all: readonly Limit[]): Promise<void> => {
		if (all.length === 0) return;
		for (const limit of all) assertPossible(limit);
		const exceeded = await database.limits.hitAll(all, hourMs, now());
		const limit = all.find(({ key }) => key === exceeded?.key);
		if (exceeded !== undefined && limit !== undefined) throw refuseNow(limit, exceeded.endsAt);
	};

	const batched = (viewer: Viewer, count: (arrived: Amount) => Promise<void>) => {
		const bounds = limitsFor(viewer, '', { files: 0, bytes: 1 }).map(({ max }) => max / 8);
		const step = Math.floor(Math.max(stepBytes.least, Math.min(stepBytes.most, ...bounds)));
		let uncounted = 0;
		const rest = async (files: number) => {
			const bytes = uncounted;
			uncounted = 0;
			await count({ files, bytes });
		};
		return {
			async arrived(bytes: number) {
				uncounted += bytes;
				// In steps, however much is waiting: a body that is still arriving is refused for the rest of the hourly amount, not for its own size.
				while (uncounted >= step) {
					uncounted -= step;
					await count({ files: 0, bytes: step });
				}
			},
			rest,
		};
	};

	const limits: UploadLimits = {
		async counted(viewer, address, announced, work) {
			await assertRoom(limitsFor(viewer, address, announced));
			const counted: Limit[] = [];
			const count = async (arrived: Amount) => {
				const all = limitsFor(viewer, address, arrived);
				await hit(all);
				counted.push(...all);
			};
			const steps = batched(viewer, count);
			try {
				return await work({
					// The remainder of one file is counted with the next ones.
					bytes: { arrived: steps.arrived, ended: () => {} },
					files: steps.rest,
					createdFile: (bytes) => count({ files: 1, bytes }),
				});
			} catch (error) {
				for (const { key, amount } of counted) {
					// The remaining count ends with its hour; the caller gets the reason why the upload failed.
					await database.limits
						.release(key, amount)
						.catch((cause: unknown) =>
							log.warn({ err: cause }, 'the hourly count of a failed upload could not be reversed'),
						);
				}
				throw error;
			}
		},

		arriving(viewer, address) {
			const { arrived, rest } = batched(viewer, (arrived) => hit(limitsFor(viewer, address, arrived)));
			return { arrived, ended: () => rest(0) };
		},

		async beginUnfinished(viewer, address, begin) {
			if (!isBounded(viewer)) return begin();
			const from = limitAddress(address);
			return exclusively(from, async () => {
				const maxRows = uploads.anonymousUnfinished - (forms.get(from) ?? 0);
				if ((await database.uploads.countVisitorUploads(from, now())) >= maxRows) {
					throw new Failure('rateLimited', 'Too many uploads were begun from here and not finished.', {
						retryAfter: 60,
					});
				}
				return begin(maxRows);
			});
		},

		async whileUnfinished(viewer, address, work) {
			if (!isBounded(viewer)) return work();
			const from = limitAddress(address);
			await limits.beginUnfinished(viewer, address, async () => {
				forms.set(from, (forms.get(from) ?? 0) + 1);
			});
			try {
				return await work();
			} finally {
				const left = (forms.get(from) ?? 1) - 1;
				if (left === 0) forms.delete(from);
				else forms.set(from, left);
			}
		},
	};
	return limits;
}
