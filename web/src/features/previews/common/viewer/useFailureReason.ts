import { useQuery } from '@tanstack/react-query';
import { HttpFailure, readPart } from '../../../../api/previews.js';
import { queryKeys } from '../../../../api/queryKeys.js';

/**
 * The server's error for a file that an element of the page could not load: such an element does not expose the
 * status. Undefined if the server can send it.
 */
export function useFailureReason(url: string, hasFailed: boolean): string | undefined {
	const { data } = useQuery({
		queryKey: queryKeys.previews.failure(url),
		queryFn: async ({ signal }) => {
			try {
				await readPart(url, 0, 1, signal);
				return '';
			} catch (error) {
				// Without a connection there is no answer either.
				if (error instanceof HttpFailure) return error.message;
				throw error;
			}
		},
		enabled: hasFailed,
		retry: false,
		gcTime: 0,
		refetchOnWindowFocus: false,
	});
	return data || undefined;
}
