import { isFailure } from '@stowage/rules';
import { messages } from '../../../messages.js';
import { accountMessages } from '../messages.js';

export type PasswordFieldName = 'current' | 'new' | 'confirm';

export interface PasswordFormError {
	message: string;
	/** What has to be corrected; undefined if the same may be tried again. */
	field: PasswordFieldName | undefined;
}

export interface PasswordForm extends Readonly<Record<PasswordFieldName, string>> {
	/** Why the last attempt failed. */
	error: PasswordFormError | undefined;
	isBusy: boolean;
}

export const emptyPasswordForm: PasswordForm = { current: '', new: '', confirm: '', error: undefined, isBusy: false };

export type PasswordFormAction =
	| { type: 'typed'; field: PasswordFieldName; value: string }
	| { type: 'submitted' }
	| { type: 'failed'; error: PasswordFormError }
	| { type: 'succeeded' };

export function passwordFormReducer(form: PasswordForm, action: PasswordFormAction): PasswordForm {
	switch (action.type) {
		case 'typed':
			return { ...form, [action.field]: action.value };
		case 'submitted':
			return { ...form, error: undefined, isBusy: true };
		case 'failed':
			return { ...form, error: action.error, isBusy: false };
		case 'succeeded':
			return emptyPasswordForm;
	}
}

/** Whether nothing was typed into the form. */
export function isEmpty(form: PasswordForm): boolean {
	return form.current === '' && form.new === '' && form.confirm === '';
}

export function maySubmit(form: PasswordForm): boolean {
	return !form.isBusy && form.current !== '' && form.new !== '' && form.confirm !== '';
}

/** An error that is found without the server. */
export function formError(form: PasswordForm): PasswordFormError | undefined {
	return form.new === form.confirm ? undefined : { message: messages.passwordsDoNotMatch, field: 'confirm' };
}

export function describeError(error: Error): PasswordFormError {
	if (!isFailure(error)) return { message: accountMessages.changePasswordFailed, field: undefined };
	const field = isFailure(error, 'badCredentials') ? 'current' : isFailure(error, 'invalid') ? 'new' : undefined;
	return { message: error.message, field };
}
