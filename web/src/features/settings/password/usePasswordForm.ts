import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useReducer } from 'react';
import { NetworkFailure } from '../../../api/client/client.js';
import { asUser } from '../../../api/session/refreshSession.js';
import { changePassword } from '../../../api/session/replaceSession.js';
import { sessionQuery } from '../../../api/session/sessionQuery.js';
import { refreshAfterReplacement } from '../../../api/session/userSessions.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { accountMessages as messages } from '../messages.js';
import { describeError, emptyPasswordForm, formError, maySubmit, passwordFormReducer } from './passwordForm.js';

/** The form that changes the password of the signed-in user. */
export function usePasswordForm(username: string) {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const [form, dispatch] = useReducer(passwordFormReducer, emptyPasswordForm);
	const { mutate } = useMutation({
		mutationFn: (passwords: Parameters<typeof changePassword>[0]) =>
			asUser(queryClient, username, () => changePassword(passwords)),
		onSuccess() {
			dispatch({ type: 'succeeded' });
			notify({ intent: 'success', message: messages.passwordChanged, detail: messages.passwordChangedDetail });
			refreshAfterReplacement(queryClient, username);
		},
		onError(error) {
			dispatch({ type: 'failed', error: describeError(error) });
			// The password may have been changed all the same, and then the cookie of the new session was lost.
			if (error instanceof NetworkFailure) void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
		},
	});

	function submit(): void {
		if (!maySubmit(form)) return;
		const error = formError(form);
		if (error) {
			dispatch({ type: 'failed', error });
			return;
		}
		dispatch({ type: 'submitted' });
		mutate({ currentPassword: form.current, newPassword: form.new, newPasswordConfirm: form.confirm });
	}

	return { form, dispatch, submit, maySubmit: maySubmit(form) };
}
