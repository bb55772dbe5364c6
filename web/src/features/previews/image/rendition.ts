import { queryOptions } from '@tanstack/react-query';
import { HttpFailure, readWhole } from '../../../api/previews.js';
import { queryKeys } from '../../../api/queryKeys.js';
import { keptAsRead } from '../common/bytes/previewQuery.js';

/** A picture of 2048 pixels takes a few hundred kilobytes. */
const maxBytes = 32 * 1024 * 1024;

/** Attempts with a server that is busy with other pictures. */
const maxRetries = 10;

/** The server's rendition of an image, which takes it some seconds for a large one. */
export function renditionQuery(url: string) {
	return queryOptions({
		queryKey: queryKeys.previews.rendition(url),
		queryFn: ({ signal }) => readWhole(url, maxBytes, signal),
		retry: (failed, error) => isHttp(error, 503) && failed < maxRetries,
		retryDelay: 2000,
		staleTime: 60_000,
		gcTime: 60_000,
		...keptAsRead,
	});
}

/** The server can't draw it: it is no image, or has no renderer for it. */
export function hasNoRendition(error: Error | null): boolean {
	return isHttp(error, 415);
}

function isHttp(error: Error | null, status: number): boolean {
	return error instanceof HttpFailure && error.answered === status;
}
