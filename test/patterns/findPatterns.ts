import { lineReader, type Node, parse, visit } from '../syntax.js';

export interface FoundPattern {
	line: number;
	source: string;
	flags: string;
}

/** A place where a pattern is made of a text that is known only when the program runs. */
export interface Refusal {
	line: number;
	reason: string;
}

/** Stands for a text that was escaped: one character that means itself. */
const escapedText = 'x';

/** Every pattern in a source: literals, `RegExp('...')`, and texts that `match`, `matchAll` and `search` take for a pattern. */
export function findPatterns(file: string, text: string): { patterns: FoundPattern[]; refusals: Refusal[] } {
	const program = parse(file, text);
	const patterns: FoundPattern[] = [];
	const refusals: Refusal[] = [];
	const lineOf = lineReader(text);
	const constants = constantsOf(program);

	const add = (at: Node, argument: Node | undefined, flags: string | undefined) => {
		// A literal is found by itself.
		if (argument === undefined || isPatternLiteral(argument)) return;
		const source = constantText(argument, constants);
		if (source === undefined || flags === undefined) refuse(at, 'is made of a text that is not constant');
		else patterns.push({ line: lineOf(at.start), source, flags });
	};
	const refuse = (at: Node, reason: string) => refusals.push({ line: lineOf(at.start), reason });

	visit(program, (node, parent) => {
		if (isPatternLiteral(node)) {
			const { pattern, flags } = node.regex as { pattern: string; flags: string };
			patterns.push({ line: lineOf(node.start), source: pattern, flags });
		} else if (isNamed(node, 'RegExp')) {
			if (parent === undefined || !isHarmlessUse(node, parent)) refuse(node, 'is made through another name of RegExp');
			else if (isCall(parent)) {
				const [source, flags] = parent.arguments as Node[];
				add(parent, source, flags === undefined ? '' : constantText(flags, constants));
			}
		} else if (node.type === 'CallExpression') {
			const [argument, ...more] = node.arguments as Node[];
			const method = calledMethod(node);
			const isText =
				argument?.type === 'TemplateLiteral' || argument?.type === 'BinaryExpression' || isString(argument);
			if (['match', 'matchAll', 'search'].includes(method ?? '') && isText && more.length === 0)
				add(node, argument, '');
		}
	});
	return { patterns, refusals };
}

/** It is called, asked for its type, or the namespace of `escape`. */
function isHarmlessUse(node: Node, parent: Node): boolean {
	if (isCall(parent)) return parent.callee === node;
	if (parent.type === 'BinaryExpression') return parent.operator === 'instanceof' && parent.right === node;
	// As a property of something else it is that one's.
	if (parent.type === 'MemberExpression') return parent.object === node && isNamed(parent.property, 'escape');
	return parent.type.startsWith('TS');
}

/** The initial values of a module's own constants, by their names. */
type Constants = ReadonlyMap<string, Node>;

function constantsOf(program: Node): Constants {
	const declarations = (program.body as Node[]).filter(
		({ type, kind }) => type === 'VariableDeclaration' && kind === 'const',
	);
	const declarators = declarations.flatMap(({ declarations }) => declarations as { id: Node; init: Node | null }[]);
	return new Map(
		declarators.flatMap(({ id, init }) =>
			id.type === 'Identifier' && init !== null ? [[id.name as string, init]] : [],
		),
	);
}

/** The text of a constant expression, in which what was escaped is a character; undefined for any other one. */
function constantText(node: Node, constants: Constants): string | undefined {
	if (isString(node)) return node.value as string;
	if (node.type === 'Identifier') {
		const value = constants.get(node.name as string);
		return value === undefined ? undefined : constantText(value, new Map());
	}
	if (isCall(node) && calledMethod(node) === 'escape' && isNamed((node.callee as Node).object, 'RegExp')) {
		return escapedText;
	}
	if (node.type === 'BinaryExpression' && node.operator === '+') {
		return joined([node.left, node.right].map((each) => constantText(each as Node, constants)));
	}
	if (node.type === 'TemplateLiteral') {
		const between = (node.expressions as Node[]).map((each) => constantText(each, constants));
		const fixed = (node.quasis as { value: { cooked: string | null } }[]).map(({ value }) => value.cooked ?? undefined);
		return joined(fixed.flatMap((part, index) => (index < between.length ? [part, between[index]] : [part])));
	}
	// String.raw`...`
	const quasi = node.quasi as { expressions: Node[]; quasis: { value: { raw: string } }[] } | undefined;
	return node.type === 'TaggedTemplateExpression' && quasi?.expressions.length === 0
		? quasi.quasis[0]?.value.raw
		: undefined;
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
	return parts.includes(undefined) ? undefined : parts.join('');
}

const isPatternLiteral = (node: Node) =>
	node.type === 'Literal' && typeof node.regex === 'object' && node.regex !== null;
const isString = (node: Node | undefined) => node?.type === 'Literal' && typeof node.value === 'string';
const isCall = (node: Node) => node.type === 'NewExpression' || node.type === 'CallExpression';

function isNamed(node: unknown, name: string): boolean {
	const { type, name: own } = (node ?? {}) as Partial<Node>;
	return type === 'Identifier' && own === name;
}

function calledMethod(node: Node): string | undefined {
	const callee = node.callee as Node;
	return callee.type === 'MemberExpression' ? ((callee.property as Node).name as string | undefined) : undefined;
}
