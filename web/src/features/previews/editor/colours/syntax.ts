import type { Extension } from '@codemirror/state';
import { runInWorker } from '../../common/bytes/runInWorker.js';
import { languageOf, maxHighlighted } from '../../text/languages.js';
import { grammarOf } from './grammars.js';
import type { ReadTask } from './grammarWorker.js';

/** A line, or of Markdown a paragraph, is read at once: of some texts in the square of its length. */
const maxLine = 2000;
const maxParagraph = 8000;
const maxDepth = 500;

/** A line that ends a paragraph. The grammar takes no other white space for blank, such as a no-break space. */
const blank = /^[ \t\r]*$/;

/** How long the whole text may take to be read in a worker. One line is read at once, so the page is held up by no more than this. */
const maxReadMs = 1000;

/** A worker that takes longer is terminated: some grammars take the cube of a line's length. */
const maxWorkerMs = 5000;

/**
 * The colours of a file of that name with this text: nothing for prose, for what would hold the page up, and where
 * their code can't be loaded.
 */
export async function syntaxOf(name: string, text: string): Promise<Extension> {
	const language = languageOf(name);
	if (language === undefined || !isModest(text, ['markdown', 'md'].includes(language))) return [];
	try {
		const grammar = await grammarOf(language);
		return grammar !== undefined && (await isReadSoon(language, text)) ? grammar : [];
	} catch {
		// The text can be edited without colours as well.
		return [];
	}
}

async function isReadSoon(language: string, text: string): Promise<boolean> {
	const worker = new Worker(new URL('./grammarWorker.ts', import.meta.url), { type: 'module' });
	const task: ReadTask = { language, text };
	const took = await runInWorker<number>(worker, task, AbortSignal.timeout(maxWorkerMs));
	return took !== undefined && took <= maxReadMs;
}

/** Whether no part that is read at once takes longer than a moment. */
export function isModest(text: string, isMarkdown: boolean): boolean {
	if (text.length > maxHighlighted) return false;
	return isMarkdown ? hasShortParagraphs(text) : hasShortLines(text) && !isDeep(text);
}

function hasShortParagraphs(text: string): boolean {
	let length = 0;
	return text.split('\n').every((line) => {
		length = blank.test(line) ? 0 : length + line.length + 1;
		return length <= maxParagraph;
	});
}

function hasShortLines(text: string): boolean {
	return text.split('\n').every((line) => line.length <= maxLine);
}

/** Whether brackets lie within each other so deep that each character in them costs time. */
function isDeep(text: string): boolean {
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		const character = text.charAt(at);
		if ('([{'.includes(character)) depth++;
		else if (')]}'.includes(character) && depth > 0) depth--;
		if (depth > maxDepth) return true;
	}
	return false;
}
