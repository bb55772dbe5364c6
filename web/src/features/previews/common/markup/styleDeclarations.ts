import { identifierEnd, isIdentifierPart, isOneOf, plainNames, tokenEnd, unescaped } from './cssTokens.js';
import { withoutComments } from './styleCost.js';

const plainCounters = /^(?:decimal.*|lower-.*|upper-.*|none|disc|circle|square)$/;

/** How many steps the functions of filters are. */
const filterFunctions: ReadonlyMap<string, number> = new Map([
	['blur', 2],
	['drop-shadow', 2],
	...['brightness', 'contrast', 'grayscale', 'hue-rotate', 'invert', 'opacity', 'saturate', 'sepia'].map(
		(name) => [name, 1] as const,
	),
]);

export interface Declaration {
	/** The rule around it, of which another may have the same prelude; undefined for the style of one element. */
	rule: object | undefined;
	/** The selectors of the rule around it, or an at-rule; undefined for the style of one element. */
	prelude: string | undefined;
	name: string;
	value: string;
}

export interface Value {
	/** Without addresses. */
	length: number;
	strings: string[];
	/** The longest of its strings and names. */
	longest: string;
	/** Names of variables, as `plainNames` writes them. */
	variables: string[];
	attributes: string[];
	/** Steps of filters. */
	filters: number;
	counters: number;
	nestedCounters: number;
	/** Whether all its counters are digits or letters of Latin. */
	isPlain: boolean;
}

/** The declarations of a style sheet, or of the style of one element. */
export const declarationsIn = (css: string): Declaration[] => readDeclarations(css, new Map());

/** The same; adds to `frames` how many selectors and declarations all key frames of a name (`keyFrameName`) have. */
export function readDeclarations(css: string, frames: Map<string, number>): Declaration[] {
	const found: Declaration[] = [];
	/** What counts as the prelude of declarations, and the name of the key frames, for each of the rules around a place. */
	const around: { prelude: string | undefined; animation: string | undefined }[] = [];
	const addFrames = (name: string | undefined, parts: number) => {
		if (name !== undefined) frames.set(name, (frames.get(name) ?? 0) + parts);
	};
	let start = 0;
	let brackets = 0;
	/** Curly ones within others, such as those of what stands in for a variable. */
	let within = 0;
	const put = (end: number) => {
		const text = css.slice(start, end);
		const colon = text.indexOf(':');
		if (colon !== -1) {
			const written = plainNames(withoutComments(text.slice(0, colon))).trim();
			const name = written.startsWith('--') ? written : written.toLowerCase();
			const rule = around.at(-1);
			found.push({ rule, prelude: rule?.prelude, name, value: plainNames(text.slice(colon + 1)) });
			addFrames(rule?.animation, 1);
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
			const [, named] = /^@[\w-]*keyframes(.*)/is.exec(plainNames(own)) ?? [];
			const animation = outer?.animation ?? (named === undefined ? undefined : keyFrameName(named));
			addFrames(outer?.animation, own.split(',').length);
			const prelude = /^@(?:media|supports|layer)/i.test(own) ? outer?.prelude : own;
			around.push({ prelude: animation === undefined ? prelude : '*', animation });
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

/** As key frames and animations write it, which both may do in quotes. Browsers tell upper and lower case apart. */
export const keyFrameName = (written: string): string => unescaped(written.trim().replace(/^["']|["']$/g, ''));

/** Reads each character once, and twice what names a variable. Throws `RangeError` for what could stand for anything. */
export function readValue(value: string): Value {
	const read: Value = {
		length: 0,
		strings: [],
		longest: '',
		variables: [],
		attributes: [],
		filters: 0,
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
				read.filters += filterFunctions.get(name.toLowerCase()) ?? 0;
				if (/^(?:var|attr|inherit)$/i.test(name)) {
					const argument = argumentAt(value, inner);
					const isVariable = /^var$/i.test(name);
					const isUnknown = !isVariable && (argument.name === '' || argument.name.includes('\uFFFD'));
					// What is of the element around may double in each.
					const isOpen = argument.isOpen || isUnknown || /^inherit$/i.test(name);
					if (isOpen) throw new RangeError('It may stand for anything.');
					(isVariable ? read.variables : read.attributes).push(argument.name);
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

/**
 * The name that is the first argument of a function. An open one may stand for other names: a function, a name of a namespace, and an
 * attribute with a type, which may have variables in it.
 */
function argumentAt(value: string, inner: number): { name: string; isOpen: boolean } {
	const start = gapEnd(value, inner);
	const end = identifierEnd(value, start);
	const next = gapEnd(value, end);
	return { name: value.slice(start, end), isOpen: /^(?:[(|]|type\()/i.test(value.slice(next, next + 5)) };
}

/** The offset behind blanks and comments. */
function gapEnd(value: string, start: number): number {
	let at = start;
	while (at < value.length && (value.charAt(at).trim() === '' || value.startsWith('/*', at))) at = tokenEnd(value, at);
	return at;
}
