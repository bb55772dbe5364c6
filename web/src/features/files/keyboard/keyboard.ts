import type { Movement } from '../selection/cursor.js';

/** The command of a key in the list. Ctrl+V is missing: it is handled by the browser's paste event, which has the files. */
export type KeyCommand =
	| { kind: 'move'; to: Movement }
	| { kind: 'extend'; to: Movement; keep: boolean }
	| { kind: 'toggle' }
	| { kind: 'extendHere'; keep: boolean }
	| { kind: 'find'; letter: string }
	| {
			kind:
				| 'open'
				| 'preview'
				| 'goUp'
				| 'menu'
				| 'rename'
				| 'convert'
				| 'delete'
				| 'deleteForever'
				| 'selectAll'
				| 'cut'
				| 'copy'
				| 'undo'
				| 'clear';
	  };

/** The part of a keyboard event that is used here. */
export interface Keystroke {
	key: string;
	ctrlKey: boolean;
	metaKey: boolean;
	shiftKey: boolean;
	altKey: boolean;
}

const movements: Readonly<Record<string, Movement>> = {
	ArrowUp: 'up',
	ArrowDown: 'down',
	ArrowLeft: 'left',
	ArrowRight: 'right',
	PageUp: 'pageUp',
	PageDown: 'pageDown',
	Home: 'first',
	End: 'last',
};

/** The command of a key. While a prefix is being typed (`typing`), a space is part of it. */
export function commandFor(stroke: Keystroke, typing: boolean): KeyCommand | undefined {
	const control = stroke.ctrlKey || stroke.metaKey;
	if (stroke.altKey) return stroke.key === 'ArrowUp' && !control ? { kind: 'goUp' } : undefined;
	const to = movements[stroke.key];
	if (to) return stroke.shiftKey ? { kind: 'extend', to, keep: control } : { kind: 'move', to };
	if (stroke.key === ' ' && typing && !control && !stroke.shiftKey) return { kind: 'find', letter: ' ' };
	switch (stroke.key) {
		case ' ':
			return stroke.shiftKey ? { kind: 'extendHere', keep: control } : { kind: 'toggle' };
		case 'Enter':
			return { kind: control || stroke.shiftKey ? 'preview' : 'open' };
		case 'Backspace':
			return { kind: 'goUp' };
		case 'Escape':
			return { kind: 'clear' };
		case 'ContextMenu':
			return { kind: 'menu' };
		case 'F10':
			return stroke.shiftKey ? { kind: 'menu' } : undefined;
		case 'F2':
			return { kind: 'rename' };
		case 'F8':
			return { kind: 'convert' };
		case 'Delete':
			return { kind: stroke.shiftKey ? 'deleteForever' : 'delete' };
	}
	if (control) return stroke.shiftKey ? undefined : shortcuts[stroke.key.toLowerCase()];
	// One letter of any alphabet, also one of two UTF-16 units. The names of other keys are longer.
	return [...stroke.key].length === 1 ? { kind: 'find', letter: stroke.key } : undefined;
}

/** Whether a key that is held may repeat its command: all others would be done again and again, such as an undo. */
export function mayRepeat({ kind }: KeyCommand): boolean {
	return kind === 'move' || kind === 'extend' || kind === 'find';
}

const shortcuts: Readonly<Record<string, KeyCommand>> = {
	a: { kind: 'selectAll' },
	c: { kind: 'copy' },
	x: { kind: 'cut' },
	z: { kind: 'undo' },
};
