import { parseSync } from 'oxc-parser';

export interface Node {
	type: string;
	start: number;
	[key: string]: unknown;
}

/** The syntax tree of a source. Throws at an error of its syntax. */
export function parse(file: string, text: string): Node {
	const { program, errors } = parseSync(file, text);
	if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
	return program as unknown as Node;
}

/** Every node, with the one that holds it. */
export function visit(node: Node, onNode: (node: Node, parent: Node | undefined) => void, parent?: Node): void {
	onNode(node, parent);
	for (const value of Object.values(node)) {
		for (const child of Array.isArray(value) ? value : [value]) {
			if (typeof child === 'object' && child !== null && typeof child.type === 'string') visit(child, onNode, node);
		}
	}
}

export function lineReader(text: string): (offset: number) => number {
	return (offset) => text.slice(0, offset).split('\n').length;
}
