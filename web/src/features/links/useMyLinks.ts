import type { temporaryLinks } from '@stowage/contract';
import { isFailure } from '@stowage/rules';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import { linksQuery, revokeTemporaryLink } from '../../api/links.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { linkMessages as messages } from './messages.js';

export type TemporaryLink = z.output<typeof temporaryLinks.result>[number];

const noticeKey = 'links-revoked';

/** The temporary links of the signed-in user. A revoked one is removed from the list at once and restored if that fails. */
export function useMyLinks() {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const { data: links, error, refetch } = useQuery(linksQuery);
	const { mutate: revoke } = useMutation({
		mutationFn: ({ id }: TemporaryLink) => revokeTemporaryLink(id),
		async onMutate({ id }) {
			await queryClient.cancelQueries({ queryKey: linksQuery.queryKey });
			queryClient.setQueryData(linksQuery.queryKey, (known) => known?.filter((link) => link.id !== id));
		},
		onSuccess: (_, { path }) => notify({ key: noticeKey, intent: 'success', message: messages.revoked(path) }),
		onError(failure, { path }) {
			// It has expired already, so there is nothing left to revoke.
			if (isFailure(failure, 'notFound'))
				return notify({ key: noticeKey, intent: 'success', message: messages.revoked(path) });
			return notify({ key: noticeKey, intent: 'danger', message: messages.revokeFailed, detail: failure.message });
		},
		onSettled: () => queryClient.invalidateQueries({ queryKey: linksQuery.queryKey }),
	});
	return { links, error, retry: () => void refetch(), revoke };
}
