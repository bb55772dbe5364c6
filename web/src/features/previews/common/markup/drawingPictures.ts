import { maxPixels, pixelsOfAddress } from '../images/pixels.js';
import { unescaped } from './cssTokens.js';
import { FontBudget } from './fonts.js';

/** The scheme of an address, within which browsers skip tabs and ends of lines, and not the end of a longer word. */
const dataScheme = /(?:^|[^\w-])d[\t\n\r]*a[\t\n\r]*t[\t\n\r]*a[\t\n\r]*:/gi;

/**
 * Whether what addresses within a drawing contain would take too much memory: its pictures have more pixels together than one picture may
 * have, its fonts more bytes, or one is neither. A browser goes by the bytes, whatever type an address names.
 */
export function hasCostlyAddresses(elements: readonly Element[], styles: readonly string[]): boolean {
	const values = elements.flatMap(({ attributes }) => [...attributes].filter(mayHaveAddress).map(({ value }) => value));
	const addresses = new Set([...values, ...styles.map(unescaped)].flatMap(dataAddresses));
	const fonts = new FontBudget();
	let pixels = 0;
	for (const address of addresses) {
		if (!fonts.admitsAddress(address)) pixels += pixelsOfAddress(address);
		if (pixels > maxPixels) return true;
	}
	return false;
}

/** The `data:` addresses in a text, each up to the next bracket, quote or colon, which no address of a picture has. */
export function dataAddresses(text: string): string[] {
	return Array.from(text.matchAll(dataScheme), ({ 0: scheme, index }) => {
		const rest = text.slice(index + scheme.length);
		const end = rest.search(/[()"'<>:]/);
		return `data:${end === -1 ? rest : rest.slice(0, end)}`;
	});
}

/** Texts for people and programs, such as the source that editors keep within their drawings (`content`), are not read by browsers. */
function mayHaveAddress({ namespaceURI, localName }: Attr): boolean {
	if (namespaceURI !== null && namespaceURI !== 'http://www.w3.org/1999/xlink') return false;
	return !/^(?:id|class|content|title|alt|role|lang)$|^(?:aria|data)-/.test(localName);
}
