import { login, register } from '@stowage/contract';
import { isFailure } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useReducer } from 'react';
import { call } from '../../api/client/client.js';
import { sessionQuery } from '../../api/session/sessionQuery.js';
import { messages } from '../../messages.js';
import { type AuthMode, authFormReducer, emptyAuthForm, formError, maySubmit, serverError } from './authForm.js';

/** The form of the auth dialog. `onSignedIn` is called when the whole page knows the session. */
export function useAuth(mode: AuthMode, onSignedIn: () => void) {
	const queryClient = useQueryClient();
	const [form, dispatch] = useReducer(authFormReducer, emptyAuthForm);

	async function submit(): Promise<void> {
		if (!maySubmit(form, mode)) return;
		const error = formError(form, mode);
		if (error !== undefined) {
			dispatch({ type: 'failed', error });
			return;
		}
		dispatch({ type: 'submitted' });
		try {
			const { username, password, confirm: passwordConfirm, code } = form;
			const signedIn =
				mode === 'login'
					? await call(login, { payload: { username, password, ...(code === undefined ? {} : { code: code.trim() }) } })
					: await call(register, { payload: { username, password, passwordConfirm } });
			// A check in flight began before there was a session.
			await queryClient.cancelQueries({ queryKey: sessionQuery.queryKey });
			queryClient.setQueryData(sessionQuery.queryKey, { isLoggedIn: true, ...signedIn, quota: null });
			// The response does not contain the quota.
			void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
			void queryClient.invalidateQueries({ queryKey: ['listing'] });
			dispatch({ type: 'reset' });
			onSignedIn();
		} catch (error) {
			if (!isFailure(error)) {
				dispatch({ type: 'failed', error: serverError(mode, messages.networkError) });
				throw error;
			}
			dispatch({ type: 'failed', error: serverError(mode, error.message), kind: error.kind });
		}
	}

	return { form, dispatch, submit, maySubmit: maySubmit(form, mode) };
}
