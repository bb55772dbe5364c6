import type { StoragePath } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { queryKeys } from '../../../api/queryKeys.js';
import { deleteAllForever, deleteForever } from '../../../api/trash.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { useLatest } from '../../../ui/useLatest.js';
import { nameItems } from '../messages.js';
import { operationMessages as messages } from '../operations/messages.js';
import { restoreItems } from '../operations/restoreItems.js';
import { reasonOf } from '../operations/runEach.js';
import { useBatch } from '../operations/useBatch.js';
import { outcomeNotice } from '../operations/verbs/outcomeNotice.js';
import { removalTexts } from '../operations/verbs/removeEntries.js';
import { trashMessages } from './messages.js';
import { restoreNotices } from './restoreOutcome.js';
import type { TrashedEntry } from './trashEntries.js';
import type { TrashView } from './useTrash.js';

export interface TrashOperations {
	restore: (entries: readonly TrashedEntry[]) => Promise<void>;
	deleteForever: (entries: readonly TrashedEntry[]) => Promise<void>;
	empty: () => Promise<void>;
}

/**
 * The operations on the trash: their calls, their effect on the list, and their notices. `showIn` opens a folder of
 * the private area at an entry.
 */
export function useTrashOperations(
	{ remove }: Pick<TrashView, 'remove'>,
	showIn: (directory: StoragePath, path: string) => void,
): TrashOperations {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const runBatch = useBatch();
	const latest = useLatest({ remove, showIn });

	return useMemo(() => {
		const refetch = () => {
			void queryClient.invalidateQueries({ queryKey: queryKeys.trash.all });
			void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
		};
		const removeEntries = (entries: readonly { id: string }[]) =>
			latest.current.remove(new Set(entries.map(({ id }) => id)));

		return {
			restore: async (entries) => {
				// What was deleted last first: a folder before that which had been deleted in it.
				const items = entries.toSorted((a, b) => b.mtime - a.mtime);
				const outcome = await restoreItems(runBatch, trashMessages.restoring(nameItems(items)), items, ({ id }) => id);
				removeEntries(outcome.restored);
				refetch();
				const showIn = (directory: StoragePath, path: string) => latest.current.showIn(directory, path);
				for (const notice of restoreNotices(outcome, items, showIn)) notify(notice);
			},

			deleteForever: async (entries) => {
				const title = messages.deleting(nameItems(entries));
				const { done, failed, left, reason } = await runBatch(title, entries, ({ id }) => deleteForever(id));
				removeEntries(done);
				refetch();
				const ended = { done, failed: failed.length, left: left.length, reason };
				const notice = outcomeNotice(removalTexts.forever, ended);
				if (notice) notify(notice);
			},

			empty: async () => {
				const { done, reason } = await runBatch(trashMessages.emptying, [undefined], deleteAllForever, {
					isForGood: true,
				});
				refetch();
				if (done.length > 0) notify({ intent: 'success', message: trashMessages.emptied });
				else notify({ intent: 'danger', message: trashMessages.emptyFailed, detail: reasonOf(reason) ?? '' });
			},
		};
	}, [queryClient, notify, runBatch]);
}
