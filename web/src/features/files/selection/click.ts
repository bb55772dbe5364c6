import type { Cursor, RowOrder, SelectionAction } from './selection.js';

/** A click in the list. */
export interface Click {
	/** The row; undefined for empty space. */
	row: Cursor | undefined;
	/** The part of the row. */
	part: 'type' | 'check' | 'menu' | 'rest';
	isTouch: boolean;
	isShift: boolean;
	/** Whether Ctrl, or Cmd, was held. */
	isControl: boolean;
	/** Whether it follows another one so soon that it makes a double click. */
	isRepeated: boolean;
}

export type ClickEffect =
	| { kind: 'select'; action: SelectionAction }
	| { kind: 'open'; at: Cursor }
	| { kind: 'menu'; index: number }
	| { kind: 'none' };

/** The effect of a click on the rows of this order. */
export function effectOfClick(click: Click, order: RowOrder): ClickEffect {
	const { row, part, isTouch, isShift, isControl, isRepeated } = click;
	if (!row) return select({ type: 'cleared' });
	if (part === 'menu') return { kind: 'menu', index: row.index };
	if (isShift) return select({ type: 'extended', to: row, order, keep: isControl });
	if (isControl || part === 'check' || (part === 'type' && isTouch)) {
		return row.index >= order.firstEntry ? select({ type: 'toggled', at: row }) : { kind: 'none' };
	}
	// The second click of a double click would hit the element that the first one has opened.
	return isRepeated ? { kind: 'none' } : { kind: 'open', at: row };
}

const select = (action: SelectionAction): ClickEffect => ({ kind: 'select', action });
