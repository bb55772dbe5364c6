import { isFailure } from '@stowage/rules';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { linksQuery, revokeTemporaryLink, type TemporaryLink } from '../../api/links.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { linkMessages as messages } from './messages.js';

const noticeKey = 'links-revoked';

/**
 * The temporary links of the signed-in user, whose pages are shown as they arrive. A revoked one is removed from the
 * list at once and restored if that fails.
 */
export function useMyLinks() {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const { data, error, refetch, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery(linksQuery);
	const links = useMemo(() => data?.pages.flatMap((page) => page.links), [data]);
	useEffect(() => {
		// A page that failed is fetched after the next refresh.
		if (hasNextPage && !isFetching && !error) void fetchNextPage();
	}, [hasNextPage, isFetching, error, fetchNextPage]);
	const { mutate: revoke } = useMutation({
		mutationFn: ({ id }: TemporaryLink) => revokeTemporaryLink(id),
		async onMutate({ id }) {
			await queryClient.cancelQueries({ queryKey: linksQuery.queryKey });
			queryClient.setQueryData(
				linksQuery.queryKey,
				(cached) =>
					cached && {
						...cached,
						pages: cached.pages.map((page) => ({ ...page, links: page.links.filter((link) => link.id !== id) })),
					},
			);
		},
		onSuccess: (_, { path }) => notify({ key: noticeKey, intent: 'success', message: messages.revoked(path) }),
		onError(failure, { path }) {
			// It has expired already, so there is nothing left to revoke.
			if (isFailure(failure, 'notFound'))
				return notify({ key: noticeKey, intent: 'success', message: messages.revoked(path) });
			void queryClient.invalidateQueries({ queryKey: linksQuery.queryKey });
			return notify({ key: noticeKey, intent: 'danger', message: messages.revokeFailed, detail: failure.message });
		},
	});
	return { links, error, retry: () => void refetch(), revoke };
}
