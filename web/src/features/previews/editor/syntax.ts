import {
	defineLanguageFacet,
	Language,
	languageDataProp,
	StreamLanguage,
	type StreamParser,
} from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { languageOf, maxHighlighted } from '../text/languages.js';

type Load = () => Promise<Extension>;

const stream =
	(load: () => Promise<StreamParser<unknown>>): Load =>
	async () =>
		StreamLanguage.define(await load());

/** The highlighter's names and file extensions that each grammar serves. Each is loaded when it is first needed. */
const grammars: readonly (readonly [names: string, load: Load])[] = [
	['javascript js jsx', stream(async () => (await import('@codemirror/legacy-modes/mode/javascript')).javascript)],
	[
		'typescript ts tsx mts cts',
		stream(async () => (await import('@codemirror/legacy-modes/mode/javascript')).typescript),
	],
	['json', stream(async () => (await import('@codemirror/legacy-modes/mode/javascript')).json)],
	['css', stream(async () => (await import('@codemirror/legacy-modes/mode/css')).css)],
	['scss sass', stream(async () => (await import('@codemirror/legacy-modes/mode/css')).sCSS)],
	['less', stream(async () => (await import('@codemirror/legacy-modes/mode/css')).less)],
	['xml', stream(async () => (await import('@codemirror/legacy-modes/mode/xml')).html)],
	['python py', stream(async () => (await import('@codemirror/legacy-modes/mode/python')).python)],
	['bash sh zsh shell', stream(async () => (await import('@codemirror/legacy-modes/mode/shell')).shell)],
	['powershell ps1', stream(async () => (await import('@codemirror/legacy-modes/mode/powershell')).powerShell)],
	['yaml yml', stream(async () => (await import('@codemirror/legacy-modes/mode/yaml')).yaml)],
	['toml', stream(async () => (await import('@codemirror/legacy-modes/mode/toml')).toml)],
	['ini', stream(async () => (await import('@codemirror/legacy-modes/mode/properties')).properties)],
	['sql', stream(async () => (await import('@codemirror/legacy-modes/mode/sql')).standardSQL)],
	['c', stream(async () => (await import('@codemirror/legacy-modes/mode/clike')).c)],
	['cpp cc', stream(async () => (await import('@codemirror/legacy-modes/mode/clike')).cpp)],
	['java', stream(async () => (await import('@codemirror/legacy-modes/mode/clike')).java)],
	['csharp cs', stream(async () => (await import('@codemirror/legacy-modes/mode/clike')).csharp)],
	['kotlin kt kts', stream(async () => (await import('@codemirror/legacy-modes/mode/clike')).kotlin)],
	['scala', stream(async () => (await import('@codemirror/legacy-modes/mode/clike')).scala)],
	['objectivec', stream(async () => (await import('@codemirror/legacy-modes/mode/clike')).objectiveC)],
	['dart', stream(async () => (await import('@codemirror/legacy-modes/mode/clike')).dart)],
	['go', stream(async () => (await import('@codemirror/legacy-modes/mode/go')).go)],
	['rust rs', stream(async () => (await import('@codemirror/legacy-modes/mode/rust')).rust)],
	['ruby rb', stream(async () => (await import('@codemirror/legacy-modes/mode/ruby')).ruby)],
	['perl', stream(async () => (await import('@codemirror/legacy-modes/mode/perl')).perl)],
	['lua', stream(async () => (await import('@codemirror/legacy-modes/mode/lua')).lua)],
	['swift', stream(async () => (await import('@codemirror/legacy-modes/mode/swift')).swift)],
	['r', stream(async () => (await import('@codemirror/legacy-modes/mode/r')).r)],
	['diff', stream(async () => (await import('@codemirror/legacy-modes/mode/diff')).diff)],
	['markdown md', markdown],
];

/** A line, or of Markdown a paragraph, is read at once: of some texts in the square of its length. */
const maxLine = 2000;
const maxParagraph = 8000;
const maxDepth = 500;

/** The colours of a file of that name with this text: nothing for prose, for what would hold the page up, and where their code can't be loaded. */
export async function syntaxOf(name: string, text: string): Promise<Extension> {
	const language = languageOf(name);
	if (language === undefined || !isModest(text, ['markdown', 'md'].includes(language))) return [];
	const [, load] = grammars.find(([names]) => names.split(' ').includes(language)) ?? [];
	try {
		return (await load?.()) ?? [];
	} catch {
		// The text can be edited without colours as well.
		return [];
	}
}

/** Whether no part that is read at once takes longer than a moment. */
export function isModest(text: string, isMarkdown: boolean): boolean {
	if (text.length > maxHighlighted) return false;
	return isMarkdown ? hasShortParagraphs(text) : hasShortLines(text) && !isDeep(text);
}

function hasShortParagraphs(text: string): boolean {
	let length = 0;
	return text.split('\n').every((line) => {
		length = line.trim() === '' ? 0 : length + line.length + 1;
		return length <= maxParagraph;
	});
}

function hasShortLines(text: string): boolean {
	return text.split('\n').every((line) => line.length <= maxLine);
}

/** Whether brackets lie within each other so deep that each letter in them costs time. */
function isDeep(text: string): boolean {
	let depth = 0;
	for (let at = 0; at < text.length; at++) {
		const letter = text.charAt(at);
		if ('([{'.includes(letter)) depth++;
		else if (')]}'.includes(letter) && depth > 0) depth--;
		if (depth > maxDepth) return true;
	}
	return false;
}

/** Without the languages of the code in it, which are ten times as large. */
async function markdown(): Promise<Extension> {
	const { parser, GFM } = await import('@lezer/markdown');
	const data = defineLanguageFacet({ commentTokens: { block: { open: '<!--', close: '-->' } } });
	const configured = parser.configure([GFM, { props: [languageDataProp.add({ Document: data })] }]);
	return new Language(data, configured, [], 'markdown');
}
