import { type ReactNode, useMemo, useReducer, useRef } from 'react';
import { NotificationBar } from './NotificationBar.js';
import { notificationsReducer } from './notifications.js';
import { type Notify, NotifyContext } from './useNotify.js';

/** Provides `useNotify()` and renders the notification bar. */
export function NotificationProvider({ children }: { children: ReactNode }) {
	const [shown, dispatch] = useReducer(notificationsReducer, []);
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
			{children}
			<NotificationBar notices={shown} onDismiss={notify.dismiss} />
		</NotifyContext>
	);
}
