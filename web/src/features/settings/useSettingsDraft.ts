import { changeSettings } from '@stowage/contract';
import { isFailure, type UserSettings } from '@stowage/rules';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { call, NetworkFailure, UnexplainedFailure, UnreadableAnswer } from '../../api/client/client.js';
import { asUser } from '../../api/session/refreshSession.js';
import { sessionQuery } from '../../api/session/sessionQuery.js';
import { messages } from '../../messages.js';
import { settingsMessages } from './messages.js';

/** How long the success is shown before the dialog closes. */
const closeDelayMs = 1000;

/**
 * The settings as they are being edited. `onDone` is called a second after they were saved, unless something else was
 * begun by then: a further change, or what another part of the dialog holds.
 */
export function useSettingsDraft(username: string, saved: UserSettings, isHeld: boolean, onDone: () => void) {
	const queryClient = useQueryClient();
	const [draft, setDraft] = useState<Partial<UserSettings>>({});
	const changes = changedSettings(saved, draft);
	const { mutate, isPending, isSuccess, error } = useMutation({
		mutationFn: (settings: Partial<UserSettings>) =>
			asUser(queryClient, username, () => call(changeSettings, { payload: { settings } })),
		onSuccess: ({ settings }) => {
			queryClient.setQueryData(sessionQuery.queryKey, (session) => session && { ...session, settings });
			setDraft({});
		},
	});

	const isBegun = isHeld || changes !== undefined;
	/** Something was begun since they were saved. When that is done, nobody expects the dialog to close. */
	const wasBegun = useRef(false);
	useEffect(() => {
		wasBegun.current = isSuccess && (isBegun || wasBegun.current);
		if (!isSuccess || wasBegun.current) return;
		const timer = setTimeout(onDone, closeDelayMs);
		return () => clearTimeout(timer);
	}, [isSuccess, isBegun, onDone]);

	return {
		settings: { ...saved, ...draft },
		change: (change: Partial<UserSettings>) => setDraft((before) => ({ ...before, ...change })),
		save: () => changes && mutate(changes),
		maySave: changes !== undefined && !isPending,
		isSaving: isPending,
		isSaved: isSuccess,
		error: error ? describe(error) : undefined,
	};
}

/** The settings of the draft that differ from the saved ones; undefined if none do. */
export function changedSettings(saved: UserSettings, draft: Partial<UserSettings>): Partial<UserSettings> | undefined {
	const changed = (Object.entries(draft) as [keyof UserSettings, boolean][]).filter(
		([name, value]) => saved[name] !== value,
	);
	return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}

function describe(error: Error): string {
	if (error instanceof NetworkFailure) return messages.networkError;
	if (error instanceof UnexplainedFailure) return settingsMessages.updateSettingsFailed;
	return isFailure(error) && !(error instanceof UnreadableAnswer) ? error.message : settingsMessages.saveSettingsFailed;
}
