import { identifierEnd, isIdentifierPart, isOneOf, tokenEnd, withQuotes } from './cssTokens.js';

/** The steps that finding the rules for all elements may take: a few seconds of the browser. */
const maxSteps = 50_000_000;

/**
 * Selectors and declarations of all style sheets of a chapter, document or drawing. A browser reads 100,000 of either in a second, and a
 * megabyte of a style sheet may have that many, of which a ZIP makes a kilobyte. Books and programs write some thousands.
 */
const maxParts = 200_000;

/** Brackets of a style sheet within each other; the browser's parser ends with its tab at some thousands. */
const maxDepth = 64;

/** At-rules that do nothing with functions, scopes or containers of their own, which multiply. */
const plainAtRules = new Set([
	...[
		'media',
		'font-face',
		'page',
		'namespace',
		'charset',
		'import',
		'keyframes',
		'-webkit-keyframes',
		'-moz-keyframes',
	],
	...['-o-keyframes', 'supports', 'layer', 'counter-style', 'font-feature-values', 'font-palette-values', 'viewport'],
	...['-ms-viewport', 'property', 'color-profile', '-moz-document'],
]);

/** Admits style sheets of a chapter, document or drawing until a browser would read them for long, whether or not they match anything. */
export class StyleBudget {
	#left = maxParts;

	admits(css: string): boolean {
		let parts = 0;
		for (let at = 0; at < css.length && parts <= this.#left; at++) if (isOneOf(css.charAt(at), '{;,')) parts++;
		const isAdmitted = parts <= this.#left;
		if (isAdmitted) this.#left -= parts;
		return isAdmitted;
	}
}

/** How far a selector may look from an element, and how many elements its last part may match. */
export interface Elements {
	count: number;
	/** Elements within each other, and beside each other. */
	depth: number;
	siblings: number;
	/** The numbers of elements by `type`, `.class` and `#id` in lower case. */
	byName: ReadonlyMap<string, number>;
}

/**
 * Whether the browser would need too long for the rules of style sheets in a document of which it draws so many
 * elements. A selector within another one is tried anew for each ancestor or sibling that the outer one looks at: 24
 * of them in 500 bytes, of `:is()` or of nested rules, never end. Reads each character of the sheets a few times.
 */
export function stylesCostTooMuch(root: ParentNode, given: readonly string[], drawn = 0): boolean {
	const sheets = given.map(withQuotes);
	if (sheets.every((css) => css.trim() === '')) return false;
	const budget = new StyleBudget();
	if (sheets.some((css) => !budget.admits(css) || isNestedTooDeep(css))) return true;
	const elements = elementsOf(root);
	const times = Math.max(1, drawn / Math.max(1, elements.count));
	const steps = sheets.reduce((sum, css) => sum + stepsOf(css, elements), 0);
	return steps * times > maxSteps;
}

/** Whether brackets are nested too deep; asked before any parser of CSS gets the text. */
export function isNestedTooDeep(given: string): boolean {
	const css = withQuotes(given);
	let depth = 0;
	for (let at = 0; at < css.length; at = tokenEnd(css, at)) {
		const character = css.charAt(at);
		if (isOneOf(character, '([{')) depth++;
		else if (isOneOf(character, ')]}')) depth = Math.max(0, depth - 1);
		if (depth > maxDepth) return true;
	}
	return false;
}

export const elementsOf = (root: ParentNode): Elements => elementsAmong(root.querySelectorAll('*'));

/** Those in the order of their document. */
export function elementsAmong(all: Iterable<Element>): Elements {
	const byName = new Map<string, number>();
	const add = (name: string) => byName.set(name.toLowerCase(), (byName.get(name.toLowerCase()) ?? 0) + 1);
	const depths = new Map<Element, number>();
	const found = { count: 0, depth: 1, siblings: 1 };
	for (const element of all) {
		const own = 1 + (element.parentElement === null ? 0 : (depths.get(element.parentElement) ?? 0));
		depths.set(element, own);
		found.count++;
		found.depth = Math.max(found.depth, own);
		found.siblings = Math.max(found.siblings, element.childElementCount);
		add(element.localName);
		for (const name of element.classList) add(`.${name}`);
		if (element.id !== '') add(`#${element.id}`);
	}
	return { ...found, byName };
}

/** The steps for all rules of a style sheet; infinite for one with an at-rule that is not known to be plain. */
function stepsOf(css: string, elements: Elements): number {
	/** The steps to match `&` with one element, for each of the rules around a place. */
	const around: number[] = [];
	let steps = 0;
	let brackets = 0;
	let start = 0;
	for (let at = 0; at < css.length; at = tokenEnd(css, at)) {
		const character = css.charAt(at);
		if (isOneOf(character, '([')) brackets++;
		else if (isOneOf(character, ')]')) brackets = Math.max(0, brackets - 1);
		else if (character === ';' && brackets === 0) start = at + 1;
		else if (character === '}') {
			around.pop();
			brackets = 0;
			start = at + 1;
		} else if (character === '{') {
			const prelude = withoutComments(css.slice(start, at)).trim();
			const parent = around.at(-1);
			if (prelude.startsWith('@')) {
				if (!plainAtRules.has(atRuleOf(prelude))) return Number.POSITIVE_INFINITY;
				around.push(parent ?? 0);
			} else {
				const parts = readSelectors(prelude, elements, parent ?? 0);
				steps += parts.reduce((sum, part) => sum + part.candidates * part.steps, 0);
				around.push(parts.reduce((sum, part) => sum + part.steps, 0));
			}
			if (steps > maxSteps) return steps;
			brackets = 0;
			start = at + 1;
		}
	}
	return steps;
}

/** The name that the attribute `style` has in a copy of a drawing: the browser checks styles as soon as they are parsed. */
export const styleCopy = 'data-css';

/** The declarations of an element's own, see `withQuotes`. */
export const styleOf = (element: Element) =>
	withQuotes(element.getAttribute('style') ?? element.getAttribute(styleCopy) ?? '');

/** How many elements a rule with these selectors may match, each as often as there are selectors for it. */
export const candidatesIn = (selectors: string, elements: Elements) =>
	readSelectors(withoutComments(selectors), elements, 0).reduce((sum, { candidates }) => sum + candidates, 0);

interface Selector {
	/** How many elements its last part may match. */
	candidates: number;
	/** The steps to try it on one element. */
	steps: number;
}

/** The selectors of a list; `nesting` is what a try of `&` costs, 0 outside of nested rules. */
function readSelectors(text: string, elements: Elements, nesting: number): Selector[] {
	const selectors: Selector[] = [];
	let tests = leastTests;
	let namesParent = false;
	let isDescendant = false;
	let isSibling = false;
	let isSpace = false;
	let last = '';
	/** What is behind its last colon or bracket. Looked for in the whole, the name before each of many brackets would take their square. */
	let name = '';
	const put = () => {
		if (nesting > 0 && !namesParent) {
			tests += nesting;
			isDescendant = true;
		}
		const reach = (isDescendant ? elements.depth : 1) * (isSibling ? elements.siblings : 1);
		selectors.push({ candidates: candidatesOf(last, elements), steps: tests * reach });
		[tests, namesParent, isDescendant, isSibling, isSpace, last, name] = [
			leastTests,
			false,
			false,
			false,
			false,
			'',
			'',
		];
	};
	for (let at = 0; at < text.length; at = tokenEnd(text, at)) {
		const character = text.charAt(at);
		if (character === ',') put();
		else if (character.trim() === '') isSpace = last !== '';
		else if (isOneOf(character, '>+~')) {
			isSibling ||= character === '~';
			[isSpace, last, name] = [false, '', ''];
			tests++;
		} else {
			if (isSpace) {
				[isSpace, isDescendant, last, name] = [false, true, '', ''];
				tests++;
			}
			if (character === '(') {
				const close = closingOf(text, at);
				const inner = text.slice(at + 1, close);
				const sum = readSelectors(inner, elements, nesting).reduce((all, { steps }) => all + steps, 0);
				tests += sum * reachOf(name.toLowerCase(), inner, elements);
				namesParent ||= inner.includes('&');
				name = '';
				at = close;
			} else if (character === '[') {
				at = closingOf(text, at);
				last += '[';
				name = '';
			} else {
				if (character === '&') {
					tests += nesting;
					namesParent = true;
				} else if (character === ':') tests++;
				const end = isIdentifierPart(text.charCodeAt(at)) ? identifierEnd(text, at) : tokenEnd(text, at);
				const token = text.slice(at, end);
				last += token;
				name = character === ':' ? token : name + token;
				at = end - 1;
			}
		}
	}
	put();
	return selectors;
}

/** Applying a rule takes longer than a test. */
const leastTests = 2;

/** On how many elements a functional pseudo-class tries its selectors. One with escapes in its name may be any. */
function reachOf(name: string, inner: string, { depth, siblings }: Elements): number {
	const mayBeAny = name.includes('\\');
	if (mayBeAny || (name.startsWith(':nth-') && /of/i.test(inner))) return depth * siblings;
	return name === ':has' ? depth : 1;
}

/** A part of a selector without what stands in brackets. */
function candidatesOf(part: string, { count, byName }: Elements): number {
	// Escapes and namespaces are not read.
	if (/[\\|&]/.test(part)) return count;
	const [plain = ''] = part.split(':');
	const name = /[#.][^#.[]+/.exec(plain)?.[0] ?? plain.split('[')[0] ?? '';
	return name === '' || name === '*' ? count : (byName.get(name.toLowerCase()) ?? 0);
}

/** The offset of the bracket that closes the one at `at`. */
function closingOf(text: string, at: number): number {
	let depth = 0;
	for (let next = at; next < text.length; next = tokenEnd(text, next)) {
		if (isOneOf(text.charAt(next), '([{')) depth++;
		else if (isOneOf(text.charAt(next), ')]}')) depth--;
		if (depth === 0) return next;
	}
	return text.length;
}

export function withoutComments(text: string): string {
	if (!text.includes('/*')) return text;
	let result = '';
	for (let at = 0; at < text.length; ) {
		const end = tokenEnd(text, at);
		result += text.startsWith('/*', at) ? ' ' : text.slice(at, end);
		at = end;
	}
	return result;
}

/** The name of an at-rule in lower case; '' for one that is written with escapes. */
function atRuleOf(prelude: string): string {
	const [whole = '', name = ''] = /^@([\w-]*)/.exec(prelude) ?? [];
	return prelude[whole.length] === '\\' ? '' : name.toLowerCase();
}
