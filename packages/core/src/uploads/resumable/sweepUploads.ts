import type { Database } from '@stowage/database';
import { isFailure } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import type { Log } from '../../log.js';
import type { TimedCutoffs } from '../../trees/across/copies.js';
import type { MountedStorage } from '../../trees/storage/MountedStorage.js';
import type { UploadExpiry } from './UploadExpiry.js';
import type { Writers } from './Writers.js';

interface Dependencies {
	config: Pick<Config, 'uploads'>;
	database: Database;
	storage: MountedStorage;
	writers: Writers;
	expiry: UploadExpiry;
	log: Log;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
}

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

/** A job that publishes a file may wait for as long as its server is off. */
const namesKeptMs = 30 * dayMs;

/** Rows removed at once. */
const sweepBatchSize = 100;

/** Removes expired uploads, and staged files that a crash has left. */
export async function sweepUploads(parts: Dependencies): Promise<void> {
	const { config, database, storage, now } = parts;
	const { uploads } = database;
	await expireUploads(parts);
	// A client that asks for a forgotten upload gets 404 instead of 410.
	await uploads.forget(now() - config.uploads.expireAfter);
	const cutoffs: TimedCutoffs = {
		now: now(),
		// Without a row: of forms, and of files of copies between roots, that a crash interrupted. What is in use is written more often.
		staged: now() - dayMs,
		// A job records its copy from the beginning.
		copies: now() - hourMs,
		uploadCopies: now() - config.uploads.expireAfter - dayMs,
	};
	await database.idempotency.sweep(now() - dayMs);
	await database.publishedNames.sweep(now() - config.uploads.expireAfter - namesKeptMs);
	const isNeeded = async (id: string) => (await uploads.isStaged(id)) || (await database.jobs.isInCheckpoint(id));
	await storage.sweepStaging(cutoffs, isNeeded);
}

/** Forgets what has ended beyond the latest that are remembered of all, whatever the time is. */
export async function forgetSurplus({ database }: Pick<Dependencies, 'database'>): Promise<void> {
	await database.uploads.forget(0);
	await database.idempotency.sweep(0);
	await database.publishedNames.sweep(0);
}

/**
 * Removes the uploads that have expired by their stored times. One that is in use here was stored before the clock was
 * set ahead. One that can't be removed must not stop the others, and is retried by the next sweep: the first of them is logged, unless
 * its root is away, of which the others are not tried then.
 */
async function expireUploads(parts: Dependencies): Promise<void> {
	const { config, database, storage, expiry, log, now } = parts;
	const away = new Set<string>();
	const failures: unknown[] = [];
	const settle = async (idHash: string, stagedId: string): Promise<boolean> => {
		if (expiry.isInUse(idHash)) {
			await database.uploads.extendExpiry(idHash, now() + config.uploads.expireAfter);
			return true;
		}
		const root = storage.rootOfStaged(stagedId);
		if (root !== undefined && away.has(root)) return false;
		try {
			await dropStaged(parts, idHash, stagedId);
			return true;
		} catch (error) {
			if (root !== undefined && isFailure(error, 'unavailable')) away.add(root);
			else failures.push(error);
			return false;
		}
	};
	for (let skip = 0; ; ) {
		const expired = await database.uploads.listExpired(now(), sweepBatchSize, skip);
		for (const { idHash, stagedId } of expired) if (!(await settle(idHash, stagedId))) skip++;
		if (expired.length < sweepBatchSize) break;
	}
	if (failures.length > 0)
		log.warn({ err: failures[0], uploads: failures.length }, 'expired uploads could not be removed');
}

async function dropStaged(
	{ database, storage, writers }: Dependencies,
	idHash: string,
	stagedId: string,
): Promise<void> {
	await writers.end(idHash);
	await (await storage.stage(stagedId)).discard();
	await database.uploads.clearStaged(idHash);
}
