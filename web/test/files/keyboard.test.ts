import test, { type ExecutionContext } from 'ava';
import { commandFor, type KeyCommand, type Keystroke } from '../../src/features/files/keyboard/keyboard.js';
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

const means = (t: ExecutionContext, keys: string, expected: KeyCommand | undefined) =>
	t.deepEqual(commandFor(stroke(keys), false), expected);

test('an arrow moves the cursor', means, 'ArrowDown', { kind: 'move', to: 'down' });
test('Shift and an arrow extend', means, 'Shift+ArrowUp', { kind: 'extend', to: 'up', keep: false });
test('Ctrl and Shift extend beside the rest', means, 'Ctrl+Shift+End', { kind: 'extend', to: 'last', keep: true });
test('PageDown moves by a page', means, 'PageDown', { kind: 'move', to: 'pageDown' });
test('Enter opens', means, 'Enter', { kind: 'open' });
test('Shift and Enter preview', means, 'Shift+Enter', { kind: 'preview' });
test('Space selects', means, ' ', { kind: 'toggle' });
test('Shift and Space extend to the cursor', means, 'Shift+ ', { kind: 'extendHere', keep: false });
test('the menu key opens the menu', means, 'ContextMenu', { kind: 'menu' });
test('Shift and F10 open the menu', means, 'Shift+F10', { kind: 'menu' });
test('F10 alone is the browser’s', means, 'F10', undefined);
test('F2 renames', means, 'F2', { kind: 'rename' });
test('F8 converts', means, 'F8', { kind: 'convert' });
test('Delete deletes', means, 'Delete', { kind: 'delete' });
test('Backspace goes up', means, 'Backspace', { kind: 'goUp' });
test('Escape clears', means, 'Escape', { kind: 'clear' });
test('Ctrl+A selects all', means, 'Ctrl+a', { kind: 'selectAll' });
test('Cmd+C copies', means, 'Meta+c', { kind: 'copy' });
test('Ctrl+X cuts, also with caps lock', means, 'Ctrl+X', { kind: 'cut' });
test('Ctrl+V is left to the browser, whose event brings files', means, 'Ctrl+v', undefined);
test('Ctrl+R is left to the browser', means, 'Ctrl+r', undefined);
test('Alt and an arrow go back in the browser', means, 'Alt+ArrowLeft', undefined);
test('a letter is searched', means, 'r', { kind: 'find', letter: 'r' });
test('a letter of two units is searched', means, '😀', { kind: 'find', letter: '😀' });
test('the name of another key is no letter', means, 'Dead', undefined);

test('a space within a typed prefix belongs to it', (t) => {
	t.deepEqual(commandFor(stroke(' '), true), { kind: 'find', letter: ' ' });
});

const leads = (t: ExecutionContext, from: number | undefined, to: Movement, expected: number) =>
	t.is(moveCursor(from, to, { count: 100, columns: 1, page: 10 }), expected);

test('down from the last row stays', leads, 99, 'down', 99);
test('up from the first row stays', leads, 0, 'up', 0);
test('a page down ends at the last row', leads, 95, 'pageDown', 99);
test('a page up ends at the first row', leads, 4, 'pageUp', 0);
test('a list without a cursor is entered at its top', leads, undefined, 'down', 0);
test('and from below at its end', leads, undefined, 'up', 99);

const leadsInGrid = (t: ExecutionContext, from: number | undefined, to: Movement, expected: number) =>
	t.is(moveCursor(from, to, { count: 10, columns: 4, page: 2 }), expected);

test('in a grid down keeps the column', leadsInGrid, 1, 'down', 5);
test('in a grid down into a shorter last line goes to its end', leadsInGrid, 7, 'down', 9);
test('in a grid down from the last line stays', leadsInGrid, 8, 'down', 8);
test('in a grid up from the first line stays', leadsInGrid, 3, 'up', 3);
test('in a grid up keeps the column', leadsInGrid, 9, 'up', 5);
test('in a grid an arrow to the side goes on in the next line', leadsInGrid, 3, 'right', 4);
test('in a grid an arrow to the side goes back to the line before', leadsInGrid, 4, 'left', 3);
test('in a grid an arrow to the side stops at the first', leadsInGrid, 0, 'left', 0);
test('in a grid a page down keeps the column', leadsInGrid, 1, 'pageDown', 9);
test('in a grid a page up ends in the first line', leadsInGrid, 6, 'pageUp', 2);

const names = ['', 'Archive', 'apple', 'Banana', 'file 1', 'file 10', 'file 2'];
const finds = (t: ExecutionContext, typed: string, from: number | undefined, expected: number | undefined) =>
	t.is(findByPrefix(names, typed, from), expected);

test('a letter finds the next name, without regard to case', finds, 'a', 1, 2);
test('and goes around the end of the list', finds, 'a', 2, 1);
test('a longer prefix stays where it fits', finds, 'file 1', 4, 4);
test('or goes on to where it does', finds, 'file 10', 4, 5);
test('the same letter again moves on', finds, 'ff', 4, 5);
test('what no name begins with is not found', finds, 'zebra', 0, undefined);

test('a pause begins a new prefix', (t) => {
	const first = typeLetter({ text: '', at: 0 }, 'a', 5000);
	t.is(typeLetter(first, 'b', 5000 + prefixPause).text, 'ab');
	t.is(typeLetter(first, 'b', 5001 + prefixPause).text, 'b');
});
