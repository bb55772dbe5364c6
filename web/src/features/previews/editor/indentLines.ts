import { indentLess, indentMore } from '@codemirror/commands';
import { getIndentUnit, indentString, indentUnit } from '@codemirror/language';
import {
	countColumn,
	EditorSelection,
	type EditorState,
	type SelectionRange,
	type StateCommand,
	Text,
} from '@codemirror/state';
import type { KeyBinding } from '@codemirror/view';

/** How many lines the editor can change one by one in a moment: of 500,000 it takes 10 s. */
const maxChanges = 2000;

const indentLines: StateCommand = ({ state, dispatch }) => {
	const lines = selectedLines(state);
	if (lines === undefined) return indentMore({ state, dispatch });
	const change = { from: 0, to: 0, insert: state.facet(indentUnit) };
	dispatch(
		state.update(
			replaced(lines, () => change),
			{ userEvent: 'input.indent' },
		),
	);
	return true;
};

const dedentLines: StateCommand = ({ state, dispatch }) => {
	const lines = selectedLines(state);
	if (lines === undefined) return indentLess({ state, dispatch });
	dispatch(
		state.update(
			replaced(lines, (line) => dedent(state, line)),
			{ userEvent: 'delete.dedent' },
		),
	);
	return true;
};

/** Tab and its like for the selected lines. Many of them are replaced together, in one change. */
export const indentKeys = [
	{ key: 'Tab', run: indentLines, shift: dedentLines },
	{ key: 'Mod-]', run: indentLines },
	{ key: 'Mod-[', run: dedentLines },
] as const satisfies readonly KeyBinding[];

/** What replaces a part of a line, by offsets in it. */
interface LineChange {
	from: number;
	to: number;
	insert: string;
}

/** Dedents a line as the editor does a single one. */
function dedent(state: EditorState, line: string): LineChange {
	const [indent = ''] = /^\s*/.exec(line) ?? [];
	const wanted = indentString(state, Math.max(0, countColumn(indent, state.tabSize) - getIndentUnit(state)));
	let from = 0;
	while (from < Math.min(indent.length, wanted.length) && indent[from] === wanted[from]) from++;
	return { from, to: indent.length, insert: wanted.slice(from) };
}

interface SelectedLines {
	range: SelectionRange;
	/** The begin of the first one and the end of the last one, in the text. */
	from: number;
	to: number;
	lines: readonly string[];
}

/** The lines of the selection, if they are many. One at whose begin it ends is none of them. */
function selectedLines({ doc, readOnly, selection: { main: range } }: EditorState): SelectedLines | undefined {
	const first = doc.lineAt(range.from);
	const end = doc.lineAt(range.to);
	const last = range.to === end.from && end.number > first.number ? doc.line(end.number - 1) : end;
	if (readOnly || last.number - first.number < maxChanges) return undefined;
	return { range, from: first.from, to: last.to, lines: [...doc.slice(first.from, last.to).iterLines()] };
}

/** The changes of all lines as one, with the same text selected as before. */
function replaced({ range, from, to, lines }: SelectedLines, changeOf: (line: string) => LineChange) {
	const insert = Text.of(
		lines.map((line) => {
			const change = changeOf(line);
			return line.slice(0, change.from) + change.insert + line.slice(change.to);
		}),
	);
	const begin = from + placeAfter(changeOf(lines[0] ?? ''), range.from - from);
	const last = lines.at(-1) ?? '';
	const toLast = to - last.length;
	const newToLast = from + insert.length - insert.line(insert.lines).length;
	const end = newToLast + placeAfter(changeOf(last), range.to - toLast);
	const selection = range.head < range.anchor ? EditorSelection.range(end, begin) : EditorSelection.range(begin, end);
	return { changes: { from, to, insert }, selection };
}

/** Where an offset in a line is after a change of it; behind what is inserted there. */
function placeAfter({ from, to, insert }: LineChange, offset: number): number {
	if (offset < from || (offset === from && from < to)) return offset;
	return offset < to ? from + insert.length : offset + insert.length - (to - from);
}
