import { useEffect } from 'react';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { filesMessages as messages } from '../messages.js';
import type { Listing } from './useListing.js';

/** Shows a notice while the list on screen can't be refreshed, with a button to try again. */
export function useRefreshNotice({ refreshError, refresh }: Pick<Listing, 'refreshError' | 'refresh'>): void {
	const { notify, dismiss } = useNotify();
	// By its text: the same error of a later attempt is not announced again.
	const detail = refreshError?.message;
	useEffect(() => {
		if (detail === undefined) return;
		const key = notify({
			intent: 'danger',
			message: messages.loadFailed,
			detail,
			stays: true,
			action: { text: messages.tryAgain, onClick: () => void refresh() },
		});
		return () => dismiss(key);
	}, [detail, refresh, notify, dismiss]);
}
