import { Parser } from 'htmlparser2';
import { TooMuchMarkup } from './markupBounds.js';

const xhtml = 'http://www.w3.org/1999/xhtml';
const namespaces: ReadonlyMap<string, string> = new Map([
	['svg', 'http://www.w3.org/2000/svg'],
	['math', 'http://www.w3.org/1998/Math/MathML'],
]);
/** Names of elements and attributes of SVG and MathML with capitals (HTML, section 13.2.6.1), which the parser makes lower case. */
const namesWithCapitals = `
	attributeName attributeType baseFrequency baseProfile calcMode clipPathUnits diffuseConstant edgeMode filterUnits
	glyphRef gradientTransform gradientUnits kernelMatrix kernelUnitLength keyPoints keySplines keyTimes lengthAdjust
	limitingConeAngle markerHeight markerUnits markerWidth maskContentUnits maskUnits numOctaves pathLength
	patternContentUnits patternTransform patternUnits pointsAtX pointsAtY pointsAtZ preserveAlpha preserveAspectRatio
	primitiveUnits refX refY repeatCount repeatDur requiredExtensions requiredFeatures specularConstant specularExponent
	spreadMethod startOffset stdDeviation stitchTiles surfaceScale systemLanguage tableValues targetX targetY textLength
	viewBox viewTarget xChannelSelector yChannelSelector zoomAndPan
	definitionURL`;
const spellings: ReadonlyMap<string, string> = new Map(
	(namesWithCapitals.match(/\w+/g) ?? []).map((name) => [name.toLowerCase(), name]),
);
const prefixes = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:epub="http://www.idpf.org/2007/ops"';

/**
 * Deeper than any page is. The parser moves the list of all open elements with each one that begins, which takes the
 * square of their number.
 */
const maxOpen = 1_000;

/**
 * HTML, or XHTML with faults, as XML with the same elements. The browser's own parser of HTML would copy formats
 * without an end into each element that follows, and take the square of the length for it; this one reads each tag
 * once. Throws `TooMuchMarkup` for elements that are nested too deep.
 */
export function htmlAsXml(html: string): string {
	const parts: string[] = [];
	const open: string[] = [];
	let rootAttributes = '';
	/** Drawings and formulas that are open. */
	let drawn = 0;
	const parser = new Parser(
		{
			onopentag(name, given) {
				const parent = open.at(-1);
				if (namespaces.has(name)) drawn++;
				if (open.push(name) > maxOpen) throw new TooMuchMarkup('Its elements are nested too deep.');
				if (name === 'html') rootAttributes ||= attributesOf(given);
				if (!isElement(name)) return;
				const namespace = namespaces.get(name) ?? (parent === 'foreignObject' ? xhtml : undefined);
				const attributes = attributesOf(given, drawn === 0 ? undefined : spellings);
				parts.push('<', name, namespace === undefined ? '' : ` xmlns="${namespace}"`, attributes, '>');
			},
			onclosetag(name) {
				open.pop();
				if (namespaces.has(name)) drawn--;
				if (isElement(name)) parts.push('</', name, '>');
			},
			ontext: (text) => parts.push(escaped(text)),
		},
		{ recognizeSelfClosing: true, recognizeCDATA: true },
	);
	parser.end(html);
	return `<html xmlns="${xhtml}" ${prefixes}${rootAttributes}>${parts.join('')}</html>`;
}

/** The root is there already. */
const isElement = (name: string) => name !== 'html' && /^[a-z][\w-]*$/i.test(name);

function attributesOf(given: Readonly<Record<string, string>>, spelled?: ReadonlyMap<string, string>): string {
	return Object.entries(given)
		.filter(([name]) => /^(?:(?:xlink|epub|xml):)?[a-z_][\w-]*$/i.test(name) && name !== 'xmlns')
		.map(([name, value]) => ` ${spelled?.get(name) ?? name}="${escaped(value).replaceAll('"', '&quot;')}"`)
		.join('');
}

/** A text as XML, without the characters that XML can't have. */
function escaped(text: string): string {
	return text
		.replaceAll(/[^\P{Cc}\t\n\r]|\p{Cs}|[\uFFFE\uFFFF]/gu, '')
		.replaceAll('&', '&amp;')
		.replaceAll('<', '&lt;')
		.replaceAll('>', '&gt;');
}

/** The five that XML has, too (XML 1.0, section 4.6). */
const charactersOfXml = new Set(['amp', 'lt', 'gt', 'quot', 'apos']);

/**
 * XML with the numbers of the characters for which only HTML has names, such as `&nbsp;`: the document type that would name them is never
 * read. A name that HTML does not know stays, and no parser of XML takes it.
 */
export function numberCharacters(xml: string): string {
	const numbered = new Map<string, string>();
	return xml.replaceAll(/&(\w{1,32});/g, (reference, name: string) => {
		if (charactersOfXml.has(name)) return reference;
		const known = numbered.get(name);
		if (known !== undefined) return known;
		const text = textOfHtml(reference, reference.length);
		const numbers = [...text].map((character) => `&#${character.codePointAt(0)};`).join('');
		// HTML also knows the beginning of a longer word, such as `&not` of `&nothing;`.
		const isWhole = text === ';' || !text.endsWith(';');
		const written = isWhole ? numbers : reference;
		numbered.set(name, written);
		return written;
	});
}

/** The text of HTML, as far as `limit` characters, and to where its elements are nested too deep. */
export function textOfHtml(html: string, limit: number): string {
	let text = '';
	let open = 0;
	const parser = new Parser({
		onopentag() {
			if (++open > maxOpen) parser.pause();
		},
		onclosetag() {
			open--;
		},
		ontext(part) {
			text += part;
			if (text.length >= limit) parser.pause();
		},
	});
	parser.end(html);
	return text.slice(0, limit);
}
