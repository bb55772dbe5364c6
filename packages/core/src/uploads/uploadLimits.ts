import type { Database } from '@stowage/database';
import { Failure, type Viewer } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { limitAddress } from '../http/proxy.js';
import type { Log } from '../log.js';
import { rateLimited } from '../rateLimited.js';
import { createTurns } from '../turns.js';

interface Means {
	config: Pick<Config, 'uploads'>;
	database: Database;
	log: Log;
	now(): number;
}

/** What is about to arrive. */
export interface Announced {
	files: number;
	bytes: number;
}

interface Limit {
	key: string;
	most: number;
	amount: number;
}

const hourMs = 60 * 60_000;

/** How much may be uploaded in an hour, by visitors and from any one address. Nothing is counted where nothing is limited. */
export interface UploadLimits {
	/**
	 * Counts what begins and runs `work`, which may count more of it by the call that it is given; all is taken back when that fails. Throws `tooLarge` for
	 * what never fits and `rateLimited` for what does not fit now.
	 */
	counted<T>(
		viewer: Viewer,
		address: string,
		announced: Announced,
		work: (countMore: (more: Announced) => Promise<void>) => Promise<T>,
	): Promise<T>;
	/** Runs `begin`, after which an upload is known as unfinished. Throws `rateLimited` if a visitor has begun as many as may be, also when many begin at once. */
	beginUnfinished<T>(viewer: Viewer, address: string, begin: () => Promise<T>): Promise<T>;
	/** The same for a form, which is unfinished until `work` has ended. */
	whileUnfinished<T>(viewer: Viewer, address: string, work: () => Promise<T>): Promise<T>;
}

export function createUploadLimits({ config: { uploads }, database, log, now }: Means): UploadLimits {
	const mostUnfinished = uploads.anonymousUnfinished;
	const isBounded = (viewer: Viewer) => mostUnfinished > 0 && viewer.kind === 'anonymous';
	/** Forms of visitors under way, by address. */
	const forms = new Map<string, number>();
	const inTurn = createTurns();

	const limitsFor = (viewer: Viewer, address: string, { files, bytes }: Announced): Limit[] => {
		const from = limitAddress(address);
		const all = [
			{ key: `upload files ${from}`, most: uploads.addressFilesPerHour, amount: files },
			{ key: `upload bytes ${from}`, most: uploads.addressBytesPerHour, amount: bytes },
		];
		if (viewer.kind === 'anonymous') {
			all.push(
				{ key: `upload files visitor ${from}`, most: uploads.anonymousFilesPerHour, amount: files },
				{ key: `upload bytes visitor ${from}`, most: uploads.anonymousBytesPerHour, amount: bytes },
			);
		}
		return all.filter(({ most, amount }) => most > 0 && amount > 0);
	};

	const limits: UploadLimits = {
		async counted(viewer, address, announced, work) {
			const counted: Limit[] = [];
			const count = async (more: Announced) => {
				for (const limit of limitsFor(viewer, address, more)) {
					if (limit.amount > limit.most) {
						throw new Failure('tooLarge', 'This upload is larger than what may be uploaded in an hour.');
					}
					const { count: total, endsAt } = await database.limits.hit(limit.key, hourMs, now(), limit.amount);
					counted.push(limit);
					if (total > limit.most) {
						throw rateLimited('As much as may be uploaded in an hour was uploaded from here already.', endsAt, now());
					}
				}
			};
			try {
				await count(announced);
				return await work(count);
			} catch (error) {
				for (const { key, amount } of counted) {
					// What stays counted ends with its hour; the caller hears why the upload failed.
					await database.limits
						.release(key, amount)
						.catch((cause: unknown) => log.warn({ err: cause }, 'a failed upload stays counted'));
				}
				throw error;
			}
		},

		async beginUnfinished(viewer, address, begin) {
			if (!isBounded(viewer)) return begin();
			const from = limitAddress(address);
			return inTurn(from, async () => {
				if ((forms.get(from) ?? 0) + (await database.uploads.countOfVisitors(from, now())) >= mostUnfinished) {
					throw new Failure('rateLimited', 'Too many uploads were begun from here and not finished.', {
						retryAfter: 60,
					});
				}
				return begin();
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
