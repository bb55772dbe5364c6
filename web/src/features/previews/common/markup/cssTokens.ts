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

/** An escape within a name, with the blank that ends one of digits. */
const escaped = /\\(?:[\da-f]{1,6}(?:\r\n|[ \t\n\r\f])?|[^\da-f\n\r\f])/iy;

/** The offset behind a name, of which characters may be escaped. */
export function nameEnd(css: string, start: number): number {
	let at = identifierEnd(css, start);
	while (css.charAt(at) === '\\') {
		escaped.lastIndex = at;
		if (!escaped.test(css)) break;
		at = identifierEnd(css, escaped.lastIndex);
	}
	return at;
}

/** A style without escapes in its names: what is no character of one without them is another that no name has. */
export function plainNames(css: string): string {
	if (!css.includes('\\')) return css;
	let plain = '';
	let at = 0;
	while (at < css.length) {
		const start = at;
		const end = nameEnd(css, start);
		at = end > start ? end : tokenEnd(css, start);
		const token = css.slice(start, at);
		plain += end > start ? token.replaceAll(escapes, (each) => nameCharacter(unescaped(each))) : token;
	}
	return plain;
}

const escapes = /\\(?:[\da-f]{1,6}(?:\r\n|[ \t\n\r\f])?|[^\da-f])/gi;
const nameCharacter = (character: string) => (isIdentifierPart(character.charCodeAt(0)) ? character : '\uFFFD');

/**
 * A style in which each token ends where `tokenEnd` says: addresses have quotes, and strings that end with their line have another one.
 * Brackets and quotes within an address would be read as such, where a browser reads on. The marks of a comment of HTML are gone.
 */
export function withQuotes(css: string): string {
	if (!/["'\\]|url\(|<!--|-->/i.test(css)) return css;
	const parts: string[] = [];
	let copied = 0;
	const put = (from: number, text: string, end: number) => {
		parts.push(css.slice(copied, from), text);
		copied = end;
		return end;
	};
	let at = 0;
	while (at < css.length) {
		const start = at;
		at = nameEnd(css, start);
		if (at > start) {
			if (css[at] === '>' && css.slice(start, at) === '--') at = put(start, ' ', at + 1);
			else if (css[at] === '(' && isAddressFunction(css, start, at)) {
				const inner = blanksEnd(css, at + 1);
				const isQuoted = isOneOf(css.charAt(inner), '"\'');
				const end = isQuoted ? inner : plainAddressEnd(css, inner);
				at = put(start, isQuoted ? 'url(' : `url("${quotable(css.slice(inner, end))}"`, end);
			}
		} else if (css.startsWith('<!--', start)) at = put(start, ' ', start + 4);
		else if (isOneOf(css.charAt(start), '"\'')) {
			const end = lineStringEnd(css, start);
			at = css[end] === css[start] ? end + 1 : put(end, css.charAt(start), end);
		} else at = tokenEnd(css, start);
	}
	parts.push(css.slice(copied));
	return parts.join('');
}

/** Whether a name is that of a function with an address. The longest has 27 characters, as escapes. */
function isAddressFunction(css: string, start: number, end: number): boolean {
	if (end - start > 30 || isOneOf(css.charAt(start - 1), '#@')) return false;
	return unescaped(css.slice(start, end)).toLowerCase() === 'url';
}

function blanksEnd(css: string, start: number): number {
	let at = start;
	while (isOneOf(css.charAt(at), ' \t\n\r\f')) at++;
	return at;
}

/** The offset of the bracket that ends an address without quotes. */
function plainAddressEnd(css: string, start: number): number {
	let at = start;
	while (at < css.length && css.charAt(at) !== ')') at += css.charAt(at) === '\\' ? 2 : 1;
	return Math.min(css.length, at);
}

const quotable = (address: string) =>
	address.replaceAll(/\\[\s\S]|["\n\r\f]/g, (each) => (each === '"' ? '\\"' : each.length > 1 ? each : ' '));

/** The offset of the quote that ends a string, or of the end of its line: that ends one, unless it is escaped. */
function lineStringEnd(css: string, start: number): number {
	let at = start + 1;
	while (at < css.length && css[at] !== css[start] && !isOneOf(css.charAt(at), '\n\r\f')) {
		if (css[at] === '\\') at += css.startsWith('\r\n', at + 1) ? 3 : 2;
		else at++;
	}
	return Math.min(css.length, at);
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
	return css.replaceAll(
		/\\(?:([\da-f]{1,6})(?:\r\n|[ \t\n\r\f])?|\n|([\s\S]))/gi,
		(_, hex?: string, character = '') => {
			if (hex === undefined) return character;
			const code = Number.parseInt(hex, 16);
			return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
		},
	);
}
