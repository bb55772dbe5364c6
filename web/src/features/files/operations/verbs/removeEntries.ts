import { deleteItem } from '@stowage/contract';
import { type Entry, plural } from '@stowage/rules';
import { call } from '../../../../api/client/client.js';
import { filesMessages as messages, nameItems } from '../../messages.js';
import { type Deletion, undoDeletion } from '../../undo/reversals.js';
import { reasonOf } from '../runEach.js';
import { type OperationParts, withOwner } from './OperationParts.js';

/** Where deleted entries go. A server without a trash removes them forever. */
export type Removal = 'trash' | 'forever';

export async function removeEntries(parts: OperationParts, entries: readonly Entry[], to: Removal): Promise<void> {
	const { area, runBatch, forget, refetch, remember, outcomes } = parts;
	const permanent = to === 'forever' ? { permanent: true } : {};
	const deleted: Deletion[] = [];
	const { done, failed, reason, isCancelled } = await runBatch(
		messages.deleting(nameItems(entries)),
		entries,
		async (entry, signal) => {
			const payload = withOwner({ filePath: entry.path, type: area, ...permanent }, entry);
			const { trashId } = await call(deleteItem, { payload, signal });
			deleted.push({ entry, trashId });
		},
	);
	forget(area, done);
	refetch();
	const offer = done.length > 0 ? remember(undoDeletion(deleted)) : {};
	const left = entries.length - done.length - failed.length;
	if (failed.length === 0 && isCancelled && left > 0) {
		const partly = messages.deletedUntil(plural(done.length, 'item'), plural(left, 'item'));
		outcomes.cancelled(messages.deleteCancelled, partly, offer);
	} else if (failed.length === 0) {
		const sentence = to === 'forever' ? messages.deletedForever : messages.deleted;
		if (done.length > 0) outcomes.succeeded(sentence(nameItems(done)), offer);
	} else if (done.length === 0) outcomes.failed(messages.deletedNone, reason);
	else {
		const partly = messages.deletedSome(nameItems(done), failed.length, reasonOf(reason));
		outcomes.failed(messages.deleteFailed, partly, offer);
	}
}
