import { sniffedBytes } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { readPart } from '../../../api/previews.js';
import { queryKeys } from '../../../api/queryKeys.js';
import type { PreviewFile } from './previewFile.js';

/** The first bytes of a file, and its current size on the server. */
export function firstBytesQuery(file: PreviewFile) {
	return queryOptions({
		queryKey: queryKeys.previews.firstBytes(file.id),
		queryFn: ({ signal }) => readPart(file.url, 0, sniffedBytes, signal),
		retry: false,
		staleTime: 60_000,
		gcTime: 60_000,
		structuralSharing: false,
		refetchOnWindowFocus: false,
	});
}
