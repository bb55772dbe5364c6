import { createContext, useContext } from 'react';
import type { Notice } from './notifications.js';

export interface Notify {
	/** Shows a notice, or replaces the one with the same key. Returns its key. */
	notify(notice: Notice): string;
	dismiss(key: string): void;
}

export const NotifyContext = createContext<Notify | undefined>(undefined);

/** The notification bar. Returns always the same object, so effects may depend on it. */
export function useNotify(): Notify {
	const notify = useContext(NotifyContext);
	if (!notify) throw new Error('useNotify is used outside of NotificationProvider.');
	return notify;
}
