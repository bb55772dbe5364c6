import { useQuery } from '@tanstack/react-query';
import { readWhole } from '../../../../api/previews.js';
import { queryKeys } from '../../../../api/queryKeys.js';
import { keptAsRead } from './previewQuery.js';

/** A whole file, kept only while it is shown. */
export function useWhole(url: string, id: string, limit: number, isWanted = true) {
	return useQuery({
		queryKey: queryKeys.previews.whole(id),
		queryFn: ({ signal }) => readWhole(url, limit, signal),
		enabled: isWanted,
		retry: false,
		gcTime: 0,
		staleTime: Number.POSITIVE_INFINITY,
		...keptAsRead,
	});
}
