import type { Entry } from '@stowage/rules';
import { useMemo } from 'react';
import { selectedEntries } from '../list/rows.js';
import { type BrowserLocation, folderKey } from '../location/location.js';
import type { Visit } from './folders.js';
import { type Folder, useFolder } from './useFolder.js';
import { type Listing, useListing } from './useListing.js';

export interface FolderView extends Folder, Listing {
	/** The selected entries that are shown, in the order of the rows. */
	selected: readonly Entry[];
}

/** The list's view of the current folder. */
export function useFolderView(
	location: BrowserLocation,
	arrival: Omit<Visit, 'key'>,
	isSignedIn: boolean | undefined,
): FolderView {
	const folder = useFolder({ key: folderKey(location), ...arrival });
	const listing = useListing(location, folder.letter, isSignedIn);
	const { rows } = listing;
	const keys = folder.selection.selected;
	const selected = useMemo(() => (rows ? selectedEntries(rows, keys) : []), [rows, keys]);
	return { ...folder, ...listing, selected };
}
