/**
 * What a terminal obeys and does not show: controls (of C0, DEL and C1), separators of lines, and format characters, which turn the
 * direction of a line round or hide in it. Joiners stay, since emoji and several scripts are written with them.
 */
const controls = /(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * The text with each of these characters as `\u` and its four digits, except the kept ones. Takes a time that is linear
 * in its length.
 */
export function escapeControls(text: string, kept = ''): string {
	return text.replace(controls, (character) => (kept.includes(character) ? character : unitsOf(character)));
}

/** JSON of the same value that may be shown on a terminal. Line feeds are those between values: in a text they are escaped already. */
export function escapeJson(json: string): string {
	return escapeControls(json, '\n');
}

/**
 * Embeddings, overrides and isolates: with them `a\u202Egpj.exe` looks like `aexe.jpg`. Marks, which scripts need,
 * turn nothing but spaces and dots. Halves of characters are matched with them.
 */
const turning = /[\u202A-\u202E\u2066-\u2069\p{Cs}]/gu;

/**
 * Matches a name of nothing but blanks and characters without a shape, such as a space without a width: its row would
 * show nothing, and have nothing to click on.
 */
const unseen = /^[\p{Z}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]+$/u;

/**
 * What a page shows of each end of a longer text, which is a path of very many folders: Chromium lays out a line whose letters
 * change their direction or script in a time that is the square of its length.
 */
const maxShownEnd = 500;

/**
 * A name, a path, or a sentence with one, as a page shows it: what would turn the direction of letters in it is seen as a
 * character of its own, and so is each of a name of which nothing would be seen. Of more than 1,000 characters the ends are shown.
 */
export function shownName(text: string): string {
	const isShort = text.length <= 2 * maxShownEnd;
	const shown = isShort ? text : `${text.slice(0, maxShownEnd)}…${text.slice(-maxShownEnd)}`;
	return unseen.test(shown) ? '\uFFFD'.repeat([...shown].length) : shown.replace(turning, '\uFFFD');
}

function unitsOf(character: string): string {
	let escaped = '';
	for (let at = 0; at < character.length; at++)
		escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
	return escaped;
}
