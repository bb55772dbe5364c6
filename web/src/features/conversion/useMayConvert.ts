import { useCallback } from 'react';
import { canConvert } from '../../api/jobs/conversions.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { conversionMessages as messages } from './messages.js';

/** Asks the server whether it can convert videos now. A notice shows why not. */
export function useMayConvert(): () => Promise<boolean> {
	const { notify } = useNotify();
	return useCallback(async () => {
		try {
			if (await canConvert()) return true;
			notify({ intent: 'warning', message: messages.required });
		} catch (error) {
			const detail = error instanceof Error ? { detail: error.message } : {};
			notify({ intent: 'danger', message: messages.unavailable, ...detail });
		}
		return false;
	}, [notify]);
}
