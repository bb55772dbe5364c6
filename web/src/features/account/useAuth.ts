import { login, register } from '@stowage/contract';
import { isFailure } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useReducer, useRef } from 'react';
import { call } from '../../api/client/client.js';
import { queryKeys } from '../../api/queryKeys.js';
import { sessionQuery } from '../../api/session/sessionQuery.js';
import { messages } from '../../messages.js';
import {
	type AuthFormAction,
	type AuthMode,
	authFormReducer,
	emptyAuthForm,
	endsAttempt,
	formError,
	maySubmit,
	serverError,
} from './authForm.js';

/**
 * The form of the auth dialog. An attempt is aborted when the form changes, closes or is unmounted. `onSignedIn` is
 * called when the whole page knows the session.
 */
export function useAuth(mode: AuthMode, onSignedIn: () => void) {
	const queryClient = useQueryClient();
	const [form, update] = useReducer(authFormReducer, emptyAuthForm);
	const attempt = useRef<AbortController>(undefined);

	useEffect(() => () => attempt.current?.abort(), []);

	function dispatch(action: AuthFormAction): void {
		if (endsAttempt(action)) {
			attempt.current?.abort();
			attempt.current = undefined;
		}
		update(action);
	}

	async function submit(): Promise<void> {
		if (attempt.current || !maySubmit(form, mode)) return;
		const error = formError(form, mode);
		if (error !== undefined) {
			update({ type: 'failed', error });
			return;
		}
		const controller = new AbortController();
		const { signal } = controller;
		attempt.current = controller;
		update({ type: 'submitted' });
		try {
			const { username, password, confirm: passwordConfirm, code } = form;
			const signedIn =
				mode === 'login'
					? await call(login, {
							payload: { username, password, ...(code === undefined ? {} : { code: code.trim() }) },
							signal,
						})
					: await call(register, { payload: { username, password, passwordConfirm }, signal });
			// A check in flight began before there was a session.
			await queryClient.cancelQueries({ queryKey: sessionQuery.queryKey });
			signal.throwIfAborted();
			queryClient.setQueryData(sessionQuery.queryKey, { isLoggedIn: true, ...signedIn, quota: null });
			// The response does not contain the quota.
			void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
			void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
			update({ type: 'reset' });
			onSignedIn();
		} catch (error) {
			if (signal.aborted) {
				// The server may have begun a session before.
				void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
				return;
			}
			// The answer may have been lost behind its cookie.
			if (isFailure(error, 'unavailable')) void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
			if (!isFailure(error)) {
				update({ type: 'failed', error: serverError(mode, messages.networkError) });
				throw error;
			}
			update({ type: 'failed', error: serverError(mode, error.message), kind: error.kind });
		} finally {
			if (attempt.current === controller) attempt.current = undefined;
		}
	}

	return { form, dispatch, submit, maySubmit: maySubmit(form, mode) };
}
