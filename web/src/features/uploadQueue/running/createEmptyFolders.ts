import { plural } from '@stowage/rules';
import type { QueryClient } from '@tanstack/react-query';
import { queryKeys } from '../../../api/queryKeys.js';
import type { FolderPlace } from '../../../api/uploads/ensureFolder.js';
import { createFolderEnsurer } from '../../../api/uploads/lazyTransport.js';
import { messages } from '../../../messages.js';
import type { Notify } from '../../../ui/notifications/useNotify.js';
import { describeFailure } from './describeFailure.js';
import { waitForSignIn } from './waitForSignIn.js';

/**
 * Creates folders that were added without a file. They don't wait in the queue; the notification bar shows the
 * progress, and that they wait for their user, which may never come: it has a `Cancel`.
 */
export async function createEmptyFolders(
	places: readonly FolderPlace[],
	queryClient: QueryClient,
	{ notify, dismiss }: Notify,
): Promise<void> {
	const abort = new AbortController();
	const { signal } = abort;
	const underWay = { progress: 'indeterminate', onCancel: () => abort.abort() } as const;
	const key = notify({ ...underWay, message: messages.creatingFolders });
	const ensureFolder = createFolderEnsurer();
	const username = places[0]?.username;
	const listener = {
		onProgress() {},
		onOffset() {},
		onWait() {},
		async waitForSignIn(_: AbortSignal, maxAgeMs = 0) {
			const onWait = () => void notify({ ...underWay, key, message: messages.signInForFolders(username) });
			const hasWaited = await waitForSignIn(queryClient, { username, maxAgeMs, onWait, signal });
			if (hasWaited) notify({ ...underWay, key, message: messages.creatingFolders });
			return hasWaited;
		},
	};
	try {
		for (const place of places) await ensureFolder(place, listener, signal);
		notify({ key, intent: 'success', message: messages.foldersCreated(plural(places.length, 'folder')) });
	} catch (error) {
		if (signal.aborted) dismiss(key);
		else {
			const detail = describeFailure(error).error;
			notify({ key, intent: 'danger', message: messages.createFoldersFailed, detail });
		}
	}
	for (const { area, base } of places.slice(0, 1)) {
		void queryClient.invalidateQueries({ queryKey: queryKeys.listings.folder(area, base) });
	}
}
