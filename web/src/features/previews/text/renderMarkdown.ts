import { mayOpenLink } from '../common/markup/links.js';
import type { MarkdownNode } from './markdownTree.js';

/** The elements of a Markdown text. */
export function renderMarkdown(nodes: readonly MarkdownNode[]): DocumentFragment {
	const fragment = document.createDocumentFragment();
	appendAll(fragment, nodes, askOnce(mayOpenLink));
	return fragment;
}

/** Thousands of links may lead to one address. */
export function askOnce(ask: (address: string) => boolean): (address: string) => boolean {
	const known = new Map<string, boolean>();
	return (address) => {
		const answer = known.get(address) ?? ask(address);
		known.set(address, answer);
		return answer;
	};
}

function appendAll(parent: ParentNode, nodes: readonly MarkdownNode[], mayOpen: (address: string) => boolean): void {
	for (const node of nodes) {
		if (typeof node === 'string') {
			parent.append(node);
			continue;
		}
		const element = document.createElement(node.tag);
		for (const [name, value] of Object.entries(node.attributes)) {
			if (name !== 'href') element.setAttribute(name, value);
			else if (mayOpen(value)) {
				element.setAttribute('href', value);
				element.setAttribute('target', '_blank');
				element.setAttribute('rel', 'noopener noreferrer');
			}
		}
		appendAll(element, node.children, mayOpen);
		parent.append(element);
	}
}
