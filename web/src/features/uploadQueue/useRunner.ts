import { isFailure, rootPath } from '@stowage/rules';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { type Dispatch, useEffect, useMemo, useRef } from 'react';
import { listingKey, sessionQuery } from '../../api/queries.js';
import { formTransport } from '../../api/uploads.js';
import { messages } from '../../messages.js';
import { runUploads } from './runUploads.js';
import { isWaiting, type UploadQueueAction, type UploadQueueState, type UploadTarget } from './uploadQueue.js';

/** How long a success stays on screen. */
const successMilliseconds = 3000;

/** The part of the queue that reaches out: who is signed in, the uploads, and the listings that they change. */
export function useRunner(state: UploadQueueState, dispatch: Dispatch<UploadQueueAction>) {
	const queryClient = useQueryClient();
	const latest = useRef(state);
	useEffect(() => {
		latest.current = state;
	}, [state]);
	const abort = useRef<AbortController | undefined>(undefined);

	useEffect(() => {
		if (!state.hasSucceeded) return;
		const timer = setTimeout(() => dispatch({ type: 'completedCleared' }), successMilliseconds);
		return () => clearTimeout(timer);
	}, [state.hasSucceeded, dispatch]);

	return useMemo(
		() => ({
			async add(files: readonly File[], target?: UploadTarget): Promise<void> {
				if (files.length === 0) return;
				const isVisitor = !(await isSignedIn(queryClient));
				const place = target ?? { area: isVisitor ? 'public' : 'private', directory: rootPath };
				dispatch({ type: 'added', files, target: place, isPublic: isVisitor || place.area === 'public' });
			},
			async start(ids?: readonly number[]): Promise<void> {
				const isVisitor = !(await isSignedIn(queryClient));
				const { items, run } = latest.current;
				if (run || abort.current) return;
				const chosen = items.filter((item) => isWaiting(item) && (!ids || ids.includes(item.id)));
				if (chosen.length === 0) return;
				const controller = new AbortController();
				abort.current = controller;
				try {
					await runUploads(chosen, {
						isVisitor,
						transport: formTransport,
						signal: controller.signal,
						dispatch,
						onUploaded: (area, directory) =>
							void queryClient.invalidateQueries({ queryKey: listingKey(area, directory) }),
						onSessionEnded: () => void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }),
						describe: (error) => (isFailure(error) ? error.message : messages.uploadFailed),
					});
				} finally {
					if (abort.current === controller) abort.current = undefined;
				}
			},
			cancel(): void {
				abort.current?.abort();
				abort.current = undefined;
				dispatch({ type: 'emptied' });
			},
		}),
		[queryClient, dispatch],
	);
}

async function isSignedIn(queryClient: QueryClient): Promise<boolean> {
	try {
		return (await queryClient.ensureQueryData(sessionQuery)).isLoggedIn;
	} catch {
		return false;
	}
}
