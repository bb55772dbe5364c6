import type { Area, Entry, Viewer } from '@stowage/rules';
import { copyText } from '../../ui/copyText.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { linkMessages as messages } from './messages.js';
import { publicLink } from './publicLink.js';

/** Copies the permanent link of a public item to the system's clipboard and shows a notice. */
export function useCopyLink(viewer: Viewer, area: Area): (entry: Entry) => Promise<void> {
	const { notify } = useNotify();
	return async (entry) => {
		const link = publicLink(viewer, area, entry, window.location.origin);
		try {
			await copyText(link);
			notify({ intent: 'success', message: messages.linkCopied });
		} catch {
			// Shown, so that it can be copied by hand.
			notify({ intent: 'danger', message: messages.copyFailed, detail: link });
		}
	};
}
