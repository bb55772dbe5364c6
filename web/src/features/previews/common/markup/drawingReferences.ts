import { isOneOf, tokenEnd, unescaped } from './cssTokens.js';
import { withoutComments } from './styleCost.js';

/** The function's name as it is, or with characters that are escaped. */
const urlFunction = /(?:\\?u|\\0{0,4}[57]5\s?)(?:\\?r|\\0{0,4}[57]2\s?)(?:\\?l|\\0{0,4}[46]c\s?)\(/gi;

interface Address {
	/** Where its function begins and ends in the style. */
	start: number;
	end: number;
	text: string;
}

/** The ids of this document that a style refers to, each with all readings of it: what browsers would find is among them. */
export function idsIn(css: string): string[] {
	return addressesIn(css).flatMap(({ text }) => idsOfAddress(text));
}

/** The ids that an address may stand for. */
export function idsOfAddress(address: string): string[] {
	const plain = address.replaceAll(/[\t\n\r]/g, '').trim();
	return plain.startsWith('#') ? readingsOf(plain.slice(1)) : [];
}

/** The rules of a style sheet: what is between its closing brackets. */
export function splitRules(css: string): string[] {
	const ends = new Map(addressesIn(css).map(({ start, end }) => [start, end]));
	const rules: string[] = [];
	let start = 0;
	for (let at = 0; at < css.length; ) {
		if (css.charAt(at) === '}') {
			rules.push(css.slice(start, at));
			start = at + 1;
		}
		at = ends.get(at) ?? tokenEnd(css, at);
	}
	return [...rules, css.slice(start)];
}

/** Whether a style gives an address a name, by which any number of elements may refer to it. */
export function namesAddresses(css: string): boolean {
	return unescaped(withoutComments(css))
		.split(/[;{}]/)
		.some((declaration) => {
			const at = declaration.search(/url\(["'\s]*#/i);
			return at !== -1 && /--|initial-value/i.test(declaration.slice(0, at));
		});
}

function addressesIn(css: string): Address[] {
	return Array.from(css.matchAll(urlFunction), ({ 0: name, index }) => {
		let at = index + name.length;
		while (isOneOf(css.charAt(at), ' \t\n\r\f')) at++;
		const quote = css.charAt(at);
		if (quote === '"' || quote === "'") {
			const end = tokenEnd(css, at);
			return { start: index, end, text: unescaped(css.slice(at + 1, css[end - 1] === quote ? end - 1 : end)) };
		}
		const start = at;
		while (at < css.length && !isOneOf(css.charAt(at), '()"\'')) at += css[at] === '\\' ? 2 : 1;
		return { start: index, end: Math.max(at, index + name.length), text: unescaped(css.slice(start, at)) };
	});
}

/** A fragment as it is, and with its percent signs decoded: as UTF-8, or byte by byte where it is not UTF-8. */
function readingsOf(fragment: string): string[] {
	if (!fragment.includes('%')) return [fragment];
	const encoded = new TextEncoder().encode(fragment);
	const bytes: number[] = [];
	for (let at = 0; at < encoded.length; at++) {
		const hex = encoded[at] === 0x25 ? String.fromCharCode(encoded[at + 1] ?? 0, encoded[at + 2] ?? 0) : '';
		const isByte = /^[\da-f]{2}$/i.test(hex);
		bytes.push(isByte ? Number.parseInt(hex, 16) : (encoded[at] as number));
		if (isByte) at += 2;
	}
	const asText = new TextDecoder().decode(Uint8Array.from(bytes));
	return [...new Set([fragment, asText, bytes.map((byte) => String.fromCharCode(byte)).join('')])];
}
