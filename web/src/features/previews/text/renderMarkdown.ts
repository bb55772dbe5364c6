import { mayOpenLink } from '../common/markup/links.js';
import type { MarkdownNode } from './markdownTree.js';

/** The elements of a Markdown text. */
export function renderMarkdown(nodes: readonly MarkdownNode[]): DocumentFragment {
	const fragment = document.createDocumentFragment();
	appendAll(fragment, nodes);
	return fragment;
}

function appendAll(parent: ParentNode, nodes: readonly MarkdownNode[]): void {
	for (const node of nodes) {
		if (typeof node === 'string') {
			parent.append(node);
			continue;
		}
		const element = document.createElement(node.tag);
		for (const [name, value] of Object.entries(node.attributes)) {
			if (name !== 'href') element.setAttribute(name, value);
			else if (mayOpenLink(value)) {
				element.setAttribute('href', value);
				element.setAttribute('target', '_blank');
				element.setAttribute('rel', 'noopener noreferrer');
			}
		}
		appendAll(element, node.children);
		parent.append(element);
	}
}
