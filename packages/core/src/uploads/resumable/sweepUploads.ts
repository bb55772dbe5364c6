import type { Database } from '@stowage/database';
import { isFailure } from '@stowage/rules';
import type { Config } from '../../config/schema.js';
import type { Log } from '../../log.js';
import type { SweepCutoffs } from '../../trees/across/copies.js';
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
	let settled: number;
	do {
		settled = 0;
		for (const { idHash, stagedId } of await uploads.listExpired(now(), sweepBatchSize)) {
			if (await expire(parts, idHash, stagedId)) settled++;
		}
	} while (settled === sweepBatchSize);
	// A client that asks for a forgotten upload gets 404 instead of 410.
	await uploads.forget(now() - config.uploads.expireAfter);
	const cutoffs: SweepCutoffs = {
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

/**
 * Removes an upload that has expired by its stored time; resolves to whether it did. One that is in use here was
 * stored before the clock was set ahead.
 */
async function expire(parts: Dependencies, idHash: string, stagedId: string): Promise<boolean> {
	const { config, database, expiry, now } = parts;
	if (!expiry.isInUse(idHash)) return dropStaged(parts, idHash, stagedId);
	await database.uploads.extendExpiry(idHash, now() + config.uploads.expireAfter);
	return true;
}

/** A failure must not stop the others, and is retried by the next sweep. */
async function dropStaged(
	{ database, storage, writers, log }: Dependencies,
	idHash: string,
	stagedId: string,
): Promise<boolean> {
	try {
		await writers.end(idHash);
		await (await storage.stage(stagedId)).discard();
		await database.uploads.clearStaged(idHash);
		return true;
	} catch (error) {
		if (isFailure(error, 'unavailable')) throw error;
		log.warn({ err: error }, 'an expired upload could not be removed');
		return false;
	}
}
