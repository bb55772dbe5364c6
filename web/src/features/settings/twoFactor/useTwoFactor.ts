import { useQuery, useQueryClient } from '@tanstack/react-query';
import { sessionQuery } from '../../../api/session/sessionQuery.js';
import { type TwoFactorState, twoFactorQuery } from '../../../api/session/twoFactor.js';
import { refreshAfterReplacement } from '../../../api/session/userSessions.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { twoFactorMessages as messages } from './messages.js';

/** Whether the user signs in with a second factor, and how the page learns that it has changed. */
export function useTwoFactor(username: string) {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const query = twoFactorQuery(username);
	const { data: state, error, refetch } = useQuery(query);

	/** Shows the state that a call has made. */
	async function show(next: TwoFactorState) {
		// A request in flight began before.
		await queryClient.cancelQueries({ queryKey: query.queryKey });
		queryClient.setQueryData(query.queryKey, next);
		if (next.isEnabled) refreshAfterReplacement(queryClient, username);
		notify({
			key: 'two-factor',
			intent: 'success',
			...(next.isEnabled
				? { message: messages.turnedOn, detail: messages.turnedOnDetail }
				: { message: messages.turnedOff }),
		});
	}

	/** Fetches the session again after an answer was lost, with which it may have ended. */
	async function reload() {
		await queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
		await refetch();
	}

	return { state, error, reload: () => void reload(), show };
}
