import { events } from '@stowage/contract';
import { type Area, isFailure } from '@stowage/rules';
import { matchQuery, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react';
import { endpointUrl, isMutating } from '../client/client.js';
import { refetchJobs, updateJob } from '../jobs/jobs.js';
import { queryKeys } from '../queryKeys.js';
import { sessionQuery } from '../session/sessionQuery.js';
import type { FileSource } from '../sources/FileSource.js';
import { isStreaming, openEventStream } from './eventStream.js';
import { FolderRefresh } from './FolderRefresh.js';
import { subscribedTickets, subscribeToTicketList } from './ticketEvents.js';

/**
 * Refetches the listings of the folder on screen when anybody changes it, if there are events of the source. `onTrash`, always the
 * same function for a user, is called when their trash has changed, or may have.
 */
export function useFolderEvents(source: FileSource['events'], directory: string, onTrash: () => void): void {
	usePageEvents('changed', source?.area ?? 'public', directory, source?.isSignedIn, onTrash);
}

const ignore = () => {};

/** Refetches the trash on screen when another page or client of its user changes it. */
export function useTrashEvents(isSignedIn: boolean): void {
	usePageEvents('trash', 'private', '', isSignedIn ? true : undefined, ignore);
}

/**
 * The returned function lets `refetch` list the trash, which need not be on screen: soon, never while it is being listed, and with the
 * pauses of a page that shows it.
 */
export function useTrashRefresh(refetch: () => void): () => void {
	const queryClient = useQueryClient();
	const current = useRef<FolderRefresh>(undefined);
	useEffect(() => {
		const { refresh, stop } = refreshOf(queryClient, queryKeys.trash.all, { refetch });
		current.current = refresh;
		return stop;
	}, [queryClient, refetch]);
	return useCallback(() => current.current?.onChangeEvent(), []);
}

/**
 * Refetches what is on screen after these events, keeps the user's jobs current, and publishes the events of
 * subscribed tickets. A page has one such stream, and none while its tab is hidden or while `isSignedIn` is unknown.
 */
function usePageEvents(
	event: 'changed' | 'trash',
	area: Area,
	directory: string,
	isSignedIn: boolean | undefined,
	onTrash: () => void,
): void {
	const queryClient = useQueryClient();
	const isShown = useSyncExternalStore(subscribeVisibility, () => document.visibilityState === 'visible');
	const tickets = useSyncExternalStore(subscribeToTicketList, subscribedTickets);
	// A signed-in user's stream has the events of all their tickets; a visitor's has those that it names.
	const named = JSON.stringify(isSignedIn === false ? tickets : []);

	useEffect(() => {
		if (isSignedIn === undefined || !isShown) return;
		const queryKey = event === 'trash' ? queryKeys.trash.all : queryKeys.listings.folder(area, directory);
		// The stream is refused while the folder is missing, or is shared with no role: once it can be listed again, there may be one.
		const { refresh, stop } = refreshOf(queryClient, queryKey, { onRecovered: () => stream.retry() });
		const refetch = () => refresh.onChangeEvent();
		const refetchShared = () =>
			void queryClient.invalidateQueries({ queryKey: queryKeys.listings.folder('shared', '') });
		// What was fetched before the tab was hidden, or on an earlier visit, may be out of date.
		const fetched = () =>
			queryClient
				.getQueryCache()
				.findAll({ queryKey, type: 'active', predicate: ({ state }) => state.dataUpdatedAt > 0 });
		if (fetched().some(({ state }) => state.fetchStatus === 'idle')) refetch();
		// For each ticket that is named the stream begins with its current state.
		const ticket = isSignedIn ? [...subscribedTickets()] : JSON.parse(named);
		const urls = withParents(directory).map((folder) =>
			endpointUrl(events, { query: { type: area, directory: folder, ticket } }),
		);
		const stream = openEventStream(urls, {
			onChanged: event === 'changed' ? refetch : () => {},
			onTrash: event === 'trash' ? refetch : onTrash,
			onShared: (isOfFolder) => {
				refetchShared();
				// The role in the folder on screen may be another one, or none, and so may the members of what is in it.
				if (area !== 'public' && event === 'changed' && isOfFolder) refetch();
			},
			onJob: (job) => updateJob(queryClient, job),
			onReconnected: (isOfFolder) => {
				// A folder that was never listed goes on saying why until it is there.
				if (isOfFolder || fetched().length > 0) refetch();
				onTrash();
				refetchShared();
				refetchJobs(queryClient);
				// A server that was restarted may have other settings, such as no trash any more.
				void queryClient.invalidateQueries({ queryKey: queryKeys.capabilities });
			},
			onDisconnected: (isOpened) => {
				// The stream also ends with the session. While that of a folder above is open it has not.
				if (isSignedIn && !isStreaming()) void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
				// And with the role in a shared folder. While it is refused no event says that the role, or the folder, is gone; and once the
				// server answers again, the stream waits no longer either. A folder that was never listed goes on saying why.
				if ((area === 'shared' || !isOpened) && fetched().length > 0) refetch();
			},
			isMissing: () =>
				queryClient
					.getQueryCache()
					.findAll({ queryKey, type: 'active' })
					.some(({ state }) => isFailure(state.error, 'notFound')),
		});
		return () => {
			stream.close();
			stop();
		};
	}, [queryClient, event, area, directory, isSignedIn, isShown, named, onTrash]);
}

/** More folders above a missing one are not asked for. */
const maxParents = 16;

/** The folder, and those above it, the nearest first. */
function withParents(directory: string): string[] {
	const folders = [directory];
	for (let folder = directory; folder !== '' && folders.length <= maxParents; folders.push(folder))
		folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')));
	return folders;
}

/**
 * Refetches what is on screen, or what `refetch` fetches instead. The old rows are shown until the new ones have arrived. `onRecovered`
 * is called once it could be fetched after it could not.
 */
export function refreshOf(
	queryClient: QueryClient,
	queryKey: readonly string[],
	{ refetch, onRecovered = ignore }: { refetch?: () => void; onRecovered?: () => void },
) {
	let hasFailed = false;
	const refresh = new FolderRefresh({
		refetch: refetch ?? (() => void queryClient.invalidateQueries({ queryKey })),
		isFetching: () => queryClient.isFetching({ queryKey, ...(!refetch && { type: 'active' }) }) > 0,
		isMutating,
		now: () => performance.now(),
		schedule(action, ms) {
			const timer = setTimeout(action, ms);
			return () => clearTimeout(timer);
		},
	});
	const unsubscribe = queryClient.getQueryCache().subscribe((event) => {
		if (event.type !== 'updated' || !matchQuery({ queryKey }, event.query)) return;
		const { type } = event.action;
		if (type === 'fetch') refresh.onFetchStarted();
		else if (type === 'failed') refresh.onFetchRetried();
		else if (type === 'success' || type === 'error') {
			refresh.onFetchEnded(type);
			const hasRecovered = hasFailed && type === 'success';
			hasFailed = type === 'error';
			if (hasRecovered) onRecovered();
		}
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
