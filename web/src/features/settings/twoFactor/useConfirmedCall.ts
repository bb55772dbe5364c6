import { isFailure } from '@stowage/rules';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { asUser } from '../../../api/session/refreshSession.js';

export interface ConfirmedCallOptions<T> {
	/** Whose account it changes. */
	username: string;
	/** Gets the password once the server has asked for it. */
	request: (confirmation: { currentPassword?: string }) => Promise<T>;
	onSuccess: (result: T) => void;
	/** The sentence for a failure without one. */
	failed: string;
}

export interface ConfirmedCall {
	/** Undefined until the server has asked for it. */
	password: string | undefined;
	setPassword: (password: string | undefined) => void;
	/** Why the last attempt failed. */
	error: string | undefined;
	isPasswordWrong: boolean;
	/** The code of the second factor is wrong or missing. */
	isCodeWrong: boolean;
	isBusy: boolean;
	maySubmit: boolean;
	/** Resolves to whether it succeeded. */
	submit: () => Promise<boolean>;
}

/** A call that needs the current password if the user signed in too long ago. */
export function useConfirmedCall<T>({ username, request, onSuccess, failed }: ConfirmedCallOptions<T>): ConfirmedCall {
	const queryClient = useQueryClient();
	const [password, setPassword] = useState<string>();
	const { mutateAsync, reset, error, isPending } = useMutation({
		mutationFn: (confirmation: { currentPassword?: string }) =>
			asUser(queryClient, username, () => request(confirmation)),
		onSuccess,
		onError(failure) {
			if (isFailure(failure, 'passwordRequired')) setPassword('');
		},
	});
	const maySubmit = !isPending && password !== '';
	return {
		password,
		setPassword(next) {
			if (next === undefined) reset();
			setPassword(next);
		},
		// The field that appears asks for it already.
		error: !error || isFailure(error, 'passwordRequired') ? undefined : isFailure(error) ? error.message : failed,
		isPasswordWrong: isFailure(error, 'badCredentials'),
		isCodeWrong: isFailure(error, 'secondFactor'),
		isBusy: isPending,
		maySubmit,
		submit: async () =>
			maySubmit &&
			mutateAsync(password === undefined ? {} : { currentPassword: password }).then(
				() => true,
				// Shown as `error`.
				() => false,
			),
	};
}
