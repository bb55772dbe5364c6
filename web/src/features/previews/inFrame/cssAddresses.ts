import { isOneOf, nameEnd, tokenEnd, withQuotes } from '../common/markup/cssTokens.js';

/** What stands in for an address of a style sheet; undefined for one that is not to be fetched. */
export type ReplaceAddress = (address: string) => string | undefined;

const functionsWithAddress = ['url', 'src'];
const imageSets = ['image-set', '-webkit-image-set'];

/**
 * Replaces the addresses in CSS, as the browser serializes it: strings and brackets have ends. Sets of images, and
 * custom properties that could become an address elsewhere, are removed. Each character is read once, or twice within
 * what is removed.
 */
export function replaceAddresses(given: string, replace: ReplaceAddress): string {
	// A value with a variable has its addresses and escapes as they were written.
	const css = withQuotes(given);
	const parts: string[] = [];
	let copied = 0;
	let at = 0;
	/** A custom property can only begin where a declaration does. */
	let isDeclarationStart = true;
	const put = (text: string, end: number) => {
		parts.push(css.slice(copied, at), text);
		copied = end;
		at = end;
	};
	while (at < css.length) {
		const character = css.charAt(at);
		const end = nameEnd(css, at);
		if (end > at) {
			const name = css.slice(at, end).toLowerCase();
			// Which function that is only the browser would know.
			if (css[end] === '(' && name.includes('\\')) put('none', bracketEnd(css, end));
			else if (css[end] === '(' && functionsWithAddress.includes(name)) {
				const closed = bracketEnd(css, end);
				const own = replaceOne(css.slice(end + 1, closed - 1), replace);
				put(own === undefined ? 'none' : `url("${own.replaceAll('"', '%22')}")`, closed);
			} else if (css[end] === '(' && imageSets.includes(name)) put('none', bracketEnd(css, end));
			else if (isDeclarationStart && name.startsWith('--')) {
				const valueEnd = declarationEnd(css, end);
				if (mayBeAddress(css.slice(end, valueEnd))) put('', valueEnd);
				else at = valueEnd;
			} else at = end;
			isDeclarationStart = false;
		} else {
			if (isOneOf(character, '{};')) isDeclarationStart = true;
			else if (character.trim() !== '') isDeclarationStart = false;
			at = tokenEnd(css, at);
		}
	}
	parts.push(css.slice(copied));
	return parts.join('');
}

function replaceOne(argument: string, replace: ReplaceAddress): string | undefined {
	const text = argument.trim();
	const quote = text.charAt(0);
	const isQuoted = isOneOf(quote, '"\'');
	if (isQuoted && (text.length < 2 || !text.endsWith(quote))) return undefined;
	const address = (isQuoted ? text.slice(1, -1) : text).trim();
	// What an escape stands for would have to be read as the browser does it.
	if (address.includes('\\') || address.includes('"')) return undefined;
	return address.startsWith('#') ? address : replace(address);
}

function mayBeAddress(value: string): boolean {
	return value.includes('\\') || value.includes('//') || /(?:url|src|image-set)\(/i.test(value);
}

/** The offset behind the bracket that closes the one at `at`. */
function bracketEnd(css: string, at: number): number {
	return scanTo(css, at, (depth) => depth === 0);
}

/** The offset of the semicolon or bracket that ends a declaration. */
function declarationEnd(css: string, at: number): number {
	return scanTo(css, at, (depth, character) => depth < 0 || (depth === 0 && character === ';')) - 1;
}

/** The offset behind the first token at which `isEnd`, given the open brackets with it; one behind the text if there is none. */
function scanTo(css: string, start: number, isEnd: (depth: number, character: string) => boolean): number {
	let depth = 0;
	let at = start;
	while (at < css.length) {
		const character = css.charAt(at);
		if (isOneOf(character, '([{')) depth++;
		else if (isOneOf(character, ')]}')) depth--;
		at = tokenEnd(css, at);
		if (isEnd(depth, character)) return at;
	}
	return css.length + 1;
}
