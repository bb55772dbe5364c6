/**
 * Where the comments, instructions and white space from `at` on have ended; undefined where one of them has no end. Each character is
 * read once.
 */
export function skipMisc(text: string, at: number): number | undefined {
	let from = at;
	for (;;) {
		while (isSpace(text.charCodeAt(from))) from++;
		const end = text.startsWith('<?', from) ? '?>' : text.startsWith('<!--', from) ? '-->' : undefined;
		if (end === undefined) return from;
		const endAt = text.indexOf(end, from + (end === '-->' ? 4 : 2));
		if (endAt === -1) return undefined;
		from = endAt + end.length;
	}
}

/** The space, tab, line feed and carriage return of XML, and HTML's form feed. */
function isSpace(unit: number): boolean {
	return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d && unit !== 0x0b);
}

const doctype = '<!DOCTYPE';

/**
 * The document type declaration that precedes the root element: its place in the text, with the declarations within it. `none` if there
 * is none, `broken` for a prolog without an end. The `>` of quoted texts, comments and instructions in it don't end it.
 */
export function findDoctype(text: string): { start: number; end: number } | 'none' | 'broken' {
	const start = skipMisc(text, text.startsWith('\uFEFF') ? 1 : 0);
	if (start === undefined) return 'broken';
	if (text.slice(start, start + doctype.length).toUpperCase() !== doctype) return 'none';
	let isInside = false;
	let at = start + doctype.length;
	while (at < text.length) {
		const character = text.charAt(at);
		const quote = character === '"' || character === "'" ? character : undefined;
		const end = quote ?? (text.startsWith('<!--', at) ? '-->' : text.startsWith('<?', at) ? '?>' : undefined);
		if (end !== undefined) {
			const endAt = text.indexOf(end, at + (end === '-->' ? 4 : end.length));
			if (endAt === -1) return 'broken';
			at = endAt + end.length;
			continue;
		}
		at++;
		if (character === '[') isInside = true;
		else if (character === ']') isInside = false;
		else if (character === '>' && !isInside) return { start, end: at };
	}
	return 'broken';
}
