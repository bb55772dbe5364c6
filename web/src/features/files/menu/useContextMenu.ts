import type { Entry } from '@stowage/rules';
import { useScopedState } from '../../../ui/useScopedState.js';
import type { ListedFolder } from '../folder/useFolderView.js';
import { entryAt } from '../list/rows.js';
import { nameItems } from '../messages.js';
import type { Point } from '../selection/marquee.js';
import type { ContextMenuProps } from './ContextMenu.js';
import { type Action, type AnyAction, type MenuItem, menuKind } from './menu.js';

export interface ContextMenuOptions<E extends Entry, A extends AnyAction> {
	folder: Pick<ListedFolder<E>, 'key' | 'rows' | 'selection' | 'selected' | 'select'>;
	/** The folder's name, which labels its own menu. */
	name: string;
	/** The items of the menu of these entries, or of the folder if there are none; of both for the menu of all actions. */
	groupsFor: (entries: readonly E[], hasAll: boolean) => MenuItem<A>[][];
	perform: (action: A, entries: readonly E[]) => void;
	/** Moves the focus to the list, if the element that had it before is gone. */
	focusList: () => void;
}

export interface ContextMenuState<A extends AnyAction = Action> {
	/** The props of the open menu; undefined while none is open. */
	props: ContextMenuProps<A> | undefined;
	/** Opens the menu of a row, which becomes the selection unless it is part of it; or of the folder, which keeps the selection. */
	openAt: (at: Point, index: number | undefined) => void;
	/** Opens the menu of the selection, or of the folder if nothing is selected. With `hasAll` it has the actions of both. */
	openForSelection: (at: Point, hasAll?: boolean) => void;
}

interface OpenMenu<E> {
	at: Point;
	/** None for the menu of the folder. */
	entries: readonly E[];
	hasAll: boolean;
	/** The element that had the focus before. */
	opener: Element | null;
}

/** The menu of the list, which is closed when its folder is left. */
export function useContextMenu<E extends Entry, A extends AnyAction>(
	options: ContextMenuOptions<E, A>,
): ContextMenuState<A> {
	const { folder, name, groupsFor, perform, focusList } = options;
	const { rows, selection, selected, select } = folder;
	const [menu, setMenu] = useScopedState<OpenMenu<E>>(folder.key);
	const open = (at: Point, entries: readonly E[], hasAll = false) => {
		// When one menu replaces another, the focus returns to the element that had it before the first one.
		setMenu((before) => ({ at, entries, hasAll, opener: before?.opener ?? document.activeElement }));
	};
	const close = () => {
		// Before the menu is removed, or the focus would be lost.
		const opener = menu?.opener;
		if (opener instanceof HTMLElement && opener !== document.body && opener.isConnected) {
			opener.focus({ preventScroll: true });
		} else focusList();
		setMenu(undefined);
	};
	return {
		props: menu && {
			label: menu.entries.length === 0 ? name : nameItems(menu.entries),
			kind: menuKind(menu.entries),
			groups: groupsFor(menu.entries, menu.hasAll),
			at: menu.at,
			onClose: close,
			onChoose: (action) => {
				close();
				perform(action, menu.entries);
			},
		},
		openAt(at, index) {
			const entry = rows && index !== undefined ? entryAt(rows, index) : undefined;
			const key = index === undefined ? undefined : rows?.keyAt(index);
			if (!entry || index === undefined || key === undefined) return open(at, []);
			if (selection.selected.has(key)) return open(at, selected);
			select({ type: 'only', at: { key, index } });
			open(at, [entry]);
		},
		openForSelection: (at, hasAll) => open(at, selected, hasAll),
	};
}
