import { useQuery } from '@tanstack/react-query';
import { HttpFailure, readPart } from '../../../api/previews.js';

/** What the server says of a file that an element of the page could not load: such an element tells no status. Undefined where it has the file. */
export function useFailedAnswer(url: string, hasFailed: boolean): string | undefined {
	const { data } = useQuery({
		queryKey: ['preview', 'answer', url],
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
