import { characterCosts } from './characterCosts.js';
import { maxInParagraph } from './longTexts.js';
import { candidatesIn, type Elements, elementsOf, isNestedTooDeep, styleOf } from './styleCost.js';
import { type Declaration, declarationsIn, keyFrameName, readDeclarations, readValue } from './styleDeclarations.js';
import { registeredBy, variableWeights } from './styleVariables.js';

/** Characters of all texts that styles write for elements: half a novel. */
const maxWritten = 1_000_000;
/** Of these the ones that the font around them may lack, and the ones that take no place, as if all were in one paragraph. */
const maxUncommon = 50_000;
const maxPiled = 5_000;
/** What a text of its own at each end of a line may have. */
const maxHyphen = 10;
/** Characters of a value that no browser takes time for. A list of fonts or three gradients have some hundred. */
const maxShort = 300;
/** Characters of longer values, such as lists of gradients, each as often as there are elements for it. */
const maxLong = 20_000_000;
/** Parts of key frames times the elements that are animated by them, each of which keeps its own. */
const maxFrames = 2_000_000;
/** Digits of a number that a style counts, and how often a counter of its own may repeat a symbol, or what fills it up. */
const digits = 10;
const repeatedSymbols = 20;
const repeatedFilling = 60;

/** Attributes whose values styles write, each of which is looked for at all elements. */
const maxAttributes = 200;

/** Long values that all elements within take over. */
const inherited = /^(?:stroke-dasharray|text-shadow|cursor|font.*|-webkit-text.*)$/;

/**
 * Whether styles write too much: a text, such as a `content`, is made for each element that has it, and so are the parts of a list, such as
 * gradients. Of 100 kB in one declaration a thousand elements make gigabytes.
 */
export function valuesCostTooMuch(root: ParentNode, sheets: readonly string[], drawn = 0): boolean {
	const all = [...root.querySelectorAll('*')];
	// Of style sheets `stylesCostTooMuch` has found that out.
	if (all.some((element) => isNestedTooDeep(styleOf(element)))) return true;
	const own = all.flatMap((element) => {
		const dashes = element.getAttribute('stroke-dasharray');
		const declared = declarationsIn(styleOf(element));
		const attribute = { rule: undefined, prelude: undefined, name: 'stroke-dasharray', value: dashes ?? '' };
		return dashes === null ? declared : [...declared, attribute];
	});
	const frames = new Map<string, number>();
	const declarations = [...sheets.flatMap((css) => readDeclarations(css, frames)), ...own];
	if (declarations.length === 0) return false;
	try {
		return isTooMuch(declarations, all, elementsOf(root), drawn, framePartsOf(frames));
	} catch (error) {
		// Variables of variables that are longer than the stack.
		if (error instanceof RangeError) return true;
		throw error;
	}
}

function isTooMuch(
	declarations: readonly Declaration[],
	all: readonly Element[],
	elements: Elements,
	drawn: number,
	framesOf: (animation: string, variables: number) => number,
): boolean {
	const times = Math.max(1, drawn / Math.max(1, elements.count));
	const number = (name: string) => elements.byName.get(name) ?? 0;
	const depth = elements.depth * (1 + number('use'));
	const lengthOf = variableWeights(
		declarations,
		depth,
		({ length, attributes }) => length + (attributes.length > 0 ? maxWritten : 0),
	);
	const valuesOf = attributeTexts(all);
	const written = { characters: 0, costly: 0, uncommon: 0, piled: 0 };
	let long = 0;
	let animated = 0;
	let longest = 0;
	/** Elements that are drawn again, all of which may be the one with most key frames. */
	const again = Math.max(number('use'), drawn - elements.count);
	const write = (text: string, count: number) => {
		if (written.characters > maxWritten) return;
		const added = characterCosts().add(text);
		written.characters += text.length * count;
		written.costly += Math.max(added.costly, added.uncommon > 0 ? 1 : 0) * count;
		written.uncommon += added.uncommon * count;
		written.piled += added.piled * count;
	};
	const known = new Map<string, number>();
	const candidatesOf = (prelude: string | undefined) => {
		if (prelude === undefined || prelude === ':root') return 1;
		const candidates = known.get(prelude) ?? candidatesIn(prelude, elements);
		known.set(prelude, candidates);
		return candidates;
	};
	const inVariables = declarations.filter(({ name }) => name.startsWith('--')).map(({ value }) => value);
	const usesOf = (part: string) => {
		const isVariable = inVariables.some((value) => value.includes(part));
		const isUse = (value: string) => value.includes(part) || (isVariable && /var\(/i.test(value));
		return declarations.reduce(
			(sum, { prelude, name, value }) => sum + (name === 'content' && isUse(value) ? candidatesOf(prelude) : 0),
			0,
		);
	};
	const inheriting = inheritingOf(declarations, candidatesOf);
	const mayBeItems = declarations.some(({ name, value }) => name === 'display' && /list-item|var\(/i.test(value));
	const items = number('li') + number('summary') + (mayBeItems ? elements.count : 0);
	const quotes = number('q') + usesOf('-quote');
	const counted = items + usesOf('counter');
	const repeats = repeatingStyles(declarations);
	const registered = new Set([...new Set(declarations.map(({ prelude }) => prelude))].flatMap(registeredBy));
	for (const { rule, prelude, name, value } of declarations) {
		const read = readValue(value);
		const variables = read.variables.reduce((sum, each) => sum + lengthOf(each), 0);
		if (prelude !== undefined && /^@counter-style/i.test(prelude)) {
			const symbols = name.endsWith('symbols') && repeats(rule) ? repeatedSymbols : 1;
			write(read.longest, counted * (name === 'pad' ? repeatedFilling : symbols) * times);
			continue;
		}
		if (prelude?.startsWith('@')) continue;
		if (name.startsWith('--')) {
			// Of others all elements have the same. One that is registered is computed, such as lengths by the font of each.
			const isMade = read.variables.length + read.attributes.length > 0 || registered.has(name);
			if (isMade) long += Math.max(0, read.length + variables - maxShort) * times * candidatesOf(prelude);
			if (long > maxLong) return true;
			continue;
		}
		if (name === 'hyphenate-character' && read.length + variables > maxHyphen) return true;
		const own = candidatesOf(prelude) + inheriting(name);
		const candidates = times * own;
		if (/^(?:-\w+-)?animation(?:-name)?$/.test(name)) {
			const frames = framesOf(value, variables);
			animated += own * frames;
			longest = Math.max(longest, frames);
			if (animated + longest * again > maxFrames) return true;
		}
		const uses = name === 'content' ? candidates : name === 'quotes' ? quotes * times : items * times;
		if (name === 'content' || name === 'quotes' || name.startsWith('list-style')) {
			write(read.strings.join(''), uses * (read.nestedCounters > 0 ? elements.depth : 1));
			const numbers = digits * (read.counters + read.nestedCounters * elements.depth);
			written.characters += (numbers + variables) * uses;
			written.costly += ((read.isPlain ? 0 : numbers) + variables) * uses;
			for (const attribute of read.attributes) write(valuesOf(attribute), times);
			// Its parts have boxes of their own, also where they are empty.
			long += Math.max(0, read.length + variables - maxShort) * uses;
		} else {
			for (const attribute of read.attributes) long += valuesOf(attribute).length;
			const excess = Math.max(0, read.length + variables - maxShort);
			long += excess * (inherited.test(name) ? elements.count * times : candidates);
		}
		const isCostly = written.costly > maxInParagraph || written.uncommon > maxUncommon || written.piled > maxPiled;
		if (isCostly || written.characters > maxWritten || long > maxLong) return true;
	}
	return written.characters > maxWritten || written.costly > maxInParagraph;
}

/**
 * How many parts the key frames have that an animation names: all there are for each of its words, and for each character of its variables,
 * where a variable or another function may name them.
 */
function framePartsOf(frames: ReadonlyMap<string, number>): (animation: string, variables: number) => number {
	const all = [...frames.values()].reduce((sum, parts) => sum + parts, 0);
	return (animation, variables) => {
		if (all === 0) return 0;
		const plain = animation.replaceAll(timing, '$1 ');
		const words = plain.match(/"[^"]*"|'[^']*'|[^\s,!"']+/g) ?? [];
		if (plain.includes('(') || plain.includes('\uFFFD')) return all * (words.length + variables);
		return words.reduce((sum, word) => sum + (frames.get(keyFrameName(word)) ?? 0), 0);
	};
}

/** Functions that say how an animation goes on in time. */
const timing = /(^|[^\w-])(?:cubic-bezier|steps|linear|scroll|view)\([^()]*\)/gi;

/**
 * Whether a style of counters repeats its symbols: each does but those that are cyclic or have a fixed number of them. Each rule has a system
 * of its own, also beside others of the same name: one without any, or with one that is invalid, repeats them.
 */
function repeatingStyles(declarations: readonly Declaration[]): (rule: object | undefined) => boolean {
	const known = new Map<object | undefined, boolean>();
	for (const { rule, prelude, name, value } of declarations) {
		if (name !== 'system' || prelude === undefined) continue;
		const isOnce = /^(?:cyclic|fixed(?:\s+[+-]?\d+)?)$/i.test(value.trim());
		known.set(rule, known.get(rule) === true || !isOnce);
	}
	return (rule) => known.get(rule) !== false;
}

/** How many elements take a value over from the one around them: that of a name, of the name that has it as a part, or of its parts. */
function inheritingOf(
	declarations: readonly Declaration[],
	candidatesOf: (prelude: string | undefined) => number,
): (name: string) => number {
	const whole = new Map<string, number>();
	const parts = new Map<string, number>();
	const add = (to: Map<string, number>, name: string, count: number) => to.set(name, (to.get(name) ?? 0) + count);
	for (const { prelude, name, value } of declarations) {
		if (name.startsWith('--') || prelude?.startsWith('@') || !/inherit/i.test(value)) continue;
		const count = candidatesOf(prelude);
		const names = namesAround(name);
		add(whole, names.at(-1) ?? '', count);
		for (const each of names.slice(0, -1)) add(parts, each, count);
	}
	const all = whole.get('all') ?? 0;
	return (name) => {
		const names = namesAround(name);
		return names.reduce((sum, each) => sum + (whole.get(each) ?? 0), all + (parts.get(names.at(-1) ?? '') ?? 0));
	};
}

/** `background`, `background-position` and `background-position-x` for the last one. No name of a property is as long as 100 letters. */
function namesAround(name: string): string[] {
	const plain = name.slice(0, 100).replace(/^-\w+-/, '');
	return [...plain.matchAll(/-|$/g)].map(({ index }) => plain.slice(0, index));
}

/** All values of an attribute. */
function attributeTexts(elements: readonly Element[]): (name: string) => string {
	const known = new Map<string, string>();
	return (name) => {
		if (known.size > maxAttributes) throw new RangeError('It names too many attributes.');
		const text =
			known.get(name) ??
			elements.map((element) => element.getAttribute(name) ?? element.getAttribute(name.toLowerCase()) ?? '').join('');
		known.set(name, text);
		return text;
	};
}
