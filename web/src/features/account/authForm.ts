import type { FailureKind } from '@stowage/rules';
import { messages } from '../../messages.js';
import { authMessages } from './messages.js';

export type AuthMode = 'login' | 'register';

export interface AuthForm {
	username: string;
	password: string;
	confirm: string;
	/** The code of the second factor; undefined until the server has asked for it. */
	code: string | undefined;
	isCodeWrong: boolean;
	/** Why the last attempt failed. */
	error: string | undefined;
	isBusy: boolean;
}

export const emptyAuthForm: AuthForm = {
	username: '',
	password: '',
	confirm: '',
	code: undefined,
	isCodeWrong: false,
	error: undefined,
	isBusy: false,
};

export type AuthFieldName = 'username' | 'password' | 'confirm' | 'code';

export type AuthFormAction =
	| { type: 'changed'; field: AuthFieldName; value: string }
	| { type: 'submitted' }
	| { type: 'failed'; error: string; kind?: FailureKind | undefined }
	| { type: 'modeChanged' }
	| { type: 'reset' };

export function authFormReducer(form: AuthForm, action: AuthFormAction): AuthForm {
	switch (action.type) {
		case 'changed':
			return {
				...(action.field === 'username' ? withoutCode(form) : form),
				[action.field]: action.value,
				isBusy: form.isBusy && !endsAttempt(action),
			};
		case 'submitted':
			return { ...form, error: undefined, isBusy: true };
		case 'failed':
			return { ...failed(form, action), isBusy: false };
		case 'modeChanged':
			// The name is kept; the passwords belong to the other form.
			return { ...emptyAuthForm, username: form.username };
		case 'reset':
			return emptyAuthForm;
	}
}

/**
 * Whether the form is no longer the one that was submitted, so that the answer would be shown in another. An attempt
 * may have used its code up, so it is not ended by another.
 */
export function endsAttempt(action: AuthFormAction): boolean {
	if (action.type === 'changed') return action.field !== 'code';
	return action.type === 'modeChanged' || action.type === 'reset';
}

/** The form without the code and its error: another user may have no second factor. */
function withoutCode(form: AuthForm): AuthForm {
	return form.code === undefined ? form : { ...form, code: undefined, isCodeWrong: false, error: undefined };
}

function failed(form: AuthForm, { error, kind }: AuthFormAction & { type: 'failed' }): AuthForm {
	// The server asks for the code, which is no error.
	if (kind === 'secondFactor' && form.code === undefined) return { ...form, code: '' };
	if (kind === 'badCredentials') return { ...withoutCode(form), error };
	return { ...form, isCodeWrong: kind === 'secondFactor', error };
}

export function maySubmit({ username, password, confirm, code, isBusy }: AuthForm, mode: AuthMode): boolean {
	if (isBusy || username === '' || password === '') return false;
	return mode === 'login' ? code?.trim() !== '' : confirm !== '';
}

/** An error that is found without the server. */
export function formError({ password, confirm }: AuthForm, mode: AuthMode): string | undefined {
	return mode === 'register' && password !== confirm ? messages.passwordsDoNotMatch : undefined;
}

export function serverError(mode: AuthMode, reason: string): string {
	return mode === 'login' ? authMessages.loginFailed(reason) : authMessages.registrationFailed(reason);
}
