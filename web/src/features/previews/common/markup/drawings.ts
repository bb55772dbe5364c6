import { characterCosts } from './characterCosts.js';
import { plainNames, withQuotes } from './cssTokens.js';
import { hasCostlyAddresses } from './drawingPictures.js';
import { idsIn, idsOfAddress, namesAddresses, splitRules } from './drawingReferences.js';
import { laysOutTooMuch } from './layoutCost.js';
import { hasCostlyTexts } from './longTexts.js';
import { countElements, TooMuchMarkup } from './markupBounds.js';
import { sanitise } from './sanitise.js';
import { elementsOf, styleCopy, styleOf, stylesCostTooMuch } from './styleCost.js';
import { type Declaration, declarationsIn, readValue } from './styleDeclarations.js';
import { valuesCostTooMuch } from './styleValues.js';
import { variableWeights } from './styleVariables.js';

/** References may draw this many elements, and twice those that there are. */
const maxDrawn = 200_000;

/** The most comparisons of elements, by each of their classes, with the rules of style sheets and the references in these. */
const maxSearches = 50_000_000;

/** What the filters of a document may take: of each the square of its steps, times the square of how many lie within each other. */
const maxFilterWork = 5000;

/**
 * A drawing as a picture of its own: as UTF-8, whatever it was. Undefined for one that is too large or deep, or whose
 * references to its own parts, filters, styles or HTML would take too long: each of twenty lines that uses the one before it
 * twice doubles the work of the browser, which nothing can interrupt. So for one whose pictures have too many pixels.
 */
export function pictureOfDrawing(bytes: Uint8Array, parser = new DOMParser()): Uint8Array<ArrayBuffer> | undefined {
	const text = decodeXml(bytes);
	if (!isModest(text)) return undefined;
	// The browser checks styles against the page's policy as soon as they are parsed, also where they are never applied.
	const copy = sanitise(text).replaceAll(/\bstyle\b/gi, styleCopy);
	const parsed = parser.parseFromString(copy, 'image/svg+xml');
	const sheets = sheetsOf(parsed);
	const elements = [...parsed.querySelectorAll('*')];
	const styles = [...sheets, ...elements.map(styleOf)];
	const costsTooMuch =
		hidesStyles(parsed, sheets) ||
		drawsTooMuch(parsed, sheets) ||
		hasCostlyAddresses(elements, styles) ||
		laysOutTooMuch(parsed, styles) ||
		hasCostlyTexts(parsed, styles);
	return costsTooMuch ? undefined : new TextEncoder().encode(text);
}

function isModest(text: string): boolean {
	try {
		return countElements(text) > 0;
	} catch (error) {
		if (error instanceof TooMuchMarkup) return false;
		throw error;
	}
}

/** The style sheets within a document, see `withQuotes`. */
export function sheetsOf(root: ParentNode): string[] {
	return [...root.querySelectorAll('*')].filter(isStyle).map(({ textContent }) => withQuotes(textContent ?? ''));
}

/** Whether the browser alone would read a style sheet, as it lies in an address: other addresses are never fetched for a picture. */
function hidesStyles(drawing: Document, sheets: readonly string[]): boolean {
	const mayHold = (text: string) => /data:|[&\\]/i.test(text.replaceAll(/\s/g, ''));
	const instructions = [...drawing.childNodes].filter((node) => node instanceof ProcessingInstruction);
	if (instructions.some(({ data }) => mayHold(data))) return true;
	if ([...drawing.querySelectorAll('link')].some((link) => mayHold(link.getAttribute('href') ?? ''))) return true;
	return sheets.some(
		(css) => /@[\w-]*\\/.test(css) || (/@import/i.test(css) && /data:|\\/i.test(css.replaceAll(/\s/g, ''))),
	);
}

/**
 * Whether the references in a document (`use`, masks, patterns, clips, markers, filters) would have far more elements
 * drawn than it has, its filters take too long, or its styles, with those of other sheets.
 */
export function drawsTooMuch(root: ParentNode, sheets: readonly string[] = sheetsOf(root)): boolean {
	const elements = [...root.querySelectorAll('*')];
	if (elements.some(hasDrawingWithin)) return true;
	const styles = [...sheets, ...elements.map(styleOf)];
	if (styles.some(namesAddresses)) return true;
	// Of what is not inherited by itself.
	const inheritsAll =
		elements.some((element) => [...element.attributes].some(({ value }) => mayInherit(value))) ||
		sheets.some(mayInherit);
	const marksCorners =
		styles.some((css) => /marker(?:-mid)?\s*(?::|\/\*)|\\/i.test(css)) ||
		elements.some((element) => element.hasAttribute('marker-mid'));
	const corners = marksCorners
		? [...elements.map(pathOf), ...styles].reduce((most, { length }) => Math.max(most, length), 3)
		: 3;
	const filters = filtersOf(root, sheets, elements);
	if (filters === undefined) return true;
	const rules = [...sheets.flatMap(rulesOf), ...filters.rules];
	const names = elements.reduce((sum, { classList }) => sum + 1 + classList.length, 0);
	const ids = rules.reduce((sum, rule) => sum + rule.ids.length, 0);
	if (rules.length * names + ids * elements.length > maxSearches) return true;
	const byId = new Map<string, Element>();
	for (const element of elements.toReversed()) if (element.id !== '') byId.set(element.id, element);
	const known = new Map<Element, Work>();
	const open = new Set<Element>();
	const work = (element: Element): Work => {
		const before = known.get(element);
		if (before !== undefined) return before;
		// Part of a circle: what it draws depends on where one enters it.
		if (open.has(element)) throw new RangeError('A drawing contains itself.');
		open.add(element);
		const sum: Work = { drawn: drawnOf(element), filters: 0, within: 0 };
		const add = ({ drawn, filters, within }: Work) => {
			sum.drawn += drawn;
			sum.filters += filters;
			sum.within = Math.max(sum.within, within);
		};
		for (const child of element.children) add(work(child));
		const styled = rulesFor(element, rules);
		const ids = idsOf(element, styled);
		let steps = isGradient(element) ? 0 : styled.reduce((sum, rule) => sum + rule.filters, filters.own(element));
		const inherited: Element[] = [];
		for (const id of ids) {
			const target = byId.get(id);
			if (target === undefined) continue;
			if (target.localName === 'filter') steps += filters.stepsOf(target);
			if (isGradient(target)) add({ drawn: 1, filters: 0, within: 0 });
			else if (inheritsAll || isInherited(target)) inherited.push(target);
			else add(work(target));
		}
		// All that is drawn for this element may take it over, a marker at each corner.
		const { drawn: all } = sum;
		for (const target of inherited) {
			const { drawn, filters, within } = work(target);
			const times = all * (target.localName === 'marker' ? corners : 1);
			add({ drawn: drawn * times, filters: filters * times, within });
		}
		if (steps > 0) {
			sum.within++;
			sum.filters += (steps * sum.within) ** 2;
		}
		open.delete(element);
		known.set(element, sum);
		return sum;
	};
	try {
		const all = [...root.children].map(work);
		const drawn = all.reduce((sum, each) => sum + each.drawn, 0);
		if (drawn > maxDrawn + 2 * elements.length) return true;
		if (all.some(({ filters }) => filters > maxFilterWork)) return true;
		return stylesCostTooMuch(root, sheets, drawn) || valuesCostTooMuch(root, sheets, drawn);
	} catch (error) {
		// Or a chain of references that is longer than the stack.
		if (error instanceof RangeError) return true;
		throw error;
	}
}

/** As how many elements one is drawn: each time that it is used, a browser reads its path, and makes its letters and their places anew. */
export function drawnOf(element: Pick<Element, 'namespaceURI' | 'localName' | 'attributes' | 'childNodes'>): number {
	const { namespaceURI, localName, attributes, childNodes } = element;
	if (namespaceURI !== 'http://www.w3.org/2000/svg') return 1;
	const sum = (lengths: readonly number[]) => lengths.reduce((all, each) => all + each, 0);
	const values = [...attributes].filter(({ name }) => !/href$/.test(name));
	const listed = sum(values.map(({ name, value }) => Math.floor(value.length / (lists.has(name) ? 300 : 1000))));
	const texts = textElements.has(localName)
		? [...childNodes].filter(({ nodeType }) => nodeType <= 4 && nodeType >= 3)
		: [];
	const letters = texts.map(({ nodeValue }) => nodeValue ?? '');
	const length = sum(letters.map((text) => text.length));
	// None of them is read: no document has as many.
	if (length > maxLetters) return Number.MAX_SAFE_INTEGER;
	const costs = characterCosts();
	const costly = sum(letters.map((text) => costs.add(text).costly));
	return 1 + listed + Math.floor(length / 25 + costly / 5);
}

/** Letters of one element. */
const maxLetters = 2_000_000;

/** Attributes with a number for each letter or dash. */
const lists = new Set(['x', 'y', 'dx', 'dy', 'rotate', 'stroke-dasharray']);
const textElements = new Set(['text', 'tspan', 'textPath', 'a']);

/** What the browser does for an element, with all in it and all that it refers to. */
interface Work {
	/** Elements, see `drawnOf`. */
	drawn: number;
	/** See `maxFilterWork`. */
	filters: number;
	/** Filters within each other. */
	within: number;
}

/** How much more some steps of filters take than others. */
const slowSteps: ReadonlyMap<string, number> = new Map([
	['feTurbulence', 10],
	['feDiffuseLighting', 5],
	['feSpecularLighting', 5],
	['feConvolveMatrix', 10],
	['feMorphology', 5],
	['feGaussianBlur', 2],
	['feDropShadow', 2],
]);

/** The steps of a filter, each as often as others take its result. */
function filterSteps(filter: Element): number {
	const results = new Map<string, number>();
	let before = 0;
	for (const step of filter.children) {
		const nodes = step.localName === 'feMerge' ? [...step.children] : [step];
		const inputs = nodes.flatMap((each) => ['in', 'in2'].flatMap((name) => each.getAttribute(name)?.trim() ?? []));
		// Without a name it takes the result of the step before.
		const taken =
			inputs.length === 0 ? [before] : inputs.map((name) => results.get(name) ?? (isSource(name) ? 0 : before));
		before = taken.reduce((sum, each) => sum + each, slowSteps.get(step.localName) ?? 1);
		results.set(step.getAttribute('result')?.trim() ?? '', before);
	}
	return before;
}

/** What is there before the first step. Any other name that nothing has stands for the step before. */
const isSource = (name: string) => /^(?:Source|Background|Fill|Stroke)/.test(name);

interface Rule {
	/** The types, ids and classes in its selector; undefined for one that may match any element. */
	names: ReadonlySet<string> | undefined;
	ids: readonly string[];
	/** How many steps of filters it has. */
	filters: number;
}

const isStyle = ({ localName }: Element) => localName === 'style' || localName === styleCopy;

/** What fills, strokes and marks an element does so with all in it. */
const isInherited = ({ localName }: Element) => localName === 'pattern' || localName === 'marker';

const mayInherit = (css: string) => /inherit|\\/i.test(css);

/** The path of an element, which has at least one character for each corner. */
const pathOf = (element: Element) => element.getAttribute('d') ?? element.getAttribute('points') ?? '';

/** Gradients refer to gradients only, whose stops are not drawn. */
const isGradient = ({ localName }: Element) => localName === 'stop' || localName.endsWith('Gradient');

/** The rules of a style sheet that name parts of the document. */
function rulesOf(css: string): Rule[] {
	return splitRules(css).flatMap((rule) => {
		const ids = idsIn(rule);
		return ids.length === 0 ? [] : [{ names: namesIn(rule.split('{').slice(0, -1).join(' ')), ids, filters: 0 }];
	});
}

/** The types, ids and classes in selectors; undefined where they may match any element. */
function namesIn(selector: string): ReadonlySet<string> | undefined {
	const mayBeAny = selector.trim() === '' || /[^\s\w.,#>+~@-]|keyframes|\b(?:from|to)\b/i.test(selector);
	return mayBeAny ? undefined : new Set(selector.match(/[\w-]+/g));
}

function rulesFor(element: Element, rules: readonly Rule[]): readonly Rule[] {
	const isNamed = (names: ReadonlySet<string>) =>
		names.has(element.localName) || names.has(element.id) || [...element.classList].some((name) => names.has(name));
	return rules.filter(({ names }) => names === undefined || isNamed(names));
}

/** What an element refers to, by itself or by the rules for it. */
function idsOf(element: Element, rules: readonly Rule[]): string[] {
	if (isGradient(element)) return [];
	const isDrawn = element.namespaceURI === 'http://www.w3.org/2000/svg' && element.localName !== 'a';
	const own = [...element.attributes].flatMap(({ name, value }) => {
		if (name === 'id' || !/[#\\]/.test(value)) return [];
		// An animation may name several.
		const plain = isDrawn ? value.split(';') : [];
		return [...plain.flatMap(idsOfAddress), ...idsIn(value)];
	});
	return [...own, ...rules.flatMap(({ ids }) => ids)];
}

/** The filters of a document; undefined where a variable may be any. */
function filtersOf(root: ParentNode, sheets: readonly string[], elements: readonly Element[]) {
	const declared = sheets.flatMap(declarationsIn);
	const own = new Map(elements.map((element) => [element, ownDeclarations(element)]));
	const all = [...declared, ...[...own.values()].flat()];
	// The ones of an element that uses another one go on in that one.
	const depth = elementsOf(root).count;
	try {
		const variable = variableWeights(all, depth, ({ filters }) => filters);
		const written = ({ name, value }: Declaration) => {
			// Addresses of fonts have megabytes, and none of these.
			if (name.startsWith('--') || name === 'src' || !value.includes('(')) return 0;
			const { filters, variables } = readValue(value);
			return variables.reduce((sum, each) => sum + variable(each), filters);
		};
		const knownSteps = new Map<Element, number>();
		const stepsOf = (filter: Element) => {
			const steps = knownSteps.get(filter) ?? filterSteps(filter);
			knownSteps.set(filter, steps);
			return steps;
		};
		const isTakenOver = ({ name, value }: Declaration) =>
			/^(?:all|(?:-webkit-)?filter)$/.test(name) && /inherit/i.test(value);
		const largest = (counts: readonly number[]) => counts.reduce((most, count) => Math.max(most, count), 0);
		const inDocument = elements.filter(({ localName }) => localName === 'filter');
		const most = all.some(isTakenOver) ? largest([...all.map(written), ...inDocument.map(stepsOf)]) : 0;
		const steps = (declaration: Declaration) => Math.max(written(declaration), isTakenOver(declaration) ? most : 0);
		// A rule may have thousands of both.
		const knownNames = new Map<string, ReadonlySet<string> | undefined>();
		const namesOf = (prelude: string) => {
			if (!knownNames.has(prelude)) knownNames.set(prelude, namesIn(prelude));
			return knownNames.get(prelude);
		};
		const rules = declared.flatMap((each): Rule[] => {
			const filters = steps(each);
			return filters === 0 ? [] : [{ names: namesOf(each.prelude ?? ''), ids: [], filters }];
		});
		return {
			rules,
			own: (element: Element) => (own.get(element) ?? []).reduce((sum, each) => sum + steps(each), 0),
			stepsOf,
		};
	} catch (error) {
		if (error instanceof RangeError) return undefined;
		throw error;
	}
}

/** What an element declares by its style, and the filter of its attribute. */
function ownDeclarations(element: Element): Declaration[] {
	const own = declarationsIn(styleOf(element));
	const filter = element.getAttribute('filter');
	// Apart: a style may end within brackets, an address or a comment, and go on in what is behind it.
	return filter === null
		? own
		: [...own, { rule: undefined, prelude: undefined, name: 'filter', value: plainNames(withQuotes(filter)) }];
}

/** A drawing in an address would be read by the browser alone. */
function hasDrawingWithin(element: Element): boolean {
	const texts = [...element.attributes].map(({ value }) => value);
	if (isStyle(element)) texts.push(element.textContent ?? '');
	return texts.some((text) => /data:image\/svg/i.test(text));
}

/** Decodes XML by its byte order mark, its declaration or as UTF-8; without the declaration, which would name another encoding. */
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
