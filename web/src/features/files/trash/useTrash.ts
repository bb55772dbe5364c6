import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { NetworkFailure } from '../../../api/client/client.js';
import { isTransient } from '../../../api/client/retries.js';
import { useTrashEvents } from '../../../api/events/useFolderEvents.js';
import { trashQuery } from '../../../api/trash.js';
import { refetchIntervalAfter } from '../folder/refreshPolicy.js';
import { useFolder } from '../folder/useFolder.js';
import { type ListedFolder, useSelected } from '../folder/useFolderView.js';
import type { Listing } from '../folder/useListing.js';
import { useIsReturn } from '../location/useBrowserNavigation.js';
import { type TrashedEntry, type TrashOrder, trashedEntries, trashRows } from './trashEntries.js';

export interface TrashView
	extends ListedFolder<TrashedEntry>,
		Pick<Listing, 'error' | 'refreshError' | 'isOffline' | 'isTruncated' | 'refresh'> {
	/** The bytes of all that is in it. */
	size: number;
	/** Leaves out what is not in it any more, until it is fetched again. */
	remove: (ids: ReadonlySet<string>) => void;
}

/** The trash of a user as the list shows it. Undefined until the user is known. */
export function useTrash(username: string | undefined, order: TrashOrder): TrashView {
	const folder = useFolder({
		key: 'trash',
		user: username,
		isReturn: useIsReturn(),
		startKey: undefined,
		isStartSelected: false,
	});
	const queryClient = useQueryClient();
	const query = trashQuery(username ?? '');
	const { data, error, refetch } = useQuery({
		...query,
		enabled: username !== undefined,
		refetchOnWindowFocus: true,
		refetchOnReconnect: 'always',
		refetchInterval: ({ state }) => refetchIntervalAfter(state.error, state.data !== undefined),
	});
	useTrashEvents(username !== undefined);
	const entries = useMemo(() => data && trashedEntries(data, username ?? ''), [data, username]);
	const { column, descending } = order;
	const rows = useMemo(() => entries && trashRows(entries, { column, descending }), [entries, column, descending]);
	const isKept = rows !== undefined && (error === null || isTransient(error));
	const isOffline = isKept && error instanceof NetworkFailure;
	const shown = isKept ? rows : undefined;
	return {
		...folder,
		rows: shown,
		selected: useSelected(shown, folder),
		error: isKept ? null : error,
		refreshError: isKept && !isOffline ? error : null,
		isOffline,
		isTruncated: data?.truncated ?? false,
		refresh: refetch,
		size: data?.size ?? 0,
		remove: (ids) =>
			queryClient.setQueryData(query.queryKey, (old) => {
				if (!old) return old;
				const left = old.entries.filter(({ id }) => !ids.has(id));
				const gone = old.entries.filter(({ id }) => ids.has(id));
				return { ...old, entries: left, size: old.size - gone.reduce((sum, { size }) => sum + size, 0) };
			}),
	};
}
