import { useEffect, useState } from 'react';
import { isPageOutdated } from '../api/client/isPageOutdated.js';
import { messages } from '../messages.js';
import { useNotify } from '../ui/notifications/useNotify.js';
import { useIsTransferring } from '../ui/transfers.js';

const key = 'new version';

/**
 * Says that a new version is there, and offers to reload once transfers have ended: after an upgrade the server has no
 * more of the scripts that this page has not loaded yet.
 */
export function NewVersionNotice(): null {
	const { notify } = useNotify();
	const [isThere, setThere] = useState(false);
	const isTransferring = useIsTransferring();

	useEffect(() => {
		const controller = new AbortController();
		const look = async () => {
			if (await isPageOutdated(controller.signal)) setThere(true);
		};
		// Sent by what Vite puts around each import, and by workers.
		window.addEventListener('vite:preloadError', () => void look(), { signal: controller.signal });
		return () => controller.abort();
	}, []);

	useEffect(() => {
		if (!isThere) return;
		notify({
			...{ key, message: messages.newVersion, stays: true },
			...(isTransferring
				? { detail: messages.newVersionLater }
				: { action: { text: messages.reload, onClick: () => location.reload() } }),
		});
	}, [isThere, isTransferring, notify]);

	return null;
}
