import type { Entry } from '@stowage/rules';
import { useMemo } from 'react';
import { useFileSource } from '../../../api/sources/FileSource.js';
import { type Rows, selectedEntries } from '../list/rows.js';
import { type FolderLocation, folderKey } from '../location/location.js';
import type { FolderUser, Visit } from './folders.js';
import { type Folder, useFolder } from './useFolder.js';
import { type Listing, useListing } from './useListing.js';

/** A folder as the list shows it. */
export interface ListedFolder<E extends Entry = Entry> extends Folder {
	/** Undefined while they are loading, or if they can't be shown. */
	rows: Rows<E> | undefined;
	/** What is shown of them while they are loading, beside nothing that could be done with them. */
	firstRows?: Rows<E> | undefined;
	/** The selected entries that are shown, in the order of the rows. */
	selected: readonly E[];
}

export interface FolderView extends ListedFolder, Listing {}

/** The list's view of the current folder. */
export function useFolderView(
	location: FolderLocation,
	arrival: Omit<Visit, 'key' | 'user'>,
	user: FolderUser,
): FolderView {
	const { place } = useFileSource();
	const folder = useFolder({ key: folderKey(place, location), user, ...arrival });
	const listing = useListing(location, folder.letter);
	// Where the list begins further down they would be in its place.
	const firstRows = folder.scrollTop === 0 && folder.revealed === undefined ? listing.firstRows : undefined;
	return { ...folder, ...listing, firstRows, selected: useSelected(listing.rows, folder) };
}

/** The selected entries that are shown. */
export function useSelected<E extends Entry>(rows: Rows<E> | undefined, { selection }: Folder): readonly E[] {
	const keys = selection.selected;
	return useMemo(() => (rows ? selectedEntries(rows, keys) : []), [rows, keys]);
}
