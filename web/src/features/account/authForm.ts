import { messages } from '../../messages.js';

export type AuthMode = 'login' | 'register';

export interface AuthForm {
	username: string;
	password: string;
	confirm: string;
	/** Why the last try failed. */
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
			// Who began in the wrong place keeps the name, and not what was only for that place.
			return { ...emptyAuthForm, username: form.username };
		case 'reset':
			return emptyAuthForm;
	}
}

export function maySubmit({ username, password, confirm, isBusy }: AuthForm, mode: AuthMode): boolean {
	return !isBusy && username !== '' && password !== '' && (mode === 'login' || confirm !== '');
}

/** What is wrong with the form before the server is asked. */
export function formError({ password, confirm }: AuthForm, mode: AuthMode): string | undefined {
	return mode === 'register' && password !== confirm ? messages.passwordsDoNotMatch : undefined;
}

export function serverError(mode: AuthMode, reason: string): string {
	return mode === 'login' ? messages.loginFailed(reason) : messages.registrationFailed(reason);
}
