import type { TrashRecord } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { locateTrashed } from '../locateTrashed.js';
import { type TrashParts, trashBatch, warnOfTrash } from '../trashParts.js';
import { trashedLinkPath } from '../trashPaths.js';

/** A restoration that had begun before its item was chosen has moved the versions by then. */
const restoredMs = 60_000;

/** Whether there are versions of an item of the trash, or of what is in it, also where they are `purging` themselves. */
export async function hasVersions(
	{ versions }: Pick<TrashParts, 'versions'>,
	{ kind, id, ownerId }: TrashRecord,
): Promise<boolean> {
	return kind === 'item' && versions.hasWithin(ownerId, trashedLinkPath(id));
}

/** The versions of an item that was removed from the trash, and of what was in it, go with it. Resolves to how many. */
export async function endVersions(
	{ versions }: Pick<TrashParts, 'versions'>,
	{ id, ownerId }: TrashRecord,
): Promise<number> {
	let ended = 0;
	await versions.countsWithin(ownerId, trashedLinkPath(id), async (files) => {
		ended += await versions.beginPurging(
			ownerId,
			files.map(({ file }) => file),
		);
	});
	return ended;
}

/**
 * Ends the versions of what was removed by a process that ended just after it: of items that were chosen a while ago and are in no trash.
 * Their space is freed with that of others.
 */
export async function endVersionsLeft(parts: TrashParts): Promise<void> {
	const { store, now } = parts;
	try {
		for (let skip = 0; ; skip += trashBatch) {
			const records = await store.inState('purging', { limit: trashBatch, until: now() - restoredMs, skip });
			for (const record of records) await endIfLeft(parts, record);
			if (records.length < trashBatch) return;
		}
	} catch (error) {
		warnOfTrash(parts, error);
	}
}

async function endIfLeft(parts: TrashParts, record: TrashRecord): Promise<void> {
	try {
		if (!(await hasVersions(parts, record)) || (await locateTrashed(parts, record)) !== undefined) return;
		// What was restored takes them with it.
		const path = trashedLinkPath(record.id);
		const moves = await parts.completeMoves(record.ownerId);
		if (!moves.leadFrom(path) && !moves.leadTo(path)) await endVersions(parts, record);
	} catch (error) {
		// Of a root that is away it is not known what is there.
		if (!isFailure(error, 'unavailable')) throw error;
	}
}
