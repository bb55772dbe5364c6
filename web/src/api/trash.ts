import { emptyTrash, listTrash, purgeTrash, type ResultOf, restoreTrash } from '@stowage/contract';
import { queryOptions } from '@tanstack/react-query';
import { call } from './client/client.js';
import { queryKeys } from './queryKeys.js';

export type TrashListing = ResultOf<typeof listTrash>;

/** What was restored, and what was not, with the reasons. */
export type Restored = ResultOf<typeof restoreTrash>;

/** The trash of the signed-in user, the newest first. */
export function trashQuery(username: string) {
	return queryOptions({
		queryKey: queryKeys.trash.of(username),
		queryFn: ({ signal }) => call(listTrash, { signal }),
	});
}

/** The most that one call restores. */
const maxIds = 10_000;

/** Restores items to where they were. One that can't be restored does not stop the others; a call that fails does. */
export async function restoreFromTrash(ids: readonly string[], signal?: AbortSignal): Promise<Restored> {
	const all: Restored = { restored: [], failed: [] };
	for (let start = 0; start < ids.length; start += maxIds) {
		const payload = { ids: ids.slice(start, start + maxIds) };
		const { restored, failed } = await call(restoreTrash, { payload, ...(signal ? { signal } : {}) });
		all.restored.push(...restored);
		all.failed.push(...failed);
	}
	return all;
}

/** Removes an item of the trash for good. */
export async function deleteForever(id: string, signal: AbortSignal): Promise<void> {
	await call(purgeTrash, { params: { id }, signal });
}

/** Removes all of the user's trash for good. */
export async function deleteAllForever(): Promise<void> {
	await call(emptyTrash);
}
