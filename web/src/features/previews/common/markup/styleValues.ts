import { characterCosts } from './characterCosts.js';
import { identifierEnd, isIdentifierPart, isOneOf, plainNames, tokenEnd, unescaped } from './cssTokens.js';
import { maxInParagraph } from './longTexts.js';
import { candidatesIn, type Elements, elementsOf, isNestedTooDeep, styleOf, withoutComments } from './styleCost.js';

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
/** Digits of a number that a style counts, and how often a counter of its own may repeat a symbol, or what fills it up. */
const digits = 10;
const repeatedSymbols = 20;
const repeatedFilling = 60;

/** Attributes whose values styles write, each of which is looked for at all elements. */
const maxAttributes = 200;

/** Long values that all elements within take over. */
const inherited = /^(?:stroke-dasharray|text-shadow|cursor|font.*|-webkit-text.*)$/;

const plainCounters = /^(?:decimal.*|lower-.*|upper-.*|none|disc|circle|square)$/;

interface Declaration {
	/** The selectors of the rule around it, or an at-rule; undefined for the style of one element. */
	prelude: string | undefined;
	name: string;
	value: string;
}

interface Value {
	/** Without addresses. */
	length: number;
	strings: string[];
	/** The longest of its strings and names. */
	longest: string;
	/** Names of variables; undefined for one whose name is written in another way. */
	variables: (string | undefined)[];
	attributes: string[];
	counters: number;
	nestedCounters: number;
	/** Whether all its counters are digits or letters of Latin. */
	isPlain: boolean;
}

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
		return dashes === null ? declared : [...declared, { prelude: undefined, name: 'stroke-dasharray', value: dashes }];
	});
	const declarations = [...sheets.flatMap(declarationsIn), ...own];
	if (declarations.length === 0) return false;
	try {
		return isTooMuch(declarations, all, elementsOf(root), drawn);
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
): boolean {
	const times = Math.max(1, drawn / Math.max(1, elements.count));
	const lengthOf = variableLengths(declarations);
	const valuesOf = attributeTexts(all);
	const written = { characters: 0, costly: 0, uncommon: 0, piled: 0 };
	let long = 0;
	const write = (text: string, count: number) => {
		if (written.characters > maxWritten) return;
		const added = characterCosts().add(text);
		written.characters += text.length * count;
		written.costly += Math.max(added.costly, added.uncommon > 0 ? 1 : 0) * count;
		written.uncommon += added.uncommon * count;
		written.piled += added.piled * count;
	};
	const number = (name: string) => elements.byName.get(name) ?? 0;
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
	const isFixed = declarations.some(({ name, value }) => name === 'system' && /^\s*(?:cyclic|fixed)/.test(value));
	for (const { prelude, name, value } of declarations) {
		const read = readValue(value);
		const variables = read.variables.reduce((sum, each) => sum + lengthOf(each), 0);
		if (prelude !== undefined && /^@counter-style/i.test(prelude)) {
			const symbols = name.endsWith('symbols') && !isFixed ? repeatedSymbols : 1;
			write(read.longest, counted * (name === 'pad' ? repeatedFilling : symbols) * times);
			continue;
		}
		if (prelude?.startsWith('@')) continue;
		if (name.startsWith('--')) {
			// Of others all elements have the same.
			const isMade = read.variables.length + read.attributes.length > 0;
			if (isMade) long += Math.max(0, read.length + variables - maxShort) * times * candidatesOf(prelude);
			if (long > maxLong) return true;
			continue;
		}
		if (name === 'hyphenate-character' && read.length + variables > maxHyphen) return true;
		const candidates = times * (candidatesOf(prelude) + inheriting(name));
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

/** The characters that a variable stands for at most, with those of the variables in it. */
function variableLengths(declarations: readonly Declaration[]): (name: string | undefined) => number {
	const values = new Map<string, Value[]>();
	/** What at-rules name, each of which is searched once: it may be as long as the style sheet, and have any number of declarations. */
	const named = new Map<string, string | undefined>();
	const propertyIn = (prelude: string) => {
		if (!named.has(prelude)) named.set(prelude, prelude.match(/--[^\s{]+/)?.[0]);
		return named.get(prelude);
	};
	for (const { prelude, name, value } of declarations) {
		const property = name === 'initial-value' && prelude !== undefined ? propertyIn(prelude) : undefined;
		const variable = property ?? (name.startsWith('--') ? name : undefined);
		if (variable === undefined) continue;
		const all = values.get(variable) ?? [];
		all.push(readValue(value));
		values.set(variable, all);
	}
	const known = new Map<string, number>();
	let longest: number | undefined;
	const lengthOf = (name: string | undefined): number => {
		if (name === undefined) {
			longest ??= [...values.keys()].reduce((most, each) => Math.max(most, lengthOf(each)), 0);
			return longest;
		}
		const before = known.get(name);
		if (before !== undefined) return before;
		// One that is made of itself stands for nothing.
		known.set(name, 0);
		const lengths = (values.get(name) ?? []).map(({ length, variables, attributes }) => {
			const within = variables.reduce((sum, each) => sum + (each === undefined ? 0 : lengthOf(each)), 0);
			return length + within + (attributes.length > 0 ? maxWritten : 0);
		});
		const length = lengths.reduce((most, each) => Math.max(most, each), 0);
		known.set(name, length);
		return length;
	};
	return lengthOf;
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

/** The declarations of a style sheet, or of the style of one element. */
function declarationsIn(css: string): Declaration[] {
	const found: Declaration[] = [];
	/** What counts as the prelude of declarations, for each of the rules around a place. */
	const around: { prelude: string | undefined; isFrame: boolean }[] = [];
	let start = 0;
	let brackets = 0;
	/** Curly ones within others, such as those of what stands in for a variable. */
	let within = 0;
	const put = (end: number) => {
		const text = css.slice(start, end);
		const colon = text.indexOf(':');
		if (colon !== -1) {
			const written = unescaped(withoutComments(text.slice(0, colon))).trim();
			const name = written.startsWith('--') ? written : written.toLowerCase();
			found.push({ prelude: around.at(-1)?.prelude, name, value: plainNames(text.slice(colon + 1)) });
		}
		start = end + 1;
	};
	for (let at = 0; at < css.length; at = tokenEnd(css, at)) {
		const character = css.charAt(at);
		if (isOneOf(character, '([')) brackets++;
		else if (isOneOf(character, ')]')) brackets = Math.max(0, brackets - 1);
		else if (character === ';' && brackets === 0) put(at);
		else if (character === '{' && brackets > 0) within++;
		else if (character === '}' && within > 0) within--;
		else if (character === '{') {
			const own = withoutComments(css.slice(start, at)).trim();
			const outer = around.at(-1);
			const isFrame = outer?.isFrame === true || /^@[\w-]*keyframes/i.test(own);
			const prelude = /^@(?:media|supports|layer)/i.test(own) ? outer?.prelude : own;
			around.push({ prelude: isFrame ? '*' : prelude, isFrame });
			start = at + 1;
			brackets = 0;
		} else if (character === '}') {
			put(at);
			around.pop();
			brackets = 0;
		}
	}
	put(css.length);
	return found;
}

/** Reads each character once. */
function readValue(value: string): Value {
	const read: Value = {
		length: 0,
		strings: [],
		longest: '',
		variables: [],
		attributes: [],
		counters: 0,
		nestedCounters: 0,
		isPlain: true,
	};
	const add = (text: string) => {
		read.length += text.length;
		if (text.length > read.longest.length) read.longest = text;
	};
	for (let at = 0; at < value.length; ) {
		const character = value.charAt(at);
		const isName = isIdentifierPart(value.charCodeAt(at));
		const end = isName ? identifierEnd(value, at) : tokenEnd(value, at);
		if (isOneOf(character, '"\'')) {
			const text = unescaped(value.slice(at + 1, end - 1));
			read.strings.push(text);
			add(text);
			read.length += 2;
		} else if (!isName) read.length += character.trim() === '' ? 1 : end - at;
		else {
			const name = value.slice(at, end);
			add(name);
			if (value[end] === '(') {
				const inner = end + 1;
				if (/^(?:url|src)$/i.test(name)) {
					at = addressEnd(value, inner);
					continue;
				}
				const [, argument] = /^\s{0,9}([\w-]{1,200})\s{0,9}[,) ]/.exec(value.slice(inner, inner + 250)) ?? [];
				if (/^var$/i.test(name)) read.variables.push(argument);
				else if (/^attr$/i.test(name)) {
					if (argument === undefined) throw new RangeError('It names an attribute in a way of its own.');
					read.attributes.push(argument);
				}
				if (/^counters?$/i.test(name)) {
					const [, style] = /,\s{0,9}([\w-]{1,200})\s{0,9}\)/.exec(value.slice(inner, inner + 400)) ?? [];
					if (style !== undefined && !plainCounters.test(style)) read.isPlain = false;
					if (name.length > 7) read.nestedCounters++;
					else read.counters++;
				}
			}
		}
		at = end;
	}
	return read;
}

/** The offset behind the bracket that ends an address. */
function addressEnd(value: string, start: number): number {
	let at = start;
	while (at < value.length && value.charAt(at) !== ')') at = tokenEnd(value, at);
	return at + 1;
}
