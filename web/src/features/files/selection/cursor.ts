/** How a key moves the cursor. */
export type Movement = 'up' | 'down' | 'left' | 'right' | 'pageUp' | 'pageDown' | 'first' | 'last';

/** How the entries are laid out, on which a movement depends. */
export interface Layout {
	/** The number of all entries. */
	count: number;
	/** Entries in a line. */
	columns: number;
	/** Lines on a screen. */
	page: number;
}

/** The entry to which a movement leads. Up and down keep the column; the last line may be shorter. */
export function moveCursor(from: number | undefined, movement: Movement, { count, columns, page }: Layout): number {
	const last = count - 1;
	// Without a cursor the list is entered at its top, or from below at its end.
	if (from === undefined) return movement === 'last' || movement === 'up' || movement === 'left' ? last : 0;
	switch (movement) {
		case 'up':
			return byLines(from, -1);
		case 'down':
			return byLines(from, 1);
		case 'left':
			return Math.max(0, from - 1);
		case 'right':
			return Math.min(last, from + 1);
		case 'pageUp':
			return byLines(from, -Math.max(1, page));
		case 'pageDown':
			return byLines(from, Math.max(1, page));
		case 'first':
			return 0;
		case 'last':
			return last;
	}

	function byLines(start: number, lines: number): number {
		const line = Math.floor(start / columns);
		const to = Math.min(Math.floor(last / columns), Math.max(0, line + lines));
		return Math.min(last, start + (to - line) * columns);
	}
}

/** A pause of this many milliseconds ends a typed prefix. */
export const prefixPause = 800;

/** The typed letters and the time of the last one. */
export interface TypedPrefix {
	text: string;
	at: number;
}

export function typeLetter(before: TypedPrefix, letter: string, now: number): TypedPrefix {
	return { text: now - before.at > prefixPause ? letter : before.text + letter, at: now };
}

/**
 * The next row whose name begins with the typed prefix, wrapping around at the end. One letter typed repeatedly cycles through
 * the names that begin with it; a longer prefix stays on its row as long as that matches.
 */
export function findByPrefix(names: readonly string[], typed: string, from: number | undefined): number | undefined {
	const repeated = [...typed].every((letter) => letter === typed[0]);
	const prefix = (repeated ? (typed[0] ?? '') : typed).toLocaleLowerCase();
	if (prefix === '') return undefined;
	const start = from === undefined ? 0 : repeated ? from + 1 : from;
	for (let step = 0; step < names.length; step++) {
		const index = (start + step) % names.length;
		if (names[index]?.slice(0, typed.length).toLocaleLowerCase().startsWith(prefix)) return index;
	}
	return undefined;
}
