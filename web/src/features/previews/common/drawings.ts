import { disarm } from './disarm.js';

/** References may draw this many elements, and twice those that there are. */
const maxDrawn = 200_000;

/**
 * A drawing as a picture of its own: as UTF-8, whatever it was. Undefined for one whose references to its own parts would draw too much: each of twenty lines that uses the one before
 * it twice doubles the work of the browser, which nothing can interrupt.
 */
export function pictureOfDrawing(bytes: Uint8Array, parser = new DOMParser()): Uint8Array<ArrayBuffer> | undefined {
	const text = decodeXml(bytes);
	// The browser checks styles against the page's policy as soon as they are parsed, also where they are never applied.
	const copy = disarm(text).replaceAll(/\bstyle\b/gi, styleCopy);
	const parsed = parser.parseFromString(copy, 'image/svg+xml');
	return drawsTooMuch(parsed) ? undefined : new TextEncoder().encode(text);
}

const styleCopy = 'data-css';

/** Whether the references in a document (`use`, masks, patterns, clips, markers, filters) would have far more elements drawn than it has. */
export function drawsTooMuch(root: ParentNode): boolean {
	const elements = [...root.querySelectorAll('*')];
	const byId = new Map<string, Element>();
	for (const element of elements.toReversed()) if (element.id !== '') byId.set(element.id, element);
	if (elements.some(hasDrawingWithin)) return true;
	if (byId.size === 0) return false;
	const rules = elements.filter(isStyle).flatMap(({ textContent }) => rulesOf(textContent ?? ''));
	const known = new Map<Element, number>();
	const open = new Set<Element>();
	const drawn = (element: Element): number => {
		const before = known.get(element);
		if (before !== undefined) return before;
		// Part of a circle: what it draws depends on where one enters it.
		if (open.has(element)) throw new RangeError('A drawing contains itself.');
		open.add(element);
		let sum = 1;
		for (const child of element.children) sum += drawn(child);
		for (const id of referencesOf(element, rules)) {
			const target = byId.get(id);
			if (target !== undefined) sum += isGradient(target) ? 1 : drawn(target);
		}
		open.delete(element);
		known.set(element, sum);
		return sum;
	};
	try {
		const all = [...root.children].reduce((sum, element) => sum + drawn(element), 0);
		return all > maxDrawn + 2 * elements.length;
	} catch (error) {
		// Or a chain of references that is longer than the stack.
		if (error instanceof RangeError) return true;
		throw error;
	}
}

interface Rule {
	/** The types, ids and classes in its selector; undefined for one that may match any element. */
	names: ReadonlySet<string> | undefined;
	ids: readonly string[];
}

const isStyle = ({ localName }: Element) => localName === 'style' || localName === styleCopy;

/** Gradients refer to gradients only, whose stops are not drawn. */
const isGradient = ({ localName }: Element) => localName === 'stop' || localName.endsWith('Gradient');

/** The rules of a style sheet that name parts of the document. */
function rulesOf(css: string): Rule[] {
	return css.split('}').flatMap((rule) => {
		const ids = idsIn(rule);
		if (ids.length === 0) return [];
		const selector = rule.split('{').slice(0, -1).join(' ');
		const mayBeAny = selector === '' || /[^\s\w.,#>+~@-]/.test(selector);
		return [{ names: mayBeAny ? undefined : new Set(selector.match(/[\w-]+/g)), ids }];
	});
}

function referencesOf(element: Element, rules: readonly Rule[]): string[] {
	if (isGradient(element)) return [];
	const isDrawn = element.namespaceURI === 'http://www.w3.org/2000/svg' && element.localName !== 'a';
	const own = [...element.attributes].flatMap(({ name, value }) => {
		if (name === 'id' || !value.includes('#')) return [];
		// An animation may name several.
		const plain = isDrawn ? value.split(';').map((part) => part.trim()) : [];
		return [...plain.filter((part) => part.startsWith('#')).map((part) => decoded(part.slice(1))), ...idsIn(value)];
	});
	const isNamed = (names: ReadonlySet<string>) =>
		names.has(element.localName) || names.has(element.id) || [...element.classList].some((name) => names.has(name));
	const styled = rules.filter(({ names }) => names === undefined || isNamed(names));
	return [...own, ...styled.flatMap(({ ids }) => ids)];
}

const idsIn = (text: string) =>
	text.includes('#') ? Array.from(text.matchAll(/url\(\s*["']?#([^"')]*)/gi), ([, id = '']) => decoded(id.trim())) : [];

function decoded(id: string): string {
	try {
		return decodeURIComponent(id);
	} catch {
		return id;
	}
}

/** A drawing in an address would be read by the browser alone. */
function hasDrawingWithin(element: Element): boolean {
	const texts = [...element.attributes].map(({ value }) => value);
	if (isStyle(element)) texts.push(element.textContent ?? '');
	return texts.some((text) => /data:image\/svg/i.test(text));
}

/** By its byte order mark, its declaration or as UTF-8; without the declaration, which would name another encoding. */
function decodeXml(bytes: Uint8Array): string {
	const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
	const head = String.fromCharCode(...bytes.subarray(0, 200));
	const [, declared = 'utf-8'] = /^(?:\xEF\xBB\xBF)?<\?xml[^>]{1,60}encoding=["']([\w.-]+)["']/i.exec(head) ?? [];
	const text = decoderOf(isWide ? (bytes[0] === 0xff ? 'utf-16le' : 'utf-16be') : declared).decode(bytes);
	const end = text.startsWith('<?xml') ? text.indexOf('?>') : -1;
	return end === -1 ? text : text.slice(end + 2).trimStart();
}

function decoderOf(encoding: string): TextDecoder {
	try {
		return new TextDecoder(encoding);
	} catch {
		return new TextDecoder();
	}
}
