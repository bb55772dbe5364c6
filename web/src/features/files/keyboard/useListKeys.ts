import { type KeyboardEvent as ReactKeyboardEvent, useCallback, useLayoutEffect, useRef } from 'react';
import { isComposing } from '../../../ui/keyboard/composing.js';
import { isEditable } from '../../../ui/keyboard/isEditable.js';
import { useIsCovered } from '../../../ui/keyboard/useIsCovered.js';
import { useLatest } from '../../../ui/useLatest.js';
import type { Rows } from '../list/rows.js';
import { findByPrefix, type Movement, moveCursor, type TypedPrefix, typeLetter } from '../selection/cursor.js';
import { type Cursor, cursorAt, cursorIndex, type Selection, type SelectionAction } from '../selection/selection.js';
import { commandFor, type KeyCommand, mayRepeat } from './keyboard.js';

/** The commands that the list passes on. */
export type ListCommand =
	| 'goUp'
	| 'menu'
	| 'preview'
	| 'rename'
	| 'convert'
	| 'delete'
	| 'deleteForever'
	| 'cut'
	| 'copy'
	| 'undo';

/** Commands that a page does not have. */
export type MissingCommands = ReadonlySet<KeyCommand['kind']>;

export interface ListKeysOptions {
	rows: Rows | undefined;
	selection: Selection;
	/** Entries in a line. In a list of single ones the arrows to the sides do nothing. */
	columns: number;
	/** The number of lines on a screen. */
	page: () => number;
	dispatch: (action: SelectionAction) => void;
	/** Brings a row into view and the focus to it. */
	goTo: (index: number) => void;
	onOpen: (index: number) => void;
	onCommand: (command: ListCommand) => void;
	/** The commands whose keys are left to the browser. */
	missing: MissingCommands;
}

/** Handles the keys of the list, and those of them that also apply when the focus is elsewhere. */
export function useListKeys(options: ListKeysOptions): (event: ReactKeyboardEvent) => void {
	const latest = useLatest(options);
	const isCovered = useIsCovered();
	const typed = useRef<TypedPrefix>({ text: '', at: 0 });

	const handle = useCallback((event: KeyboardEvent | ReactKeyboardEvent, scope: KeyScope) => {
		// The time of the key press: a busy page handles it later, which would split a quickly typed prefix.
		const now = event.timeStamp;
		const command = commandFor(event, typeLetter(typed.current, '', now).text !== '');
		if (!command || !appliesIn(command, scope) || isSideways(command, latest.current)) return;
		if (latest.current.missing.has(command.kind) || isForText(command)) return;
		if (event.repeat && !mayRepeat(command)) return event.preventDefault();
		if (command.kind === 'find') typed.current = typeLetter(typed.current, command.letter, now);
		else typed.current = { text: '', at: 0 };
		event.preventDefault();
		run(command, latest.current, typed.current.text);
	}, []);

	useLayoutEffect(() => {
		const listen = (event: KeyboardEvent) => {
			if (!event.defaultPrevented && !isComposing(event)) handle(event, isCovered() ? 'none' : scopeOf(event.target));
		};
		window.addEventListener('keydown', listen);
		return () => window.removeEventListener('keydown', listen);
	}, [handle, isCovered]);

	// A dialog that has just been opened may not have the focus yet.
	return useCallback((event: ReactKeyboardEvent) => handle(event, isCovered() ? 'none' : 'list'), [handle, isCovered]);
}

/** Where the focus is, which decides the keys that apply. */
type KeyScope = 'list' | 'page' | 'control' | 'none';

const shortcuts: ReadonlySet<KeyCommand['kind']> = new Set([
	'selectAll',
	'cut',
	'copy',
	'rename',
	'convert',
	'delete',
	'deleteForever',
	'clear',
	'undo',
]);

function appliesIn({ kind }: KeyCommand, scope: KeyScope): boolean {
	switch (scope) {
		case 'list':
			return true;
		case 'page':
			// Single letters apply in the list only, since they would disturb speech input elsewhere (WCAG 2.1.4).
			return kind !== 'find';
		case 'control':
			return shortcuts.has(kind);
		case 'none':
			return false;
	}
}

/** Copies text that is selected somewhere on the page, such as a message or the reason of an error. */
function isForText({ kind }: KeyCommand): boolean {
	return (kind === 'copy' || kind === 'cut') && window.getSelection()?.isCollapsed === false;
}

/** An arrow to the side in a list, where it may scroll. */
function isSideways(command: KeyCommand, { columns }: ListKeysOptions): boolean {
	return columns === 1 && 'to' in command && (command.to === 'left' || command.to === 'right');
}

function scopeOf(target: EventTarget | null): KeyScope {
	if (!(target instanceof HTMLElement)) return 'none';
	if (target === document.body || target.id === 'content') return 'page';
	return isEditable(target) ? 'none' : 'control';
}

function run(command: KeyCommand, options: ListKeysOptions, prefix: string): void {
	const { rows, selection, dispatch, goTo, onOpen, onCommand } = options;
	if (!rows) {
		if (command.kind === 'goUp') onCommand('goUp');
		return;
	}
	const index = cursorIndex(selection.cursor, rows);
	const at = index === undefined ? undefined : cursorAt(rows, index);
	const isSelectable = at !== undefined && at.index >= rows.firstEntry;
	const moveTo = (to: Cursor | undefined, action: (to: Cursor) => SelectionAction) => {
		if (!to) return;
		dispatch(action(to));
		goTo(to.index);
	};
	switch (command.kind) {
		case 'move':
			moveTo(target(command.to, options, rows), (to) => ({ type: 'moved', to }));
			break;
		case 'extend':
			moveTo(target(command.to, options, rows), (to) => ({ type: 'extended', to, order: rows, keep: command.keep }));
			break;
		case 'find': {
			const match = findByPrefix(rows.names, prefix, selection.cursor ? index : undefined);
			if (match !== undefined) moveTo(cursorAt(rows, match), (to) => ({ type: 'moved', to }));
			break;
		}
		case 'extendHere':
			if (isSelectable) dispatch({ type: 'extended', to: at, order: rows, keep: command.keep });
			break;
		case 'toggle':
			if (isSelectable) dispatch({ type: 'toggled', at });
			break;
		case 'open':
			if (index !== undefined) onOpen(index);
			break;
		case 'selectAll':
			dispatch({ type: 'all', order: rows });
			break;
		case 'clear':
			dispatch({ type: 'cleared' });
			break;
		default:
			onCommand(command.kind);
	}
}

function target(movement: Movement, { selection, columns, page }: ListKeysOptions, rows: Rows): Cursor | undefined {
	const from = selection.cursor ? cursorIndex(selection.cursor, rows) : undefined;
	return cursorAt(rows, moveCursor(from, movement, { count: rows.count, columns, page: page() }));
}
