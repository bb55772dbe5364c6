import { isFailure } from '@stowage/rules';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { changeShare, deleteShare, type Share, sharesQuery } from '../../../api/shares.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { shareMessages as messages } from './messages.js';
import { shareName } from './shareName.js';

const noticeKey = 'shares-changed';

/** The shares of the signed-in user, whose pages are shown as they arrive, and what is done with one. */
export function useMyShares() {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const { data, error, refetch, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(sharesQuery);
	const shares = useMemo(() => data?.pages.flatMap((page) => page.shares), [data]);
	useEffect(() => {
		// A page that failed is fetched after the next refresh.
		if (hasNextPage && !isFetching && !error) void fetchNextPage();
	}, [hasNextPage, isFetching, error, fetchNextPage]);

	/** Shows a share as it is now, or without it. */
	async function show(id: string, changed: Share | undefined): Promise<void> {
		// An older answer would show what was before.
		await queryClient.cancelQueries({ queryKey: sharesQuery.queryKey });
		queryClient.setQueryData(
			sharesQuery.queryKey,
			(cached) =>
				cached && {
					...cached,
					pages: cached.pages.map((page) => ({
						...page,
						shares: page.shares.flatMap((one) => (one.id === id ? (changed ?? []) : one)),
					})),
				},
		);
	}

	const { mutate: pause } = useMutation({
		mutationFn: ({ id, isPaused }: Share) => changeShare(id, { isPaused: !isPaused }),
		async onSuccess(changed) {
			await show(changed.id, changed);
			const message = changed.isPaused ? messages.paused(shareName(changed)) : messages.resumed(shareName(changed));
			notify({ key: noticeKey, intent: 'success', message });
		},
		onError: (failure) =>
			notify({ key: noticeKey, intent: 'danger', message: messages.changeFailed, detail: failure.message }),
	});

	/** Resolves to whether it is gone. */
	async function remove(share: Share): Promise<boolean> {
		try {
			await deleteShare(share.id);
		} catch (failure) {
			if (!isFailure(failure, 'notFound')) {
				notify({
					key: noticeKey,
					intent: 'danger',
					message: messages.deleteFailed,
					detail: String((failure as Error).message),
				});
				return false;
			}
		}
		await show(share.id, undefined);
		notify({ key: noticeKey, intent: 'success', message: messages.deleted(shareName(share)) });
		return true;
	}

	return {
		shares,
		error,
		retry: () => void refetch(),
		pause,
		remove,
		showChanged: (share: Share) => show(share.id, share),
	};
}
