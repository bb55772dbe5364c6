import type { Area, Clipboard, Entry, StoragePath, Viewer } from '@stowage/rules';
import { useScopedState } from '../../../ui/useScopedState.js';
import type { FolderView } from '../folder/useFolderView.js';
import { entryAt, keyOf } from '../list/rows.js';
import { folderName } from '../location/folderTitle.js';
import { nameItems } from '../messages.js';
import type { Point } from '../selection/marquee.js';
import type { ContextMenuProps } from './ContextMenu.js';
import { type Action, menuFor, menuKind } from './menu.js';

export interface ContextMenuOptions {
	viewer: Viewer;
	area: Area;
	directory: StoragePath;
	isSearch: boolean;
	folder: Pick<FolderView, 'key' | 'rows' | 'selection' | 'selected' | 'select'>;
	clipboard: Clipboard | undefined;
	perform: (action: Action, entries: readonly Entry[]) => void;
	/** Moves the focus to the list, if the element that had it before is gone. */
	focusList: () => void;
}

export interface ContextMenuState {
	/** Of the open menu. */
	props: ContextMenuProps | undefined;
	/** Opens the menu of a row, which becomes the selection unless it is part of it; or of the folder, which keeps the selection. */
	openAt: (at: Point, index: number | undefined) => void;
	/** Opens the menu of the selection, or of the folder if nothing is selected. */
	openForSelection: (at: Point) => void;
}

interface OpenMenu {
	at: Point;
	/** None for the menu of the folder. */
	entries: readonly Entry[];
	/** The element that had the focus before. */
	opener: Element | null;
}

/** The menu of the list, which is closed when its folder is left. */
export function useContextMenu(options: ContextMenuOptions): ContextMenuState {
	const { viewer, area, directory, isSearch, folder, clipboard, perform, focusList } = options;
	const { rows, selection, selected, select } = folder;
	const [menu, setMenu] = useScopedState<OpenMenu>(folder.key);
	const open = (at: Point, entries: readonly Entry[]) => {
		// When one menu replaces another, the focus returns to the element that had it before the first one.
		setMenu((before) => ({ at, entries, opener: before?.opener ?? document.activeElement }));
	};
	const close = () => {
		// Before the menu is removed, or the focus would be lost.
		const opener = menu?.opener;
		if (opener instanceof HTMLElement && opener !== document.body && opener.isConnected) {
			opener.focus({ preventScroll: true });
		} else focusList();
		setMenu(undefined);
	};
	const context = { viewer, area, directory, isSearch, shown: rows?.entries.length ?? 0, clipboard };
	return {
		props: menu && {
			label: menu.entries.length === 0 ? folderName(area, directory) : nameItems(menu.entries),
			kind: menuKind(menu.entries),
			groups: menuFor(context, menu.entries),
			at: menu.at,
			onClose: close,
			onChoose: (action) => {
				close();
				perform(action, menu.entries);
			},
		},
		openAt(at, index) {
			const entry = rows && index !== undefined ? entryAt(rows, index) : undefined;
			if (!entry || index === undefined) return open(at, []);
			const key = keyOf(entry);
			if (selection.selected.has(key)) return open(at, selected);
			select({ type: 'only', at: { key, index } });
			open(at, [entry]);
		},
		openForSelection: (at) => open(at, selected),
	};
}
