import type { Entry, UserSettings, Viewer } from '@stowage/rules';
import { useRef } from 'react';
import { useTrashKeepFor } from '../api/capabilities.js';
import { useFolderEvents } from '../api/events/useFolderEvents.js';
import { isSearch } from '../api/listings/search.js';
import { useShareLimits } from '../api/shares.js';
import { useFileSource } from '../api/sources/FileSource.js';
import { useDropFolders } from '../features/files/dragAndDrop/useDropFolders.js';
import { useEntryDrag } from '../features/files/dragAndDrop/useEntryDrag.js';
import type { FolderUser } from '../features/files/folder/folders.js';
import { useFolderView } from '../features/files/folder/useFolderView.js';
import { useRefreshNotice } from '../features/files/folder/useRefreshNotice.js';
import { listCommands } from '../features/files/keyboard/listCommands.js';
import { usePasteEvent } from '../features/files/keyboard/usePasteEvent.js';
import type { FileListHandle } from '../features/files/list/FileList.js';
import { folderName, useTitle } from '../features/files/location/folderTitle.js';
import type { BrowserLocation } from '../features/files/location/location.js';
import { useBrowserNavigation } from '../features/files/location/useBrowserNavigation.js';
import { ContextMenu } from '../features/files/menu/ContextMenu.js';
import { menuFor } from '../features/files/menu/menu.js';
import { useContextMenu } from '../features/files/menu/useContextMenu.js';
import { filesMessages as messages } from '../features/files/messages.js';
import { useUndo } from '../features/files/undo/useUndo.js';
import { PreviewPanel } from '../features/previews/panel/PreviewPanel.js';
import { FilePicker } from '../features/uploadQueue/choosing/FilePicker.js';
import { useScopedState } from '../ui/useScopedState.js';
import { useView } from '../ui/useView.js';
import styles from './BrowserPage.module.css';
import { BrowserToolbar } from './BrowserToolbar.js';
import { FolderContent } from './FolderContent.js';
import { FolderDialogs } from './FolderDialogs.js';
import { useFolderActions } from './useFolderActions.js';
import { useFolderUploads } from './useFolderUploads.js';
import { useThumbnailUrl } from './useThumbnailUrl.js';

export interface BrowserPageFolderProps {
	location: BrowserLocation;
	viewer: Viewer;
	/** Whose selection and filters are kept: also after their session has ended, until another one is signed in. */
	user: FolderUser;
	/** False until the session was checked. */
	isSessionChecked: boolean;
	settings: UserSettings;
}

/** One location of the file browser. It only connects the features: each of its hooks does one thing. */
export function BrowserPageFolder({ location, viewer, user, isSessionChecked, settings }: BrowserPageFolderProps) {
	const { area, directory } = location;
	const place = { viewer, area, directory };
	const isSignedIn = viewer.kind === 'user';
	const name = folderName(area, directory);
	const list = useRef<FileListHandle>(null);
	const takeFocus = () => list.current?.focusIfUnfocused();
	const [view, setView] = useView();

	useTitle(name);
	const navigation = useBrowserNavigation(location, viewer);
	const folder = useFolderView(location, navigation.arrival, user);
	useRefreshNotice(folder);
	const [previewed, preview] = useScopedState<Entry>(folder.key);
	// Until a shared folder is listed, nothing is offered in it that may not be allowed.
	const role = area === 'shared' ? (folder.role ?? 'view') : undefined;
	const uploads = useFolderUploads(viewer, location, role);
	const { remember, undoLast, onTrashChanged } = useUndo(viewer.kind === 'user' ? viewer.username : undefined);
	useFolderEvents(useFileSource().events, directory, onTrashChanged);
	const actions = useFolderActions({
		location,
		viewer,
		settings,
		role,
		folder,
		navigation,
		uploads,
		remember,
		preview,
	});
	const { perform, clipboard, cutKeys } = actions;
	const shown = folder.rows?.entries.length ?? 0;
	const mayShare = useShareLimits()?.enabled ?? false;
	const hasTrash = useTrashKeepFor() > 0;
	const menu = useContextMenu({
		folder,
		name,
		groupsFor: (entries, hasAll) => {
			const context = { ...place, role, hasTrash, clipboard, isSearch: isSearch(location), shown, mayShare };
			const ofFolder = hasAll && entries.length > 0 ? menuFor(context, []) : [];
			return [...menuFor(context, entries), ...ofFolder];
		},
		perform,
		focusList: () => list.current?.focusCursor(),
	});
	const commands = listCommands({
		folder,
		menu,
		menuPoint: () => list.current?.menuPoint() ?? { x: 0, y: 0 },
		goUp: navigation.goUp,
		undo: undoLast,
		perform,
	});
	const drag = useEntryDrag({ ...place, folder });
	const isOverPage = useDropFolders({
		...place,
		rows: folder.rows,
		drag,
		onEntries: actions.operations.dropInto,
		onFiles: uploads.addTransfer,
	});
	usePasteEvent({ onFiles: uploads.addTransfer, onPaste: () => perform('paste', []) });

	return (
		<div className={styles.page}>
			<h1 className="visually-hidden">{messages.heading(name)}</h1>
			<BrowserToolbar
				location={location}
				isSignedIn={isSessionChecked ? isSignedIn : undefined}
				navigation={navigation}
				folder={folder}
				menu={menu}
				list={list}
				onOpen={(entry) => perform('open', [entry])}
				view={view}
				onView={setView}
			/>
			<FolderContent
				ref={list}
				location={location}
				navigation={navigation}
				view={view}
				folder={folder}
				cutKeys={cutKeys}
				thumbnailOf={useThumbnailUrl()}
				drag={drag}
				commands={commands}
				area={area}
				uploadHint={uploads.hint}
				dropsInto={isOverPage ? name : undefined}
			/>
			{menu.props && <ContextMenu {...menu.props} />}
			<FolderDialogs location={location} owner={folder.owner} actions={actions} onClosed={takeFocus} />
			<PreviewPanel
				viewer={viewer}
				area={area}
				entry={previewed}
				entries={folder.rows?.entries ?? []}
				onShow={preview}
				onClose={() => preview(undefined)}
				onClosed={takeFocus}
			/>
			<FilePicker ref={uploads.picker} onChoose={uploads.add} />
		</div>
	);
}
