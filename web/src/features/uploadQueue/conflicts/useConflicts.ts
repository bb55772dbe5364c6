import { type QueryClient, useQueries, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { folderQuery } from '../../../api/listings/folderQuery.js';
import { type TakenNames, takenNames } from '../../../api/listings/takenNames.js';
import { useSession } from '../../../api/session/useSession.js';
import type { UploadDestination } from '../destination.js';
import type { QueueItem } from '../queueItem.js';
import {
	type ConflictSummary,
	foldersToList,
	type ListedNames,
	type NameState,
	nameStateOf,
	summarizeConflicts,
} from './conflicts.js';

export interface Conflicts extends ConflictSummary {
	stateOf: (item: QueueItem) => NameState;
}

/**
 * What has the names of these files of the queue, one's own, already, as far as a few listings tell. During a run nothing
 * is listed for it, and nothing at all of a share.
 */
export function useConflicts(items: readonly QueueItem[], isRunning: boolean, { kind }: UploadDestination): Conflicts {
	const isShare = kind === 'share';
	const queryClient = useQueryClient();
	const session = useSession({ isAsked: !isShare });
	const username = session.status === 'signedIn' ? session.username : undefined;
	const isKnown = session.status !== 'unknown';
	const folders = isKnown && !isShare && !isRunning ? foldersToList(items, readListed(queryClient, username)) : [];
	const { updates, isLoading } = useQueries({
		queries: folders.map(({ area, directory }) => ({
			...folderQuery(area, directory, username !== undefined),
			structuralSharing: false,
			refetchOnWindowFocus: true,
		})),
		combine: (results) => ({
			updates: results.map(({ dataUpdatedAt }) => dataUpdatedAt).join(),
			isLoading: results.some((result) => result.isLoading),
		}),
	});

	return useMemo(() => {
		// Changes with what is listed.
		void updates;
		if (isShare) return { choice: undefined, taken: 0, stateOf: () => 'free' };
		const listed = readListed(queryClient, username);
		const stateOf = (item: QueueItem) => nameStateOf(item, listed);
		const summary = summarizeConflicts(items, stateOf, username === undefined);
		// While it is being listed nothing is asked that may be needless.
		return { ...summary, choice: isLoading && summary.taken === 0 ? undefined : summary.choice, stateOf };
	}, [items, queryClient, updates, isLoading, username, isShare]);
}

/** What is listed now. Each folder is looked up once, however many items are for it. */
function readListed(queryClient: QueryClient, username: string | undefined): ListedNames {
	const folders = new Map<string, TakenNames | undefined>();
	return ({ area, directory, key }) => {
		if (folders.has(key)) return folders.get(key);
		const { queryKey } = folderQuery(area, directory, username !== undefined);
		const listing = queryClient.getQueryData(queryKey);
		const names = listing && takenNames(listing.entries, area, username);
		folders.set(key, names);
		return names;
	};
}
