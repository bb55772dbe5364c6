import type { Entry } from '@stowage/rules';
import type { ListedFolder } from '../folder/useFolderView.js';
import { entryAt } from '../list/rows.js';
import type { ContextMenuState } from '../menu/useContextMenu.js';
import type { Point } from '../selection/marquee.js';
import { cursorIndex } from '../selection/selection.js';
import type { KeyCommand } from './keyboard.js';
import type { ListCommand, MissingCommands } from './useListKeys.js';

/** The commands that act on entries. */
export type EntryCommand = 'open' | Exclude<ListCommand, 'goUp' | 'menu' | 'undo'>;

export interface ListCommandOptions<E extends Entry> {
	folder: Pick<ListedFolder<E>, 'rows' | 'selection' | 'selected'>;
	menu: Pick<ContextMenuState, 'openAt' | 'openForSelection'>;
	/** The position of a menu that was requested by the keyboard. */
	menuPoint: () => Point;
	/** Left out where there is no folder above. */
	goUp?: () => void;
	/** Undoes the last operation; left out where there are none. */
	undo?: () => void;
	/** The commands on entries that the page does not have. */
	missing?: readonly EntryCommand[];
	perform: (command: EntryCommand, entries: readonly E[]) => void;
}

export interface ListCommands {
	/** Opens the entry of a row; Up Directory goes up. */
	open: (index: number) => void;
	/** Opens the menu of a row, or of the folder if there is no row. */
	openMenu: ContextMenuState['openAt'];
	/** Runs a command of the keyboard on the selection, or else on the cursor's row. */
	run: (command: ListCommand) => void;
	/** The commands whose keys are left to the browser. */
	missing: MissingCommands;
}

export function listCommands<E extends Entry>(options: ListCommandOptions<E>): ListCommands {
	const { folder, menu, menuPoint, goUp, undo, missing = [], perform } = options;
	const { rows, selection, selected } = folder;
	return {
		open(index) {
			const entry = rows && entryAt(rows, index);
			if (entry) perform('open', [entry]);
			else goUp?.();
		},
		openMenu: menu.openAt,
		run(command) {
			if (command === 'goUp') return goUp?.();
			if (command === 'undo') return undo?.();
			const index = rows && selection.cursor && cursorIndex(selection.cursor, rows);
			const entry = rows && index !== undefined ? entryAt(rows, index) : undefined;
			if (command !== 'menu') return perform(command, selected.length > 0 ? selected : entry ? [entry] : []);
			if (selected.length > 0) menu.openForSelection(menuPoint());
			else menu.openAt(menuPoint(), entry && index);
		},
		missing: new Set<KeyCommand['kind']>([
			...missing,
			...(goUp ? [] : ['goUp' as const]),
			...(undo ? [] : ['undo' as const]),
		]),
	};
}
