import { deleteItem } from '@stowage/contract';
import type { Entry } from '@stowage/rules';
import { call } from '../../../../api/client/client.js';
import { nameItems } from '../../messages.js';
import { type Deletion, undoDeletion } from '../../undo/reversals.js';
import { operationMessages as messages } from '../messages.js';
import { type OperationParts, withOwner } from './OperationParts.js';
import type { VerbTexts } from './outcomeNotice.js';

/**
 * Where deleted entries go: into the trash, which a server that has none by now refuses; into the trash if there is one; or
 * nowhere.
 */
export type Removal = 'trash' | 'trashIfAny' | 'forever';

export async function removeEntries(parts: OperationParts, entries: readonly Entry[], to: Removal): Promise<void> {
	const { area, runBatch, forget, refetch, remember, outcomes } = parts;
	const permanent = to === 'trashIfAny' ? {} : { permanent: to === 'forever' };
	const deleted: Deletion[] = [];
	const { done, failed, left, reason } = await runBatch(
		messages.deleting(nameItems(entries)),
		entries,
		async (entry) => {
			const payload = withOwner({ filePath: entry.path, type: area, ...permanent }, entry);
			const { trashId } = await call(deleteItem, { payload });
			deleted.push({ entry, trashId });
		},
		{ isForGood: to !== 'trash' },
	);
	forget(area, done);
	refetch();
	const offer = done.length > 0 ? remember(undoDeletion(deleted)) : {};
	outcomes.ended(removalTexts[to], { done, failed: failed.length, left: left.length, reason }, offer);
}

const deletionTexts = {
	verb: 'Deleted',
	none: messages.deletedNone,
	partly: messages.deleteFailed,
	cancelled: messages.deleteCancelled,
};

export const removalTexts: Readonly<Record<Removal, VerbTexts>> = {
	trash: { ...deletionTexts, done: messages.deleted },
	trashIfAny: { ...deletionTexts, done: messages.deleted },
	forever: { ...deletionTexts, done: messages.deletedForever },
};
