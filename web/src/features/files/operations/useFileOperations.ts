import type { Clipboard, Entry, MoveDirection, StoragePath } from '@stowage/rules';
import { useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Listing } from '../../../api/listings/ListingReader.js';
import { queryKeys } from '../../../api/queryKeys.js';
import { isReplaced } from '../../../api/session/sessionQuery.js';
import type { Version } from '../../../api/versions.js';
import type { Notice } from '../../../ui/notifications/notifications.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { patchEntries } from '../folder/useListingPatch.js';
import { useTargetNames } from '../folder/useTargetNames.js';
import { useBatch } from './useBatch.js';
import { useLookUp } from './useLookUp.js';
import { useTransfer } from './useTransfer.js';
import { create, rename, restoreVersion } from './verbs/changeEntry.js';
import { moveToArea } from './verbs/moveToArea.js';
import { type OperationContext, type OperationParts, outcomeNotices } from './verbs/OperationParts.js';
import { dropInto, paste } from './verbs/paste.js';
import { type Removal, removeEntries } from './verbs/removeEntries.js';

export interface FileOperations {
	/** Creates a file or folder and shows it. Resolves to whether that succeeded. */
	create: (what: 'file' | 'folder', name: string) => Promise<boolean>;
	rename: (entry: Entry, newName: string) => Promise<boolean>;
	remove: (entries: readonly Entry[], to: Removal) => Promise<void>;
	/** 'Move to Public' and 'Move back to Private'. */
	moveToOtherArea: (direction: MoveDirection, entries: readonly Entry[]) => Promise<void>;
	/** Pastes into a folder. Resolves to the rest of the clipboard. */
	paste: (clipboard: Clipboard, target: StoragePath) => Promise<Clipboard | undefined>;
	/** Makes one of these versions the content of a file again. Resolves to whether that succeeded. */
	restoreVersion: (entry: Entry, version: Version, known: readonly Version[]) => Promise<boolean>;
	/** Moves the dragged entries into a folder. */
	dropInto: (dragged: Clipboard, target: StoragePath) => Promise<void>;
}

/** The operations on files: their calls, their effect on the list, and their notices. */
export function useFileOperations(context: OperationContext): FileOperations {
	const { viewer, area, directory, patch, show, remember, kept, ask } = context;
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const runBatch = useBatch();
	const lookUp = useLookUp();
	const runTransfer = useTransfer();
	const namesIn = useTargetNames(viewer);

	return useMemo(() => {
		const username = viewer.kind === 'user' ? viewer.username : undefined;
		// What one user has begun is not told to the next, who may have signed in meanwhile.
		const notifyUser = (notice: Notice) => (isReplaced(queryClient, username) ? '' : notify(notice));
		const parts: OperationParts = {
			...{ viewer, area, directory, patch, show, remember, kept, ask, runBatch, lookUp, runTransfer, namesIn },
			outcomes: outcomeNotices(notifyUser),
			forget: (from, entries) =>
				void queryClient.setQueriesData<Listing>(
					{ queryKey: queryKeys.listings.area(from) },
					(old) => old && { ...old, entries: patchEntries(old.entries, { removed: entries }) },
				),
			refetch: () => {
				void queryClient.invalidateQueries({ queryKey: queryKeys.trash.all });
				void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
			},
		};
		return {
			create: (what, name) => create(parts, what, name),
			rename: (entry, newName) => rename(parts, entry, newName),
			remove: (entries, to) => removeEntries(parts, entries, to),
			moveToOtherArea: (direction, entries) => moveToArea(parts, direction, entries),
			paste: (clipboard, target) => paste(parts, clipboard, target),
			restoreVersion: (entry, version, known) => restoreVersion(parts, entry, version, known),
			dropInto: (dragged, target) => dropInto(parts, dragged, target),
		};
	}, [
		viewer,
		area,
		directory,
		patch,
		show,
		remember,
		kept,
		ask,
		queryClient,
		notify,
		runBatch,
		lookUp,
		runTransfer,
		namesIn,
	]);
}
