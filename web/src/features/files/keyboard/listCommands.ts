import type { Entry } from '@stowage/rules';
import type { FolderView } from '../folder/useFolderView.js';
import { entryAt } from '../list/rows.js';
import type { Action } from '../menu/menu.js';
import type { ContextMenuState } from '../menu/useContextMenu.js';
import type { Point } from '../selection/marquee.js';
import { cursorIndex } from '../selection/selection.js';
import type { ListCommand } from './useListKeys.js';

export interface ListCommandOptions {
	folder: Pick<FolderView, 'rows' | 'selection' | 'selected'>;
	menu: ContextMenuState;
	/** The position of a menu that was requested by the keyboard. */
	menuPoint: () => Point;
	goUp: () => void;
	perform: (action: Action, entries: readonly Entry[]) => void;
}

export interface ListCommands {
	/** Opens the entry of a row; Up Directory goes up. */
	open: (index: number) => void;
	/** Opens the menu of a row, or of the folder if there is no row. */
	openMenu: ContextMenuState['openAt'];
	/** Runs a command of the keyboard on the selection, or else on the cursor's row. */
	run: (command: ListCommand) => void;
}

export function listCommands({ folder, menu, menuPoint, goUp, perform }: ListCommandOptions): ListCommands {
	const { rows, selection, selected } = folder;
	return {
		open(index) {
			const entry = rows && entryAt(rows, index);
			if (entry) perform('open', [entry]);
			else goUp();
		},
		openMenu: menu.openAt,
		run(command) {
			if (command === 'goUp') return goUp();
			const index = rows && selection.cursor && cursorIndex(selection.cursor, rows);
			const entry = rows && index !== undefined ? entryAt(rows, index) : undefined;
			if (command !== 'menu') return perform(command, selected.length > 0 ? selected : entry ? [entry] : []);
			if (selected.length > 0) menu.openForSelection(menuPoint());
			else menu.openAt(menuPoint(), entry && index);
		},
	};
}
