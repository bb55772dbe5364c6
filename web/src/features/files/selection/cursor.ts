/** How a key moves the cursor. */
export type Movement = 'up' | 'down' | 'pageUp' | 'pageDown' | 'first' | 'last';

/** The row to which a movement leads in a list of `count` rows, `page` of which fit on the screen. */
export function moveCursor(from: number | undefined, movement: Movement, count: number, page: number): number {
	const last = count - 1;
	// Without a cursor the list is entered at its top, or from below at its end.
	if (from === undefined) return movement === 'last' || movement === 'up' ? last : 0;
	switch (movement) {
		case 'up':
			return Math.max(0, from - 1);
		case 'down':
			return Math.min(last, from + 1);
		case 'pageUp':
			return Math.max(0, from - Math.max(1, page));
		case 'pageDown':
			return Math.min(last, from + Math.max(1, page));
		case 'first':
			return 0;
		case 'last':
			return last;
	}
}

/** A pause of so many milliseconds ends a typed prefix. */
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
