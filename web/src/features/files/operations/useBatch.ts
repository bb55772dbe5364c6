import { Failure, isFailure } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { queryKeys } from '../../../api/queryKeys.js';
import { refreshSession } from '../../../api/session/refreshSession.js';
import { sessionQuery } from '../../../api/session/sessionQuery.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { delayedNotice } from './delayedNotice.js';
import { operationMessages as messages } from './messages.js';
import { type Outcome, runEach } from './runEach.js';

export interface BatchOptions {
	/** It can't be taken back: the server is asked who is signed in before the first one, and at most once a second after that. */
	isForGood?: boolean;
}

export type RunBatch = <T>(
	title: string,
	items: readonly T[],
	work: (item: T) => Promise<unknown>,
	options?: BatchOptions,
) => Promise<Outcome<T>>;

/** For how long an answer to who is signed in is believed before further items are done for good. */
const askedMs = 1000;

/**
 * Makes calls one after another and shows their progress in the notification bar. `Cancel` is there as long as a further item could be
 * left out: what the server has begun it completes. It goes on when the page is left, but not for another user.
 */
export function useBatch(): RunBatch {
	const queryClient = useQueryClient();
	const { notify, dismiss } = useNotify();
	return useCallback(
		async (title, items, work, { isForGood = false } = {}) => {
			const controller = new AbortController();
			const { signal } = controller;
			const notice = delayedNotice({ notify, dismiss });
			const signedIn = () => queryClient.getQueryData(sessionQuery.queryKey)?.username;
			const user = signedIn();
			let believedMs = 0;
			const workAsUser = async (item: (typeof items)[number]) => {
				// Before the first one in any case: what was known when the page was loaded is not asked for it.
				if (user && isForGood) await refreshSession(queryClient, believedMs, new AbortController().signal);
				believedMs = askedMs;
				// On the same paths another user has other files.
				if (user && signedIn() !== user) throw new Failure('notSignedIn', messages.notSignedInAnyMore(user));
				await work(item);
			};
			let ended = 0;
			const show = () => {
				const mayStop = !signal.aborted && ended + 1 < items.length;
				notice.show({
					message: title,
					progress: items.length > 1 ? ended / items.length : 'indeterminate',
					...(mayStop && { onCancel: stop }),
				});
			};
			const stop = () => {
				controller.abort();
				show();
			};
			show();
			try {
				const onProgress = (count: number) => {
					ended = count;
					show();
				};
				const outcome = await runEach(items, workAsUser, { signal, onProgress });
				if (isFailure(outcome.reason, 'notSignedIn')) {
					void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
				}
				// The server may have other settings than the page knows, such as no trash any more.
				if (isFailure(outcome.reason, 'conflict')) {
					void queryClient.invalidateQueries({ queryKey: queryKeys.capabilities });
				}
				return outcome;
			} finally {
				notice.end();
			}
		},
		[queryClient, notify, dismiss],
	);
}
