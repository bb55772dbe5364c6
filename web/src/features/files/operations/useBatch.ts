import { isFailure } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { sessionQuery } from '../../../api/session/sessionQuery.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { type Outcome, runEach } from './runEach.js';

/** Work that ends sooner is done without a progress bar. */
export const noticeDelayMs = 400;

const noticeKey = 'files-batch';

export type RunBatch = <T>(
	title: string,
	items: readonly T[],
	work: (item: T, signal: AbortSignal) => Promise<unknown>,
) => Promise<Outcome<T>>;

/** Makes calls one after another and shows their progress in the notification bar, with `Cancel`. */
export function useBatch(): RunBatch {
	const queryClient = useQueryClient();
	const { notify, dismiss } = useNotify();
	const running = useRef(new Set<AbortController>());

	useEffect(() => {
		const controllers = running.current;
		return () => {
			for (const controller of controllers) controller.abort();
		};
	}, []);

	return useCallback(
		async (title, items, work) => {
			const controller = new AbortController();
			running.current.add(controller);
			let ended = 0;
			const show = () =>
				notify({
					key: noticeKey,
					message: title,
					progress: items.length > 1 ? ended / items.length : 'indeterminate',
					onCancel: () => controller.abort(),
				});
			let isShown = false;
			const timer = setTimeout(() => {
				isShown = true;
				show();
			}, noticeDelayMs);
			try {
				const outcome = await runEach(items, work, {
					signal: controller.signal,
					onProgress: (count) => {
						ended = count;
						if (isShown) show();
					},
				});
				if (isFailure(outcome.reason, 'notSignedIn')) {
					void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
				}
				return outcome;
			} finally {
				clearTimeout(timer);
				running.current.delete(controller);
				if (isShown) dismiss(noticeKey);
			}
		},
		[queryClient, notify, dismiss],
	);
}
