import {
	defineLanguageFacet,
	Language,
	languageDataProp,
	StreamLanguage,
	type StreamParser,
} from '@codemirror/language';

type Load = () => Promise<Language>;

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
	['yaml yml', stream(async () => (await import('./yamlGrammar.js')).yamlGrammar)],
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

/** The grammar of a language by the name that the highlighter has for it, if there is one. */
export async function grammarOf(language: string): Promise<Language | undefined> {
	const [, load] = grammars.find(([names]) => names.split(' ').includes(language)) ?? [];
	return load?.();
}

/** Markdown without the languages of the code in it, which are ten times as large. */
async function markdown(): Promise<Language> {
	const { parser, GFM } = await import('@lezer/markdown');
	const data = defineLanguageFacet({ commentTokens: { block: { open: '<!--', close: '-->' } } });
	const configured = parser.configure([GFM, { props: [languageDataProp.add({ Document: data })] }]);
	return new Language(data, configured, [], 'markdown');
}
