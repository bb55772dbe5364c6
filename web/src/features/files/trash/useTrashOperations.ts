import { plural, type StoragePath } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { queryKeys } from '../../../api/queryKeys.js';
import { deleteAllForever, deleteForever, type Restored, restoreFromTrash } from '../../../api/trash.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { useLatest } from '../../../ui/useLatest.js';
import { filesMessages as messages, nameItems } from '../messages.js';
import { reasonLines, reasonOf } from '../operations/runEach.js';
import { useBatch } from '../operations/useBatch.js';
import { restoredItems, restoredPlace } from './restoreOutcome.js';
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
		const fail = (message: string, reason: unknown) =>
			void notify({ intent: 'danger', message, detail: reasonOf(reason) ?? '' });
		const succeed = (message: string) => void notify({ intent: 'success', message });
		const refetch = () => {
			void queryClient.invalidateQueries({ queryKey: queryKeys.trash.all });
			void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
		};
		const removeEntries = (entries: readonly { id: string }[]) =>
			latest.current.remove(new Set(entries.map(({ id }) => id)));

		return {
			restore: async (entries) => {
				let result: Restored = { restored: [], failed: [] };
				// What was deleted last first: a folder before that which had been deleted in it.
				const ids = entries.toSorted((a, b) => b.mtime - a.mtime).map(({ id }) => id);
				const outcome = await runBatch(messages.restoring(nameItems(entries)), [ids], async (all, signal) => {
					result = await restoreFromTrash(all, signal);
				});
				removeEntries(result.restored);
				refetch();
				const { restored, failed } = result;
				if (outcome.failed.length > 0) return fail(messages.restoreFailed(nameItems(entries)), outcome.reason);
				if (restored.length > 0) {
					const place = restoredPlace(result);
					notify({
						intent: 'success',
						message: messages.restored(nameItems(restoredItems(result))),
						...(place && {
							action: { text: messages.show, onClick: () => latest.current.showIn(place.directory, place.path) },
						}),
					});
				}
				if (failed.length === 0) return;
				const names = new Map(entries.map(({ id, name }) => [id, name]));
				const nameOf = (id: string) => names.get(id) ?? id;
				const refused = failed.map(({ id }) => ({ name: nameOf(id) }));
				notify({
					intent: 'danger',
					message: messages.restoreFailed(nameItems(refused)),
					detail: reasonLines(failed.map(({ id, message }) => `${nameOf(id)}: ${message}`)),
				});
			},

			deleteForever: async (entries) => {
				const title = messages.deleting(nameItems(entries));
				const { done, failed, reason, isCancelled } = await runBatch(title, entries, ({ id }, signal) =>
					deleteForever(id, signal),
				);
				removeEntries(done);
				refetch();
				const left = entries.length - done.length - failed.length;
				if (failed.length === 0 && isCancelled && left > 0) {
					const detail = messages.deletedUntil(plural(done.length, 'item'), plural(left, 'item'));
					return void notify({ message: messages.deleteCancelled, detail });
				}
				if (failed.length === 0) return void (done.length > 0 && succeed(messages.deletedForever(nameItems(done))));
				if (done.length === 0) return fail(messages.deletedNone, reason);
				notify({
					intent: 'danger',
					message: messages.deleteFailed,
					detail: messages.deletedSome(nameItems(done), failed.length, reasonOf(reason)),
				});
			},

			empty: async () => {
				const { done, reason } = await runBatch(messages.emptying, [undefined], deleteAllForever);
				refetch();
				if (done.length > 0) succeed(messages.emptied);
				else if (reason !== undefined) fail(messages.emptyFailed, reason);
			},
		};
	}, [queryClient, notify, runBatch]);
}
