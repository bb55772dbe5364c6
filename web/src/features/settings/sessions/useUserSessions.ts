import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { asUser } from '../../../api/session/refreshSession.js';
import {
	endOtherUserSessions,
	endUserSession,
	type UserSession,
	userSessionsQuery,
} from '../../../api/session/userSessions.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { accountMessages as messages } from '../messages.js';
import { clientOf } from './sessionText.js';

const noticeKey = 'sessions-ended';

/** The sessions of the signed-in user. One that is ended is removed from the list at once and restored if that fails. */
export function useUserSessions(username: string) {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const query = userSessionsQuery(username);
	const { data: sessions, error, refetch } = useQuery(query);
	const keep = (isKept: (session: UserSession) => boolean) =>
		queryClient.setQueryData(query.queryKey, (cached) => cached?.filter(isKept));
	const reload = () => queryClient.invalidateQueries({ queryKey: query.queryKey });
	const succeed = (message: string) => void notify({ key: noticeKey, intent: 'success', message });
	const fail = (message: string) => (failure: Error) =>
		void notify({ key: noticeKey, intent: 'danger', message, detail: failure.message });

	const { mutate: end } = useMutation({
		mutationFn: ({ id }: UserSession) => asUser(queryClient, username, () => endUserSession(id)),
		async onMutate({ id }) {
			await queryClient.cancelQueries({ queryKey: query.queryKey });
			keep((session) => session.id !== id);
		},
		onSuccess: (_, session) => succeed(messages.sessionEnded(clientOf(session))),
		onError: fail(messages.endSessionFailed),
		onSettled: reload,
	});
	const others = useMutation({
		mutationFn: () => asUser(queryClient, username, endOtherUserSessions),
		async onSuccess() {
			await queryClient.cancelQueries({ queryKey: query.queryKey });
			keep(({ current }) => current);
			succeed(messages.othersEnded);
		},
		onError: fail(messages.endOthersFailed),
		onSettled: reload,
	});
	return {
		sessions,
		error,
		retry: () => void refetch(),
		end,
		/** Resolves to whether they were ended. */
		endOthers: () =>
			others.mutateAsync().then(
				() => true,
				// The notice shows the reason.
				() => false,
			),
	};
}
