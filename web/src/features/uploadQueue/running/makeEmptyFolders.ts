import { plural } from '@stowage/rules';
import type { QueryClient } from '@tanstack/react-query';
import { listingKey } from '../../../api/listings/listingQuery.js';
import type { FolderPlace } from '../../../api/uploads/uploadFolders.js';
import { folderMaker } from '../../../api/uploads/uploads.js';
import { messages } from '../../../messages.js';
import type { Notify } from '../../../ui/notifications/useNotify.js';
import { describeFailure } from './describeFailure.js';
import { signedInAgain } from './signedInAgain.js';

/** Makes folders that come without a file, at once: a queue without a file is none. The bar says how it goes. */
export async function makeEmptyFolders(
	places: readonly FolderPlace[],
	queryClient: QueryClient,
	notify: Notify['notify'],
): Promise<void> {
	const key = notify({ message: messages.creatingFolders, progress: 'indeterminate' });
	const make = folderMaker();
	const { signal } = new AbortController();
	const listener = {
		onProgress() {},
		onOffset() {},
		onWait() {},
		signedIn: () => signedInAgain(queryClient, () => {}, signal),
	};
	try {
		for (const place of places) await make(place, listener, signal);
		notify({ key, intent: 'success', message: messages.foldersCreated(plural(places.length, 'folder')) });
	} catch (error) {
		notify({ key, intent: 'danger', message: messages.createFoldersFailed, detail: describeFailure(error).error });
	}
	for (const { area, within } of places.slice(0, 1)) {
		void queryClient.invalidateQueries({ queryKey: listingKey(area, within) });
	}
}
