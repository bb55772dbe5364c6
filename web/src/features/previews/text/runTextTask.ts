import { analyse } from 'chardet';
import highlighter from 'highlight.js/lib/common';
import papaparse from 'papaparse';
import { withFewJoining } from '../common/markup/characterCosts.js';
import { type MarkdownNode, markdownTree } from './markdownTree.js';
import { colouredBlocks, type SourceBlock } from './sourceBlocks.js';

/** Work that can take long for a hostile text, so that it runs off the page's thread and can be terminated. */
export type TextTask =
	| { kind: 'detect'; bytes: Uint8Array }
	| { kind: 'markdown'; text: string }
	| { kind: 'highlight'; text: string; language: string }
	| { kind: 'table'; text: string; delimiter: string };

export interface TextResults {
	/** The names of likely encodings, the likeliest first. */
	detect: string[];
	markdown: MarkdownNode[];
	/** HTML of spans with classes, in which all text is escaped. */
	highlight: SourceBlock[];
	/** Long values are cut: a cell shows their beginning. */
	table: string[][];
}

/** Bytes from which the encoding of the rest is detected. */
const maxSampleBytes = 64 * 1024;

/** A cell shows less. */
const maxValue = 500;
/** Letters of a cell that join or combine. A screen of cells with 480 each takes the browser three seconds. */
const maxJoining = 120;

/** Does a task of the viewer of texts; undefined for a text that has no such form. */
export function runTextTask(task: TextTask): TextResults[TextTask['kind']] | undefined {
	switch (task.kind) {
		case 'detect':
			return analyse(task.bytes.subarray(0, maxSampleBytes)).map(({ name }) => name);
		case 'markdown':
			return markdownTree(task.text);
		case 'highlight':
			if (highlighter.getLanguage(task.language) === undefined) return undefined;
			return colouredBlocks(highlighter.highlight(task.text, { language: task.language, ignoreIllegals: true }).value);
		case 'table':
			return papaparse.parse<string[]>(task.text, {
				delimiter: task.delimiter,
				skipEmptyLines: true,
				transform: (value) => withFewJoining(value.slice(0, maxValue), maxJoining),
			}).data;
		default:
			return task satisfies never;
	}
}
