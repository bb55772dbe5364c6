import type { TrashRecord } from '@stowage/plugin-api';
import { isFailure } from '@stowage/rules';
import { identityOf } from '../identity.js';
import { locateTrashed } from './locateTrashed.js';
import { type TrashParts, warnOfTrash } from './trashParts.js';
import { itemAt, settleHere } from './versions/finishVersion.js';

/**
 * Settles the row of an item after a failed move: removes it, unless the item is in the trash. Resolves to whether it is there, and
 * to undefined where that can't be said. `replacedId` is the identity of a file that was to be replaced.
 */
export async function settleFailedMove(
	parts: TrashParts,
	record: TrashRecord,
	state: 'moving' | 'leaving',
	error: unknown,
	replacedId = record.kind === 'version' ? record.replacedId : undefined,
): Promise<boolean | undefined> {
	const { store } = parts;
	try {
		const isHere = (await locateTrashed(parts, record)) !== undefined;
		// A faulty disk may still hold a replaced file back, until its root is opened again.
		const mayAppear = replacedId !== undefined && !isRefusal(error);
		if (isHere) await settleHere(parts, record, state);
		else if (!mayAppear || (await isStillThere(parts, record, replacedId))) await store.remove([record.id]);
		return isHere;
	} catch (cause) {
		// A sweep does it.
		warnOfTrash(parts, cause);
		return undefined;
	}
}

/** Whether the file that was to be replaced has its path: then nothing of it is held back. */
async function isStillThere(parts: TrashParts, { ownerId, path }: TrashRecord, replacedId: string): Promise<boolean> {
	const item = await itemAt(parts, ownerId, path);
	return item !== undefined && identityOf(item) === replacedId;
}

/** Whether nothing has changed after this error. */
function isRefusal(error: unknown): boolean {
	return isFailure(error) && error.kind !== 'unavailable' && error.kind !== 'storageFull';
}
