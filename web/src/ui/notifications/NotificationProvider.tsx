import { type ReactNode, useMemo, useReducer, useRef, useState } from 'react';
import { NotificationBar } from './NotificationBar.js';
import { notificationsReducer } from './notifications.js';
import { CoveredContext } from './useCovered.js';
import { type Notify, NotifyContext } from './useNotify.js';

/** Provides `useNotify()` and renders the notification bar. */
export function NotificationProvider({ children }: { children: ReactNode }) {
	const [shown, dispatch] = useReducer(notificationsReducer, []);
	const [covered, setCovered] = useState(0);
	const count = useRef(0);
	const notify = useMemo<Notify>(
		() => ({
			notify(notice) {
				const key = notice.key ?? `notice-${++count.current}`;
				dispatch({ type: 'shown', notice: { ...notice, key } });
				return key;
			},
			dismiss: (key) => dispatch({ type: 'dismissed', key }),
		}),
		[],
	);
	return (
		<NotifyContext value={notify}>
			<CoveredContext value={covered}>{children}</CoveredContext>
			<NotificationBar notices={shown} onDismiss={notify.dismiss} onCovered={setCovered} />
		</NotifyContext>
	);
}
