import { type Entry, rootPath } from '@stowage/rules';
import type { RefObject } from 'react';
import { useHasShared } from '../api/listings/useHasShared.js';
import type { FolderView } from '../features/files/folder/useFolderView.js';
import type { FileListHandle } from '../features/files/list/FileList.js';
import type { BrowserLocation } from '../features/files/location/location.js';
import type { BrowserNavigation } from '../features/files/location/useBrowserNavigation.js';
import type { ContextMenuState } from '../features/files/menu/useContextMenu.js';
import { Toolbar } from '../features/toolbar/Toolbar.js';
import type { ViewSwitchProps } from '../features/toolbar/ViewSwitch.js';
import { useFrame } from '../ui/frame.js';

export interface BrowserToolbarProps extends ViewSwitchProps {
	location: BrowserLocation;
	/** Undefined until the session was checked. */
	isSignedIn: boolean | undefined;
	navigation: BrowserNavigation;
	folder: FolderView;
	menu: ContextMenuState;
	list: RefObject<FileListHandle | null>;
	/** Opens a hit of the search. */
	onOpen: (entry: Entry) => void;
}

/** The toolbar, connected to the folder on screen. */
export function BrowserToolbar(props: BrowserToolbarProps) {
	const { location, isSignedIn, navigation, folder, menu, list } = props;
	const frame = useFrame();
	const hasShared = useHasShared(isSignedIn ?? false);
	return (
		<Toolbar
			area={location.area}
			isSignedIn={isSignedIn}
			hasShared={hasShared}
			membership={folder.owner && folder.role ? { owner: folder.owner, role: folder.role } : undefined}
			directory={location.directory}
			search={location.search}
			filters={location.filters}
			letter={folder.letter}
			results={folder.rows?.entries.length}
			selected={folder.selected.length}
			isMenuOpen={menu.props !== undefined}
			hasList={!folder.error}
			view={props.view}
			onView={props.onView}
			hrefOf={navigation.hrefOf}
			onArea={(area) => navigation.goTo(rootPath, area)}
			onSearch={navigation.search}
			onOpen={props.onOpen}
			onHome={navigation.goHome}
			onSettings={frame.openSettings}
			onClearSelection={() => {
				folder.select({ type: 'cleared' });
				list.current?.focusCursor();
			}}
			onActions={(button) => {
				const box = button.getBoundingClientRect();
				menu.openForSelection({ x: box.left, y: box.bottom + 4 }, true);
			}}
			onLetter={(letter) => {
				folder.filter(letter);
				list.current?.scrollToTop();
			}}
		/>
	);
}
