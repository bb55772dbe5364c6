import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState, type Text } from '@codemirror/state';
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { shownName } from '@stowage/rules';
import { syntaxOf } from './colours/syntax.js';
import { indentKeys } from './indentLines.js';
import { editorMessages as messages } from './messages.js';
import { trackReplacements } from './saving/replacements.js';
import { boundedSearch } from './search/boundedSearch.js';
import { specialCharacters } from './specialCharacters.js';

export interface CodeEditorOptions {
	/** The name of the file, which decides its colours. */
	name: string;
	/** The id of the element that says how to leave it by the keyboard. */
	describedBy: string;
	onChange: (text: Text) => void;
}

/** An editor of plain text within an element. Its colours follow. */
export function createCodeEditor(parent: HTMLElement, text: string, options: CodeEditorOptions): EditorView {
	const syntax = new Compartment();
	const view = new EditorView({ parent, state: stateOf(text, options, syntax) });
	void addColours(view, syntax, options);
	return view;
}

/** Shows another text, which can't be undone. */
export function showText(view: EditorView, text: string, options: CodeEditorOptions): void {
	const syntax = new Compartment();
	view.setState(stateOf(text, options, syntax));
	void addColours(view, syntax, options);
}

async function addColours(view: EditorView, syntax: Compartment, { name }: CodeEditorOptions): Promise<void> {
	view.dispatch({ effects: syntax.reconfigure(await syntaxOf(name, view.state.doc.toString())) });
}

function stateOf(text: string, { name, describedBy, onChange }: CodeEditorOptions, syntax: Compartment) {
	return EditorState.create({
		doc: text,
		extensions: [
			// The page's policy refuses styles without it.
			EditorView.cspNonce.of(nonce()),
			EditorState.phrases.of(messages.phrases),
			EditorView.contentAttributes.of({
				'aria-label': messages.textOf(shownName(name)),
				'aria-describedby': describedBy,
			}),
			EditorView.darkTheme.of(true),
			EditorView.lineWrapping,
			EditorView.updateListener.of(({ docChanged, state }) => docChanged && onChange(state.doc)),
			lineNumbers(),
			highlightActiveLineGutter(),
			highlightActiveLine(),
			specialCharacters,
			history(),
			trackReplacements,
			bracketMatching(),
			indentUnit.of(usualIndent(text)),
			syntaxHighlighting(classHighlighter),
			syntax.of([]),
			// Before the default keys.
			boundedSearch(),
			keymap.of([...indentKeys, ...historyKeymap, ...defaultKeymap]),
		],
	});
}

/** How the first indented line of a text begins; a tab where none is. */
function usualIndent(text: string): string {
	for (const line of text.slice(0, 100_000).split('\n')) {
		const [indent] = /^(?:\t| {2,8})/.exec(line) ?? [];
		if (indent !== undefined && indent !== line) return indent;
	}
	return '\t';
}

function nonce(): string {
	return document.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? '';
}
