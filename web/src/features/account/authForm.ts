import { messages } from '../../messages.js';

export type AuthMode = 'login' | 'register';

export interface AuthForm {
	username: string;
	password: string;
	confirm: string;
	/** Why the last attempt failed. */
	error: string | undefined;
	isBusy: boolean;
}

export const emptyAuthForm: AuthForm = { username: '', password: '', confirm: '', error: undefined, isBusy: false };

export type AuthFormAction =
	| { type: 'changed'; field: 'username' | 'password' | 'confirm'; value: string }
	| { type: 'submitted' }
	| { type: 'failed'; error: string }
	| { type: 'modeChanged' }
	| { type: 'reset' };

export function authFormReducer(form: AuthForm, action: AuthFormAction): AuthForm {
	switch (action.type) {
		case 'changed':
			return { ...form, [action.field]: action.value };
		case 'submitted':
			return { ...form, error: undefined, isBusy: true };
		case 'failed':
			return { ...form, error: action.error, isBusy: false };
		case 'modeChanged':
			// The name is kept; the passwords belong to the other form.
			return { ...emptyAuthForm, username: form.username };
		case 'reset':
			return emptyAuthForm;
	}
}

export function maySubmit({ username, password, confirm, isBusy }: AuthForm, mode: AuthMode): boolean {
	return !isBusy && username !== '' && password !== '' && (mode === 'login' || confirm !== '');
}

/** An error that is found without the server. */
export function formError({ password, confirm }: AuthForm, mode: AuthMode): string | undefined {
	return mode === 'register' && password !== confirm ? messages.passwordsDoNotMatch : undefined;
}

export function serverError(mode: AuthMode, reason: string): string {
	return mode === 'login' ? messages.loginFailed(reason) : messages.registrationFailed(reason);
}
