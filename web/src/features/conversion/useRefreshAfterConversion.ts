import type { browse, ResultOf } from '@stowage/contract';
import { type Area, parentPath, parsePath } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { queryKeys } from '../../api/queryKeys.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { conversionMessages as messages } from './messages.js';
import { refreshAfterConversion } from './refreshAfterConversion.js';

/** Refreshes the current folder, if it is of this area, until these new files are listed. A further call replaces the one before. */
export function useRefreshAfterConversion(): (area: Area, outputPaths: readonly string[]) => void {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const running = useRef(new AbortController());
	useEffect(() => () => running.current.abort(), []);

	return useCallback(
		(area, outputPaths) => {
			running.current.abort();
			const controller = new AbortController();
			running.current = controller;
			const query = { queryKey: queryKeys.listings.area(area), type: 'active' } as const;
			const areListed = () => {
				const shown = queryClient.getQueriesData<ResultOf<typeof browse>>(query).map(([, listing]) => listing);
				return outputPaths.every((path) => {
					const folder = shown.find((listing) => listing?.directory === parentPath(parsePath(path)));
					// Another folder may be on screen by now.
					return !folder || folder.entries.some((entry) => entry.path === path);
				});
			};
			refreshAfterConversion({
				refresh: async () => {
					await queryClient.refetchQueries(query, { throwOnError: true });
					return areListed();
				},
				onFailed: ({ message }) => notify({ intent: 'danger', message: messages.refreshFailed, detail: message }),
				wait: (ms) => wait(ms, controller.signal),
			}).catch((error: unknown) => {
				if (!controller.signal.aborted) throw error;
			});
		},
		[queryClient, notify],
	);
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve, reject) => {
		const timer = setTimeout(resolve, ms);
		signal.addEventListener('abort', () => {
			clearTimeout(timer);
			reject(signal.reason);
		});
	});
}
