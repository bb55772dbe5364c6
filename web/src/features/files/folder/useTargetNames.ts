import type { Area, StoragePath, Viewer } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { listingQuery } from '../../../api/listings/listingQuery.js';
import { noSearch } from '../../../api/listings/search.js';
import { type TakenNames, takenNames } from '../../../api/listings/takenNames.js';
import { areaSource } from '../../../api/sources/areaSource.js';

/**
 * The names of a folder: of the one on screen, which events keep current, as it is shown; of another one by one call,
 * if it is not fresh.
 */
export function useTargetNames(viewer: Viewer): (area: Area, directory: StoragePath) => Promise<TakenNames> {
	const queryClient = useQueryClient();
	return useCallback(
		async (area, directory) => {
			const query = listingQuery(areaSource(area, viewer.kind === 'user'), directory, noSearch);
			const cached = queryClient.getQueryCache().find({ queryKey: query.queryKey, exact: true });
			const isCurrent = cached?.isActive() && !cached.state.isInvalidated;
			const shown = isCurrent ? queryClient.getQueryData(query.queryKey) : undefined;
			const { entries } = shown ?? (await queryClient.fetchQuery(query));
			return takenNames(entries, area, viewer.kind === 'user' ? viewer.username : undefined);
		},
		[queryClient, viewer],
	);
}
