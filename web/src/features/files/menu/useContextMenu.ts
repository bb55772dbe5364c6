import type { Entry } from '@stowage/rules';
import { useState } from 'react';
import { entryAt, keyOf, type Rows } from '../list/rows.js';
import type { Point } from '../selection/rubberBand.js';
import type { Selection, SelectionAction } from '../selection/selection.js';

export interface OpenMenu {
	at: Point;
	/** What it is about; none for the folder itself. */
	entries: readonly Entry[];
}

export interface ContextMenuOptions {
	rows: Rows | undefined;
	selection: Selection;
	/** The selected entries that are shown. */
	selected: readonly Entry[];
	select: (action: SelectionAction) => void;
	/** Where the focus goes if what had it has gone. */
	focusList: () => void;
}

export interface ContextMenuState {
	menu: OpenMenu | undefined;
	/** Opens the menu of a row, which becomes the selection unless it is part of it; or of the folder. */
	openAt: (at: Point, index: number | undefined) => void;
	/** Opens the menu of the selection, or of the folder if nothing is selected. */
	openForSelection: (at: Point) => void;
	close: () => void;
}

export function useContextMenu({ rows, selection, selected, select, focusList }: ContextMenuOptions): ContextMenuState {
	const [state, setState] = useState<OpenMenu & { opener: Element | null }>();
	const open = (at: Point, entries: readonly Entry[]) => {
		// From one menu to the next the focus still belongs to what had it before the first.
		setState((before) => ({ at, entries, opener: before?.opener ?? document.activeElement }));
	};
	return {
		menu: state,
		openAt(at, index) {
			const entry = rows && index !== undefined ? entryAt(rows, index) : undefined;
			if (!entry || index === undefined) {
				select({ type: 'cleared' });
				return open(at, []);
			}
			const key = keyOf(entry);
			if (selection.selected.has(key)) return open(at, selected);
			select({ type: 'only', at: { key, index } });
			open(at, [entry]);
		},
		openForSelection: (at) => open(at, selected),
		close() {
			// Before the menu goes, or the focus would fall to nobody and be read out as lost.
			const opener = state?.opener;
			if (opener instanceof HTMLElement && opener !== document.body && opener.isConnected) {
				opener.focus({ preventScroll: true });
			} else focusList();
			setState(undefined);
		},
	};
}
