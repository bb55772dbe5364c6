import stringWidth from 'string-width';

/**
 * A column of a list. On a terminal that is too narrow a column is not shortened by default: ids are copied from it. What users may make
 * long, such as a path, has a `fit`.
 */
export interface Column {
	title: string;
	/** `cut` ends long values with an ellipsis, `wrap` continues them on further lines. */
	fit?: 'cut' | 'wrap';
}

const gap = '  ';

/** Shortened columns keep this width. */
const narrowest = 12;

/** Of a text no more is measured: a user's path may be long, and the width of a character is slow to tell. */
const charactersPerColumn = 8;
/** Of one that is not cut. No id or address is as long, and no path that a system takes at once. */
const maxWhole = 4096;

const graphemes = new Intl.Segmenter();

/** A table for a terminal, whose rows may come one after another. A column whose values are all empty is left out. */
export class Table {
	readonly #columns: readonly Column[];
	/** The widths of the columns so far, by their titles. */
	#widths: ReadonlyMap<string, number> = new Map();

	constructor(columns: readonly Column[]) {
		this.#columns = columns;
	}

	/**
	 * The aligned lines of further rows, for a terminal of this width: below a header if they are the first ones, or have values in a
	 * column that was left out.
	 */
	lines(rows: readonly (readonly string[])[], width: number): string[] {
		const shown = this.#columns.flatMap((column, at) =>
			this.#widths.has(column.title) || rows.some((row) => row[at]) ? [{ ...column, at }] : [],
		);
		if (shown.length === 0) return [];
		const header = shown.map(({ title }) => title);
		const cells = [header, ...rows.map((row) => shown.map(({ at, fit }) => measurable(row[at] ?? '', fit, width)))];
		const natural = header.map((title, at) =>
			Math.max(this.#widths.get(title) ?? 0, ...cells.map((row) => stringWidth(row[at] ?? ''))),
		);
		const widths = fitted(shown, natural, width);
		const isBelow = this.#widths.size === shown.length;
		this.#widths = new Map(header.map((title, at) => [title, widths[at] ?? 0]));
		return (isBelow ? cells.slice(1) : cells).flatMap((row) => linesOf(row, shown, widths));
	}
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
		const width = widths[at] ?? 0;
		if (stringWidth(text) <= width) return [text];
		return columns[at]?.fit === 'wrap' ? wrapped(text, width) : [`${prefix(text, width - 1)}…`];
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

/** A text, or the beginning of one that is longer than what can be shown of it. */
function measurable(text: string, fit: Column['fit'], width: number): string {
	const end = fit === 'cut' ? charactersPerColumn * width : maxWhole;
	return text.length <= end ? text : `${text.slice(0, end).replace(/\p{Cs}$/u, '')}…`;
}

/** Breaks a text into lines at spaces; a word that is wider than a line, such as a path, continues on the next one. */
function wrapped(text: string, width: number): string[] {
	const lines: string[] = [];
	let line = '';
	let used = 0;
	for (const word of text.split(' ')) {
		for (const [at, part] of partsOf(word, width).entries()) {
			const partWidth = stringWidth(part);
			if (at === 0 && line !== '' && used + 1 + partWidth <= width) {
				line += ` ${part}`;
				used += 1 + partWidth;
				continue;
			}
			if (line !== '') lines.push(line);
			line = part;
			used = partWidth;
		}
	}
	return [...lines, line];
}

/** A word in parts that each fit into a line of this width, in whole characters. */
function partsOf(word: string, width: number): string[] {
	const parts: string[] = [];
	let part = '';
	let used = 0;
	for (const { segment } of graphemes.segment(word)) {
		const segmentWidth = stringWidth(segment);
		if (used + segmentWidth > width && part !== '') {
			parts.push(part);
			part = '';
			used = 0;
		}
		part += segment;
		used += segmentWidth;
	}
	return [...parts, part];
}

/** The longest beginning of a text, in whole characters but at least one, that fits into this many columns. */
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
