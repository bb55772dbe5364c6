import type { MouseEvent as ReactMouseEvent, PointerEvent as ReactPointerEvent, RefObject } from 'react';
import type { ListedFolder } from '../folder/useFolderView.js';
import type { ListCommands } from '../keyboard/listCommands.js';
import type { Layout } from '../layout/layout.js';
import { useLongPress } from '../menu/useLongPress.js';
import { type Click, effectOfClick } from '../selection/click.js';
import { cursorAt } from '../selection/selection.js';
import { useMarquee } from '../selection/useMarquee.js';
import type { Rows } from './rows.js';

export interface ListPointerOptions extends Pick<ListedFolder, 'rows' | 'selection' | 'select'> {
	scroller: RefObject<HTMLElement | null>;
	/** The rectangle of the marquee. */
	marquee: RefObject<HTMLElement | null>;
	layout: Layout;
	commands: ListCommands;
}

/** The handlers of the mouse, the pen and the finger, for the element around all rows. */
export function useListPointer(options: ListPointerOptions) {
	const { scroller, marquee, rows, selection, select, layout, commands } = options;
	const drawing = useMarquee({ scroller, marquee, rows, layout, selected: selection.selected, dispatch: select });
	const press = useLongPress((target, at) => commands.openMenu(at, rowIndexOf(target)));

	return {
		...press.handlers,
		onPointerDown(event: ReactPointerEvent<HTMLElement>) {
			press.handlers.onPointerDown(event);
			drawing.onPointerDown(event);
		},
		onClick(event: ReactMouseEvent) {
			if (drawing.suppressesClick() || press.suppressesClick() || !rows || !(event.target instanceof Element)) return;
			const effect = effectOfClick(clickOf(event, event.target, rows), rows);
			if (effect.kind === 'select') select(effect.action);
			if (effect.kind === 'open') {
				select({ type: 'opened', at: effect.at });
				commands.open(effect.at.index);
			}
			if (effect.kind === 'menu') {
				const box = event.target.getBoundingClientRect();
				commands.openMenu({ x: box.left, y: box.bottom }, effect.index);
			}
		},
		onContextMenu(event: ReactMouseEvent) {
			event.preventDefault();
			// A long press has opened it already.
			if (press.suppressesClick() || isTouch(event) || !(event.target instanceof Element)) return;
			// Keys send this event as well, without a position; they are handled by `useListKeys`.
			if (event.clientX === 0 && event.clientY === 0) return;
			commands.openMenu({ x: event.clientX, y: event.clientY }, rowIndexOf(event.target));
		},
	};
}

function clickOf(event: ReactMouseEvent, target: Element, rows: Rows): Click {
	const index = rowIndexOf(target);
	return {
		row: index === undefined ? undefined : cursorAt(rows, index),
		part: partOf(target),
		isTouch: isTouch(event),
		isShift: event.shiftKey,
		isControl: event.ctrlKey || event.metaKey,
		isRepeated: event.detail > 1,
	};
}

function partOf(target: Element): Click['part'] {
	if (target.closest('[data-part=menu]')) return 'menu';
	if (target.closest('[data-part=check]')) return 'check';
	return target.closest('[data-column=type]') ? 'type' : 'rest';
}

/** The index of the row that an element belongs to. */
export function rowIndexOf(element: Element): number | undefined {
	const index = element.closest<HTMLElement>('[data-index]')?.dataset.index;
	return index === undefined ? undefined : Number(index);
}

function isTouch(event: ReactMouseEvent): boolean {
	return event.nativeEvent instanceof PointerEvent && event.nativeEvent.pointerType === 'touch';
}
