import { events } from '@stowage/contract';
import type { Area } from '@stowage/rules';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { endpointUrl, isChangingSomething } from '../client/client.js';
import { listingKey } from '../listings/listingQuery.js';
import { sessionQuery } from '../session/sessionQuery.js';
import { openEventStream } from './eventStream.js';
import { FolderRefresh } from './FolderRefresh.js';
import { followedTickets, subscribeFollowedTickets } from './ticketEvents.js';

/**
 * Keeps the listings of the folder on screen up to date, whoever changes it, and brings the news of followed tickets. A page has one such stream, and none
 * while its tab is hidden. Nothing happens while it is not known who looks at it.
 */
export function useFolderEvents(area: Area, directory: string, isSignedIn: boolean | undefined): void {
	const queryClient = useQueryClient();
	const isShown = useSyncExternalStore(subscribeVisibility, () => document.visibilityState === 'visible');
	const tickets = useSyncExternalStore(subscribeFollowedTickets, followedTickets);
	// A signed-in person's stream brings the news of all their tickets; a visitor names them.
	const named = JSON.stringify(isSignedIn === false ? tickets : []);

	useEffect(() => {
		if (isSignedIn === undefined || !isShown) return;
		const { refresh, stop } = refreshOf(queryClient, area, directory);
		// What was read before the tab was hidden, or the last time that somebody was here, may be old.
		const shown = queryClient.getQueryCache().findAll({ queryKey: listingKey(area, directory), type: 'active' });
		if (shown.some(({ state }) => state.dataUpdatedAt > 0 && state.fetchStatus === 'idle')) refresh.onNews();
		// Whoever names a ticket also hears where it stood while nobody listened.
		const ticket = isSignedIn ? [...followedTickets()] : JSON.parse(named);
		const url = endpointUrl(events, { query: { type: area, directory, ticket } });
		const close = openEventStream(url, {
			onChanged: () => refresh.onNews(),
			onReopened: () => refresh.onNews(),
			onLost: () => {
				// It ends with the session too.
				if (isSignedIn) void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
			},
		});
		return () => {
			close();
			stop();
		};
	}, [queryClient, area, directory, isSignedIn, isShown, named]);
}

/** Reads the listings of the folder that are on screen again, quietly: what is shown stays until the new one is there. */
function refreshOf(queryClient: QueryClient, area: Area, directory: string) {
	const queryKey = listingKey(area, directory);
	const refresh = new FolderRefresh({
		read: () => void queryClient.invalidateQueries({ queryKey }),
		isReading: () => queryClient.isFetching({ queryKey, type: 'active' }) > 0,
		isChanging: isChangingSomething,
		now: () => performance.now(),
		later(action, ms) {
			const timer = setTimeout(action, ms);
			return () => clearTimeout(timer);
		},
	});
	const unsubscribe = queryClient.getQueryCache().subscribe((event) => {
		if (event.type !== 'updated') return;
		const [, eventArea, eventDirectory] = event.query.queryKey;
		if (eventArea !== area || eventDirectory !== directory) return;
		const { type } = event.action;
		if (type === 'fetch') refresh.onReadingStarted();
		else if (type === 'failed') refresh.onReadingRetried();
		else if (type === 'success' || type === 'error') refresh.onReadingEnded(type);
	});
	return {
		refresh,
		stop() {
			unsubscribe();
			refresh.stop();
		},
	};
}

function subscribeVisibility(onChange: () => void): () => void {
	document.addEventListener('visibilitychange', onChange);
	return () => document.removeEventListener('visibilitychange', onChange);
}
