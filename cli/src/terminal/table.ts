import stringWidth from 'string-width';

/** A column of a list. On a terminal that is too narrow a column is never shortened by default: ids are copied from it. */
export interface Column {
	title: string;
	/** `cut` ends long values with an ellipsis, `wrap` continues them on further lines. */
	fit?: 'cut' | 'wrap';
}

const gap = '  ';

/** Shortened columns keep this width. */
const narrowest = 12;

const graphemes = new Intl.Segmenter();

/** The lines of a table with its header, aligned, for a terminal of this width. A column whose values are all empty is left out. */
export function tableLines(columns: readonly Column[], rows: readonly (readonly string[])[], width: number): string[] {
	const shown = columns.flatMap((column, at) => (rows.some((row) => row[at]) ? [{ ...column, at }] : []));
	if (shown.length === 0) return [];
	const cells = [shown.map(({ title }) => title), ...rows.map((row) => shown.map(({ at }) => row[at] ?? ''))];
	const widths = fitted(
		shown,
		shown.map((_, at) => Math.max(...cells.map((row) => stringWidth(row[at] ?? '')))),
		width,
	);
	return cells.flatMap((row) => linesOf(row, shown, widths));
}

/** Takes what is too much from the widest of the columns that may be shortened. */
function fitted(columns: readonly Column[], natural: readonly number[], width: number): number[] {
	const widths = [...natural];
	let excess = widths.reduce((sum, each) => sum + each, gap.length * (widths.length - 1)) - width;
	const canShrink = (at: number) => columns[at]?.fit !== undefined && (widths[at] ?? 0) > narrowest;
	for (; excess > 0; excess--) {
		const widest = widths.reduce((best, each, at) => {
			return canShrink(at) && (best === -1 || each > (widths[best] ?? 0)) ? at : best;
		}, -1);
		if (widest === -1) break;
		widths[widest] = (widths[widest] ?? 0) - 1;
	}
	return widths;
}

function linesOf(row: readonly string[], columns: readonly Column[], widths: readonly number[]): string[] {
	const parts = row.map((text, at) => {
		const most = widths[at] ?? 0;
		if (stringWidth(text) <= most) return [text];
		return columns[at]?.fit === 'wrap' ? wrapped(text, most) : [`${prefix(text, most - 1)}…`];
	});
	const height = Math.max(...parts.map((lines) => lines.length));
	return Array.from({ length: height }, (_, line) =>
		parts
			.map((lines, at) => padded(lines[line] ?? '', widths[at] ?? 0))
			.join(gap)
			.trimEnd(),
	);
}

function padded(text: string, width: number): string {
	return text + ' '.repeat(Math.max(0, width - stringWidth(text)));
}

/** At spaces; a word that is wider than a line, such as a path, continues on the next one. */
function wrapped(text: string, width: number): string[] {
	const lines: string[] = [];
	let line = '';
	for (let word of text.split(' ')) {
		const joined = line === '' ? word : `${line} ${word}`;
		if (stringWidth(joined) <= width) {
			line = joined;
			continue;
		}
		if (line !== '') lines.push(line);
		while (stringWidth(word) > width) {
			const start = prefix(word, width);
			lines.push(start);
			word = word.slice(start.length);
		}
		line = word;
	}
	return [...lines, line];
}

/** As many whole characters as fit, and at least one. */
function prefix(text: string, width: number): string {
	let end = 0;
	let used = 0;
	for (const { segment, index } of graphemes.segment(text)) {
		used += stringWidth(segment);
		if (used > width && end > 0) break;
		end = index + segment.length;
	}
	return text.slice(0, end);
}
