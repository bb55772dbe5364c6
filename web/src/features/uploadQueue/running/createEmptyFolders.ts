import { plural } from '@stowage/rules';
import type { QueryClient } from '@tanstack/react-query';
import { queryKeys } from '../../../api/queryKeys.js';
import type { FolderPlace } from '../../../api/uploads/ensureFolder.js';
import { createFolderEnsurer } from '../../../api/uploads/lazyTransport.js';
import { messages } from '../../../messages.js';
import type { Notify } from '../../../ui/notifications/useNotify.js';
import { describeFailure } from './describeFailure.js';
import { waitForSignIn } from './waitForSignIn.js';

/** Creates folders that were added without a file. They don't wait in the queue; the notification bar shows the progress. */
export async function createEmptyFolders(
	places: readonly FolderPlace[],
	queryClient: QueryClient,
	notify: Notify['notify'],
): Promise<void> {
	const key = notify({ message: messages.creatingFolders, progress: 'indeterminate' });
	const ensureFolder = createFolderEnsurer();
	const { signal } = new AbortController();
	const listener = {
		onProgress() {},
		onOffset() {},
		onWait() {},
		waitForSignIn: (_: AbortSignal, maxAgeMs = 0) =>
			waitForSignIn(queryClient, { username: places[0]?.username, maxAgeMs, onWait() {}, signal }),
	};
	try {
		for (const place of places) await ensureFolder(place, listener, signal);
		notify({ key, intent: 'success', message: messages.foldersCreated(plural(places.length, 'folder')) });
	} catch (error) {
		notify({ key, intent: 'danger', message: messages.createFoldersFailed, detail: describeFailure(error).error });
	}
	for (const { area, base } of places.slice(0, 1)) {
		void queryClient.invalidateQueries({ queryKey: queryKeys.listings.folder(area, base) });
	}
}
