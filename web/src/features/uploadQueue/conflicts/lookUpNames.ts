import type { QueryClient } from '@tanstack/react-query';
import { folderQuery } from '../../../api/listings/folderQuery.js';
import { type TakenNames, takenNames } from '../../../api/listings/takenNames.js';
import type { QueueItem } from '../queueItem.js';
import { type FolderToList, lookupsOf, type NameState, nameStateOf } from './conflicts.js';

/** For how long a run trusts what it has listed. */
const maxAgeMs = 60_000;

/**
 * Looks names up during a run. Each folder is listed once, and again after a minute; one that can't be listed makes
 * its names `unknown`.
 */
export function createNameLookup(queryClient: QueryClient, username: string | undefined) {
	const folders = new Map<string, { at: number; names: Promise<TakenNames | undefined> }>();
	const list = async ({ area, directory }: FolderToList) => {
		try {
			const query = folderQuery(area, directory, username !== undefined);
			// An upload waits for the network, and so does what is to be known before it.
			const { entries } = await queryClient.fetchQuery({ ...query, networkMode: 'online' });
			return takenNames(entries, area, username);
		} catch {
			return undefined;
		}
	};
	return async (item: QueueItem): Promise<NameState> => {
		const listed = new Map<string, TakenNames>();
		for (const { folder, name } of lookupsOf(item)) {
			const { key } = folder;
			let known = folders.get(key);
			if (!known || Date.now() - known.at > maxAgeMs) {
				known = { at: Date.now(), names: list(folder) };
				folders.set(key, known);
			}
			const names = await known.names;
			if (names) listed.set(key, names);
			if (names?.get(name)?.type !== 'directory') break;
		}
		return nameStateOf(item, ({ key }) => listed.get(key));
	};
}
