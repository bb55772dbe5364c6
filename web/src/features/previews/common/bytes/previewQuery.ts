/**
 * Options of all queries of what is shown, and of what was read from it: it stays as it was read. Another answer, or the
 * failure to get one, would take it away when the network comes back.
 */
export const keptAsRead = {
	structuralSharing: false,
	refetchOnWindowFocus: false,
	refetchOnReconnect: ({ state }: { state: { data?: unknown } }) => state.data === undefined,
} as const;

/** The error of a query that has nothing to show. */
export function errorWithoutData({ data, error }: { data: unknown; error: Error | null }): Error | null {
	return data === undefined ? error : null;
}
