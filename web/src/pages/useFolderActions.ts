import type { Area, Entry, MemberRole, UserSettings, Viewer } from '@stowage/rules';
import { useMemo } from 'react';
import { usePublicOrigin, useTrashKeepFor, useVersionsKeepFor } from '../api/capabilities.js';
import { type LeftConversions, useBackgroundConversions } from '../features/conversion/useBackgroundConversions.js';
import { useMayConvert } from '../features/conversion/useMayConvert.js';
import { useRefreshAfterConversion } from '../features/conversion/useRefreshAfterConversion.js';
import { type Download, useDownloads } from '../features/downloads/useDownloads.js';
import type { FolderView } from '../features/files/folder/useFolderView.js';
import { useListingPatch } from '../features/files/folder/useListingPatch.js';
import type { BrowserLocation } from '../features/files/location/location.js';
import type { BrowserNavigation } from '../features/files/location/useBrowserNavigation.js';
import { type FileActions, useFileActions } from '../features/files/operations/useFileActions.js';
import { type FileOperations, useFileOperations } from '../features/files/operations/useFileOperations.js';
import { type Asking, useQuestions } from '../features/files/operations/useQuestions.js';
import type { Undoing } from '../features/files/undo/useUndo.js';
import { publicLink } from '../features/links/publicLink.js';
import { useCopyUrl } from '../features/links/useCopyUrl.js';
import type { FolderUploads } from './useFolderUploads.js';

export interface FolderActionsOptions {
	location: BrowserLocation;
	viewer: Viewer;
	settings: UserSettings;
	/** What the viewer may do in a shared folder. */
	role: MemberRole | undefined;
	folder: FolderView;
	navigation: BrowserNavigation;
	uploads: FolderUploads;
	/** Remembers what can be undone. */
	remember: Undoing['remember'];
	/** Shows the preview of a file. */
	preview: (entry: Entry) => void;
}

export interface FolderActions extends FileActions {
	operations: FileOperations;
	/** Questions about names that are taken. */
	asking: Asking;
	download: Download;
	/** Shows new files of an area once they are there. */
	showConverted: (area: Area, outputPaths: readonly string[]) => void;
	/** Follows conversions of an area whose dialog was closed. */
	followConversions: (area: Area, left: LeftConversions) => void;
}

/** The actions on the folder on screen and its entries, with the features that carry them out. */
export function useFolderActions(options: FolderActionsOptions): FolderActions {
	const { location, viewer, settings, role, folder, navigation, uploads, remember, preview } = options;
	const { area, directory } = location;
	const place = { viewer, area, directory };
	const download = useDownloads(directory);
	const hasTrash = useTrashKeepFor() > 0;
	const hasVersions = useVersionsKeepFor() > 0;
	const kept = useMemo(() => ({ hasTrash, hasVersions }), [hasTrash, hasVersions]);
	const asking = useQuestions();
	const operations = useFileOperations({
		...place,
		patch: useListingPatch(location),
		show: folder.show,
		remember,
		kept,
		ask: asking.ask,
	});
	const showConverted = useRefreshAfterConversion();
	const followConversions = useBackgroundConversions(showConverted);
	const copyUrl = useCopyUrl();
	const origin = usePublicOrigin();
	const actions = useFileActions({
		...place,
		role,
		folder,
		operations,
		asksBeforeDownload: settings.promptBeforeDownload,
		enablesPreview: settings.enablePreview,
		preview,
		openFolder: navigation.goTo,
		uploadFiles: uploads.chooseFiles,
		uploadFolder: uploads.chooseFolder,
		download,
		copyLink: (entry) => copyUrl(publicLink(viewer, area, entry, origin)),
		mayConvert: useMayConvert(),
	});
	return { ...actions, operations, asking, download, showConverted, followConversions };
}
