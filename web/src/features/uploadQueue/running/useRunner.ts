import { plural, rootPath } from '@stowage/rules';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { type Dispatch, useEffect, useMemo, useRef } from 'react';
import { queryKeys } from '../../../api/queryKeys.js';
import { sessionQuery } from '../../../api/session/sessionQuery.js';
import {
	createFolderEnsurer,
	discardUpload,
	preloadTransport,
	uploadFile,
} from '../../../api/uploads/lazyTransport.js';
import { messages } from '../../../messages.js';
import type { Notice } from '../../../ui/notifications/notifications.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { useLatest } from '../../../ui/useLatest.js';
import { type Chosen, hasFolders } from '../choosing/chosenFiles.js';
import { createNameLookup } from '../conflicts/lookUpNames.js';
import type { UploadDestination } from '../destination.js';
import { findItem, isWaiting, mayUploadAs, type QueueItem, type UploadTarget } from '../queueItem.js';
import type { UploadQueueAction, UploadQueueState } from '../uploadQueue.js';
import { batchActions } from './batchActions.js';
import { createEmptyFolders } from './createEmptyFolders.js';
import { describeFailure } from './describeFailure.js';
import { paused, placeOf, runUploads } from './runUploads.js';
import { UploadAttempts } from './UploadAttempts.js';
import { waitForSignIn } from './waitForSignIn.js';

/** Work that ends sooner is done without a notice. */
const noticeDelayMs = 400;

/** How long a success stays on screen. */
const successMs = 3000;

/** Failures that end a run, since the share does not answer any more as it did. */
const refusals = ['expired', 'notFound', 'passwordRequired'] as const;

/** The part of the queue with effects: the session, the uploads, and the listings that they change. */
export function useRunner(
	state: UploadQueueState,
	dispatch: Dispatch<UploadQueueAction>,
	destination: UploadDestination,
) {
	const queryClient = useQueryClient();
	const { notify, dismiss } = useNotify();
	const latest = useLatest(state);
	const running = useRef<{ abort: AbortController; ended: Promise<void> } | undefined>(undefined);

	useEffect(() => {
		if (!state.hasSucceeded) return;
		const timer = setTimeout(() => dispatch({ type: 'completedCleared' }), successMs);
		return () => clearTimeout(timer);
	}, [state.hasSucceeded, dispatch]);

	return useMemo(() => {
		const attempts = new UploadAttempts();
		const share = destination.kind === 'share' ? destination : undefined;
		const username = () =>
			share ? undefined : (queryClient.getQueryData(sessionQuery.queryKey)?.username ?? undefined);
		const discardOne = share?.discard ?? discardUpload;
		/** Removes from the server what attempts have left there of items that are not wanted any more. */
		const discard = async (items: readonly QueueItem[]) => {
			await Promise.all(items.flatMap(({ id }) => attempts.takeBegun(id)).map(discardOne));
		};
		/** Shows a notice while a large folder is being read. */
		const withNotice = async (choice: Chosen | Promise<Chosen>): Promise<Chosen> => {
			const key = 'reading-folder';
			const notice = { key, message: messages.readingFolder, progress: 'indeterminate' } as const;
			const timer = setTimeout(() => notify(notice), noticeDelayMs);
			try {
				return await choice;
			} finally {
				clearTimeout(timer);
				dismiss(key);
			}
		};
		const addToQueue = async (choice: Chosen | Promise<Chosen>, target?: UploadTarget): Promise<void> => {
			const user = share ? undefined : await signedInUser(queryClient);
			const isVisitor = user === undefined;
			const chosen = await withNotice(choice);
			const place = target ?? { area: isVisitor && !share ? 'public' : 'private', directory: rootPath };
			if (isVisitor && hasFolders(chosen)) {
				notify({ intent: 'danger', message: share ? messages.foldersNotReceived : messages.foldersNeedSignIn });
				return;
			}
			const { files, emptyFolders, unreadable } = chosen;
			if (unreadable.length > 0) notify(unreadableNotice(chosen));
			const isPublic = !share && (isVisitor || place.area === 'public');
			if (files.length > 0) {
				preloadTransport();
				dispatch({ type: 'added', files, emptyFolders, target: place, isPublic, username: user });
			} else if (emptyFolders.length > 0) {
				const places = emptyFolders.map((folder) => placeOf({ folder, target: place, isPublic, username: user }));
				await createEmptyFolders(places, queryClient, { notify, dismiss });
			}
		};
		/** Reports an error that belongs to no item of the queue. */
		const fail = (error: unknown) => {
			const detail = error instanceof Error ? { detail: error.message } : {};
			notify({ intent: 'danger', message: messages.uploadsFailed, ...detail });
		};
		return {
			add: (choice: Chosen | Promise<Chosen>, target?: UploadTarget) => addToQueue(choice, target).catch(fail),
			async start(ids?: readonly number[]): Promise<void> {
				const user = share ? undefined : await signedInUser(queryClient);
				const { items, folders, run } = latest.current;
				if (run || running.current) return;
				const waiting = items.filter((item) => isWaiting(item) && (!ids || ids.includes(item.id)));
				// Those of another user hold up nobody's: if they are all, the run waits until that user signs in.
				const own = waiting.filter((item) => mayUploadAs(user, item));
				const [first, ...others] = own.length === 0 ? waiting : own;
				if (!first || share?.isReady() === false) return;
				const chosen = [first, ...others].map(({ id }) => id);
				const abort = new AbortController();
				const ended = runUploads(chosen, {
					itemOf: (id) => findItem(latest.current.items, id),
					username,
					sender: share?.sender(),
					transport: share?.transport ?? uploadFile,
					ensureFolder: createFolderEnsurer(),
					nameStateOf: share ? async () => 'free' : createNameLookup(queryClient, username()),
					uploaded: items.filter(({ status }) => status === 'completed'),
					folders: folders.filter((folder) => mayUploadAs(first.username ?? user, folder)),
					discard: discardOne,
					waitForSignIn: (wait) => waitForSignIn(queryClient, wait),
					attempts,
					signal: abort.signal,
					dispatch: batchActions(dispatch),
					onUploaded: (area, directory) => {
						if (share) share.onReceived();
						else void queryClient.invalidateQueries({ queryKey: queryKeys.listings.folder(area, directory) });
					},
					describe: describeFailure,
					...(share && { fatalKinds: refusals }),
				})
					.catch((error: unknown) => {
						dispatch({ type: 'runEnded' });
						fail(error);
					})
					.finally(() => {
						if (running.current?.abort === abort) running.current = undefined;
						if (!share) refreshQuota(queryClient);
					});
				running.current = { abort, ended };
				await ended;
			},
			remove(id: number): void {
				const user = username();
				const { items, run } = latest.current;
				// While an upload runs nothing is removed.
				if (run) return;
				void discard(items.filter((item) => item.id === id && mayUploadAs(user, item)));
				dispatch({ type: 'removed', id, username: user });
			},
			cancel(): void {
				const user = username();
				const { items, run } = latest.current;
				if (run && items.some((item) => run.has(item.id) && !mayUploadAs(user, item))) {
					// What another user has begun waits as it was, and holds up nobody any more.
					running.current?.abort.abort(paused);
					return;
				}
				running.current?.abort.abort();
				running.current = undefined;
				void discard(items.filter((item) => mayUploadAs(user, item)));
				dispatch({ type: 'cancelled', username: user });
			},
			removeOthers: () => dispatch({ type: 'othersRemoved', username: username() }),
			signedIn(): void {
				const user = username();
				if (user !== undefined) dispatch({ type: 'signedIn', username: user });
			},
			async signedOut(user: string): Promise<void> {
				// The files in transit belong to the account that signed out.
				running.current?.abort.abort(paused);
				await running.current?.ended;
				dispatch({ type: 'signedOut', username: user });
			},
		};
	}, [queryClient, notify, dismiss, dispatch, destination]);
}

/** Unreadable items are left out; it is an error if nothing else was chosen. */
function unreadableNotice({ files, emptyFolders, unreadable }: Chosen): Notice {
	const sentence = messages.leftOut(plural(unreadable.length, 'item'));
	const names = unreadable.slice(0, 3).join(', ');
	if (files.length > 0 || emptyFolders.length > 0) return { intent: 'warning', message: sentence, detail: names };
	return { intent: 'danger', message: messages.uploadsFailed, detail: `${sentence}: ${names}` };
}

/** Uploads count against the user's quota, if there is one. */
function refreshQuota(queryClient: QueryClient): void {
	if (queryClient.getQueryData(sessionQuery.queryKey)?.quota) {
		void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
	}
}

async function signedInUser(queryClient: QueryClient): Promise<string | undefined> {
	try {
		return (await queryClient.ensureQueryData(sessionQuery)).username ?? undefined;
	} catch {
		// While the session is unknown the page shows a visitor's view.
		return undefined;
	}
}
