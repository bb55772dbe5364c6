import { type Restored, restoreFromTrash } from '../../../api/trash.js';
import type { RunBatch } from './useBatch.js';

/** Few enough that `Cancel` and the progress bar mean something. */
const restoredAtOnce = 200;

/** What was restored of the trash, and what was not, with the reasons of the server. */
export interface RestoreOutcome<T> extends Restored {
	/** Those whose call has failed, for this reason. */
	unanswered: readonly T[];
	reason: unknown;
	/** Those that were not begun, since it was cancelled. */
	left: readonly T[];
}

/**
 * Restores items in this order, some hundred at a time. One that can't be restored does not stop the others; a call that fails does: the
 * folder of those after it may be among its items.
 */
export async function restoreItems<T>(
	runBatch: RunBatch,
	title: string,
	items: readonly T[],
	trashIdOf: (item: T) => string,
): Promise<RestoreOutcome<T>> {
	const parts = Array.from({ length: Math.ceil(items.length / restoredAtOnce) }, (_, index) =>
		items.slice(index * restoredAtOnce, (index + 1) * restoredAtOnce),
	);
	const all: Restored = { restored: [], failed: [] };
	let failure: { reason: unknown } | undefined;
	const outcome = await runBatch(title, parts, async (part) => {
		if (failure) throw failure.reason;
		try {
			const { restored, failed } = await restoreFromTrash(part.map(trashIdOf));
			all.restored.push(...restored);
			all.failed.push(...failed);
		} catch (reason) {
			failure = { reason };
			throw reason;
		}
	});
	return { ...all, unanswered: outcome.failed.flat(), reason: outcome.reason, left: outcome.left.flat() };
}
