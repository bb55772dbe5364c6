import { OfflineIcon } from '@blueprintjs/icons';
import { useSyncExternalStore } from 'react';
import { filesMessages as messages } from '../messages.js';
import styles from './ConnectionNote.module.css';

export interface ConnectionNoteProps {
	/** The server does not respond. */
	isOffline: boolean;
}

/** Warns that the list may be out of date. */
export function ConnectionNote({ isOffline }: ConnectionNoteProps) {
	const isOnline = useIsOnline();
	const text = isOnline ? (isOffline ? messages.unreachable : undefined) : messages.offline;
	return (
		// The live region exists before its text, or screen readers would not announce it.
		<div role="status">
			{text !== undefined && (
				<p className={styles.note}>
					<OfflineIcon aria-hidden />
					{text}
				</p>
			)}
		</div>
	);
}

/** Whether the browser has a network connection. */
function useIsOnline(): boolean {
	return useSyncExternalStore(subscribe, () => navigator.onLine);
}

function subscribe(onChange: () => void): () => void {
	window.addEventListener('online', onChange);
	window.addEventListener('offline', onChange);
	return () => {
		window.removeEventListener('online', onChange);
		window.removeEventListener('offline', onChange);
	};
}
