/** Where a key takes the cursor. */
export type Movement = 'up' | 'down' | 'pageUp' | 'pageDown' | 'first' | 'last';

/** The row that a movement leads to in a list of `count` rows of which a page shows `page`. */
export function moveCursor(from: number | undefined, movement: Movement, count: number, page: number): number {
	const last = count - 1;
	// A list that nobody has walked yet is entered at the top, or at its end from below.
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

/** How long a pause ends a typed prefix. */
export const prefixPause = 800;

/** What was typed so far and when its last letter came. */
export interface TypedPrefix {
	text: string;
	at: number;
}

export function typeLetter(before: TypedPrefix, letter: string, now: number): TypedPrefix {
	return { text: now - before.at > prefixPause ? letter : before.text + letter, at: now };
}

/**
 * The next row whose name begins with what was typed, around the end of the list. One letter typed again and again
 * walks through the names that begin with it; a longer prefix stays on the row it has found as long as that fits.
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
