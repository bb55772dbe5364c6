/** Letters, digits, `-`, `_` and everything beyond ASCII. */
export function isIdentifierPart(unit: number): boolean {
	return (
		(unit >= 0x61 && unit <= 0x7a) ||
		(unit >= 0x41 && unit <= 0x5a) ||
		(unit >= 0x30 && unit <= 0x39) ||
		unit === 0x2d ||
		unit === 0x5f ||
		unit >= 0x80
	);
}

export function identifierEnd(css: string, start: number): number {
	let at = start;
	while (isIdentifierPart(css.charCodeAt(at))) at++;
	return at;
}

/** The offset behind the string, comment, escape or single character at `at`. */
export function tokenEnd(css: string, at: number): number {
	const character = css.charAt(at);
	if (character === '\\') return at + 2;
	if (character === '/' && css[at + 1] === '*') {
		const end = css.indexOf('*/', at + 2);
		return end === -1 ? css.length : end + 2;
	}
	if (!isOneOf(character, '"\'')) return at + 1;
	let end = at + 1;
	while (end < css.length && css[end] !== character) end += css[end] === '\\' ? 2 : 1;
	return Math.min(css.length, end + 1);
}

export function isOneOf(character: string, all: string): boolean {
	return character !== '' && all.includes(character);
}

export function unescaped(css: string): string {
	return css.replaceAll(/\\(?:([\da-f]{1,6})\s?|\n|([\s\S]))/gi, (_, hex?: string, character = '') => {
		if (hex === undefined) return character;
		const code = Number.parseInt(hex, 16);
		return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
	});
}
