import { copyText } from '../../ui/copyText.js';
import { useNotify } from '../../ui/notifications/useNotify.js';
import { linkMessages as messages } from './messages.js';

/** Copies the address of a link to the system's clipboard and shows a notice. */
export function useCopyUrl(): (url: string) => Promise<void> {
	const { notify } = useNotify();
	return async (url) => {
		try {
			await copyText(url);
			notify({ key: noticeKey, intent: 'success', message: messages.linkCopied });
		} catch {
			// Shown, so that it can be copied by hand.
			notify({ key: noticeKey, intent: 'danger', message: messages.copyFailed, detail: url, isDetailToCopy: true });
		}
	};
}

const noticeKey = 'link-copied';
