import test, { type ExecutionContext } from 'ava';
import { commandFor, type KeyCommand, type Keystroke, mayRepeat } from '../../src/features/files/keyboard/keyboard.js';
import {
	findByPrefix,
	type Movement,
	moveCursor,
	prefixPause,
	typeLetter,
} from '../../src/features/files/selection/cursor.js';

function stroke(text: string): Keystroke {
	const parts = text.split('+');
	const has = (name: string) => parts.slice(0, -1).includes(name);
	return {
		key: parts.at(-1) || '+',
		ctrlKey: has('Ctrl'),
		metaKey: has('Meta'),
		shiftKey: has('Shift'),
		altKey: has('Alt'),
	};
}

test('a key that is held moves, extends and finds on and on, and does nothing else twice', (t) => {
	const repeats = (keys: string) => {
		const command = commandFor(stroke(keys), false);
		return command !== undefined && mayRepeat(command);
	};
	for (const keys of ['ArrowDown', 'PageUp', 'Shift+ArrowUp', 'Ctrl+Shift+End', 'a']) t.true(repeats(keys), keys);
	const once = [
		'Enter',
		'Shift+Enter',
		' ',
		'Backspace',
		'Delete',
		'Shift+Delete',
		'F2',
		'F8',
		'Escape',
		'ContextMenu',
	];
	for (const keys of [...once, 'Ctrl+z', 'Ctrl+x', 'Ctrl+c', 'Ctrl+a', 'Alt+ArrowUp']) t.false(repeats(keys), keys);
});

const givesCommand = (t: ExecutionContext, keys: string, expected: KeyCommand | undefined) =>
	t.deepEqual(commandFor(stroke(keys), false), expected);

test('an arrow key moves the cursor', givesCommand, 'ArrowDown', { kind: 'move', to: 'down' });
test('Shift and an arrow key extend the selection', givesCommand, 'Shift+ArrowUp', {
	kind: 'extend',
	to: 'up',
	keep: false,
});
test('Ctrl and Shift extend the selection and keep the rest', givesCommand, 'Ctrl+Shift+End', {
	kind: 'extend',
	to: 'last',
	keep: true,
});
test('PageDown moves the cursor by a page', givesCommand, 'PageDown', { kind: 'move', to: 'pageDown' });
test('Enter opens the entry', givesCommand, 'Enter', { kind: 'open' });
test('Shift and Enter preview the entry', givesCommand, 'Shift+Enter', { kind: 'preview' });
test('Space toggles the selection of the entry', givesCommand, ' ', { kind: 'toggle' });
test('Shift and Space extend the selection to the cursor', givesCommand, 'Shift+ ', {
	kind: 'extendHere',
	keep: false,
});
test('the menu key opens the menu', givesCommand, 'ContextMenu', { kind: 'menu' });
test('Shift and F10 open the menu', givesCommand, 'Shift+F10', { kind: 'menu' });
test('F10 alone is left to the browser', givesCommand, 'F10', undefined);
test('F2 renames the entry', givesCommand, 'F2', { kind: 'rename' });
test('F8 converts the selected videos', givesCommand, 'F8', { kind: 'convert' });
test('Delete deletes the selected entries', givesCommand, 'Delete', { kind: 'delete' });
test('Shift and Delete delete the selected entries past the trash', givesCommand, 'Shift+Delete', {
	kind: 'deleteForever',
});
test('Backspace opens the folder above', givesCommand, 'Backspace', { kind: 'goUp' });
test('Escape clears the selection', givesCommand, 'Escape', { kind: 'clear' });
test('Ctrl+A selects all entries', givesCommand, 'Ctrl+a', { kind: 'selectAll' });
test('Cmd+C copies the selected entries', givesCommand, 'Meta+c', { kind: 'copy' });
test('Ctrl+X cuts the selected entries, also with caps lock', givesCommand, 'Ctrl+X', { kind: 'cut' });
test('Ctrl+Z undoes the last operation', givesCommand, 'Ctrl+z', { kind: 'undo' });
test('Cmd+Z undoes the last operation', givesCommand, 'Meta+z', { kind: 'undo' });
test('Ctrl+Shift+Z, which repeats elsewhere, undoes nothing', givesCommand, 'Ctrl+Shift+Z', undefined);
test('Ctrl+V is left to the browser, whose paste event has the files', givesCommand, 'Ctrl+v', undefined);
test('Ctrl+R is left to the browser', givesCommand, 'Ctrl+r', undefined);
test('Alt and an arrow key are left to the browser', givesCommand, 'Alt+ArrowLeft', undefined);
test('a letter searches for a name', givesCommand, 'r', { kind: 'find', letter: 'r' });
test('a letter of two code units searches for a name', givesCommand, '😀', { kind: 'find', letter: '😀' });
test('a key without a letter searches for nothing', givesCommand, 'Dead', undefined);

test('a space within a typed prefix belongs to it', (t) => {
	t.deepEqual(commandFor(stroke(' '), true), { kind: 'find', letter: ' ' });
});

const movesCursor = (t: ExecutionContext, from: number | undefined, to: Movement, expected: number) =>
	t.is(moveCursor(from, to, { count: 100, columns: 1, page: 10 }), expected);

test('the cursor stays on the last row at a step down', movesCursor, 99, 'down', 99);
test('the cursor stays on the first row at a step up', movesCursor, 0, 'up', 0);
test('a page down moves the cursor to the last row at most', movesCursor, 95, 'pageDown', 99);
test('a page up moves the cursor to the first row at most', movesCursor, 4, 'pageUp', 0);
test('a step down in a list without a cursor moves it to the first row', movesCursor, undefined, 'down', 0);
test('a step up in a list without a cursor moves it to the last row', movesCursor, undefined, 'up', 99);

const movesCursorInGrid = (t: ExecutionContext, from: number | undefined, to: Movement, expected: number) =>
	t.is(moveCursor(from, to, { count: 10, columns: 4, page: 2 }), expected);

test('a step down in a grid keeps the column', movesCursorInGrid, 1, 'down', 5);
test('a step down into a shorter last line of a grid ends at its last tile', movesCursorInGrid, 7, 'down', 9);
test('the cursor stays in the last line of a grid at a step down', movesCursorInGrid, 8, 'down', 8);
test('the cursor stays in the first line of a grid at a step up', movesCursorInGrid, 3, 'up', 3);
test('a step up in a grid keeps the column', movesCursorInGrid, 9, 'up', 5);
test('a step right from the last tile of a line leads to the next line of a grid', movesCursorInGrid, 3, 'right', 4);
test('a step left from the first tile of a line leads to the previous line of a grid', movesCursorInGrid, 4, 'left', 3);
test('the cursor stays on the first tile of a grid at a step left', movesCursorInGrid, 0, 'left', 0);
test('a page down in a grid keeps the column', movesCursorInGrid, 1, 'pageDown', 9);
test('a page up in a grid moves the cursor to the first line at most', movesCursorInGrid, 6, 'pageUp', 2);

const names = ['', 'Archive', 'apple', 'Banana', 'file 1', 'file 10', 'file 2'];
const findsName = (t: ExecutionContext, typed: string, from: number | undefined, expected: number | undefined) =>
	t.is(findByPrefix(names, typed, from), expected);

test('a typed letter finds the next name, ignoring case', findsName, 'a', 1, 2);
test('a typed letter wraps around the end of the list', findsName, 'a', 2, 1);
test('a longer prefix keeps the cursor on a name that begins with it', findsName, 'file 1', 4, 4);
test('a longer prefix finds the next name that begins with it', findsName, 'file 10', 4, 5);
test('the same letter typed again finds the next name', findsName, 'ff', 4, 5);
test('a prefix of no name finds nothing', findsName, 'zebra', 0, undefined);

test('a letter typed after a pause begins a new prefix', (t) => {
	const first = typeLetter({ text: '', at: 0 }, 'a', 5000);
	t.is(typeLetter(first, 'b', 5000 + prefixPause).text, 'ab');
	t.is(typeLetter(first, 'b', 5001 + prefixPause).text, 'b');
});
