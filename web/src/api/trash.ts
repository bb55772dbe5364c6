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

/** Restores items to where they were. One that can't be restored does not stop the others. */
export async function restoreFromTrash(ids: string[]): Promise<Restored> {
	return call(restoreTrash, { payload: { ids } });
}

/** Removes an item of the trash for good. */
export async function deleteForever(id: string): Promise<void> {
	await call(purgeTrash, { params: { id } });
}

/** Removes all of the user's trash for good. */
export async function deleteAllForever(): Promise<void> {
	await call(emptyTrash);
}
