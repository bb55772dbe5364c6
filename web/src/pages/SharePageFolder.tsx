import { type Entry, rootPath } from '@stowage/rules';
import { type ReactNode, useEffect, useRef } from 'react';
import { isTransient } from '../api/client/retries.js';
import { isSearch } from '../api/listings/search.js';
import type { SharedView } from '../api/sharePage.js';
import { useDownloads } from '../features/downloads/useDownloads.js';
import { useFolderView } from '../features/files/folder/useFolderView.js';
import { useRefreshNotice } from '../features/files/folder/useRefreshNotice.js';
import { listCommands } from '../features/files/keyboard/listCommands.js';
import type { FileListHandle } from '../features/files/list/FileList.js';
import { useTitle } from '../features/files/location/folderTitle.js';
import type { ShareLocation } from '../features/files/location/location.js';
import { useShareNavigation } from '../features/files/location/useBrowserNavigation.js';
import type { ContextMenuProps } from '../features/files/menu/ContextMenu.js';
import type { Action } from '../features/files/menu/menu.js';
import { shareMenuFor, shareReader } from '../features/files/menu/shareMenu.js';
import { useContextMenu } from '../features/files/menu/useContextMenu.js';
import { useShareActions } from '../features/files/operations/useShareActions.js';
import { ShareAbout } from '../features/sharePage/ShareAbout.js';
import { ShareToolbar } from '../features/toolbar/ShareToolbar.js';
import { useOpenings } from '../ui/dialogs/dialogs.js';
import { lazyComponent } from '../ui/lazyComponent.js';
import { useLatest } from '../ui/useLatest.js';
import { useScopedState } from '../ui/useScopedState.js';
import { useView } from '../ui/useView.js';
import styles from './BrowserPage.module.css';
import { FolderContent } from './FolderContent.js';
import own from './SharePage.module.css';
import { useThumbnailUrl } from './useThumbnailUrl.js';

// Popovers and the icons of all actions: not everybody opens a menu.
const ContextMenu = lazyComponent<ContextMenuProps<Action>>(
	async () => (await import('../features/files/menu/ContextMenu.js')).ContextMenu,
);
// The viewers: with the first file that is looked at.
const PreviewPanel = lazyComponent(
	async () => (await import('../features/previews/panel/PreviewPanel.js')).PreviewPanel,
);

export interface SharePageFolderProps {
	location: ShareLocation;
	share: SharedView;
	title: string;
	/** The share does not answer as it did: it may have ended, or have another password. */
	onRefused: () => void;
	/** The part that receives files, if there is one. */
	receiving?: ReactNode;
}

/** One folder of a share. It only connects the features, which read the share in place of an area. */
export function SharePageFolder({ location, share, title, onRefused, receiving }: SharePageFolderProps) {
	const { directory } = location;
	const { isLimited } = share;
	const list = useRef<FileListHandle>(null);
	const takeFocus = () => list.current?.focusIfUnfocused();
	const [view, setView] = useView();

	useTitle(title);
	const navigation = useShareNavigation(location);
	const folder = useFolderView(location, navigation.arrival, null);
	useRefreshNotice(folder);
	useRefusals(folder.error, onRefused);
	const [previewed, preview] = useScopedState<Entry>(folder.key);
	const previews = useOpenings(previewed !== undefined);
	const download = useDownloads(directory);
	const perform = useShareActions({ folder, isLimited, openFolder: navigation.goTo, preview, download });
	const shown = folder.rows?.entries.length ?? 0;
	const menu = useContextMenu({
		folder,
		name: title,
		groupsFor: (entries) => shareMenuFor({ directory, isSearch: isSearch(location), shown, isLimited }, entries),
		perform,
		focusList: () => list.current?.focusCursor(),
	});
	const commands = listCommands({
		folder,
		menu,
		menuPoint: () => list.current?.menuPoint() ?? { x: 0, y: 0 },
		goUp: navigation.goUp,
		missing: ['rename', 'convert', 'delete', 'deleteForever', 'cut', 'copy'],
		perform,
	});

	return (
		<div className={`${styles.page} ${receiving ? own.scrolling : ''}`}>
			<ShareAbout share={share} />
			{receiving}
			<ShareToolbar
				directory={directory}
				search={location.search}
				filters={location.filters}
				results={folder.rows?.entries.length}
				selected={folder.selected.length}
				hasList={!folder.error}
				hasItems={share.count > 0}
				view={view}
				onView={setView}
				hrefOf={navigation.hrefOf}
				onSearch={navigation.search}
				onOpen={(entry) => perform('open', [entry])}
				onDownloadAll={() => download([share.only?.type === 'file' ? share.only : everything(title)], false)}
				onDownload={() => perform(folder.selected.length > 1 ? 'downloadZip' : 'download', folder.selected)}
				onClearSelection={() => {
					folder.select({ type: 'cleared' });
					list.current?.focusCursor();
				}}
			/>
			<FolderContent
				ref={list}
				location={location}
				navigation={navigation}
				view={view}
				folder={folder}
				thumbnailOf={useThumbnailUrl()}
				commands={commands}
			/>
			{menu.props && <ContextMenu {...menu.props} />}
			{previews > 0 && (
				<PreviewPanel
					// Each is another try to load it.
					key={previews}
					viewer={shareReader}
					area="private"
					entry={previewed}
					entries={folder.rows?.entries ?? []}
					onShow={preview}
					onLoadFailed={() => preview(undefined)}
					onClose={() => preview(undefined)}
					onClosed={takeFocus}
				/>
			)}
		</div>
	);
}

/** All that is shared, as a folder around it. */
const everything = (name: string) => ({ type: 'directory', path: rootPath, name, size: 0 }) as const;

/** Asks what the share is now, when a folder of it can't be read. */
function useRefusals(error: Error | null, onRefused: () => void): void {
	const latest = useLatest(onRefused);
	useEffect(() => {
		if (error && !isTransient(error)) latest.current();
	}, [error]);
}
