import { fstatSync, fsyncSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { inspect } from 'node:util';
import { withoutDatabaseUrls } from '@stowage/core';
import { escapeControls, escapeJson, Failure, formatListSize } from '@stowage/rules';
import { dateOf, localTimeText } from '../commandLine/times.js';
import type { Column, Table } from './table.js';

// Every line of every command is written here: names of files, browsers and disks are untrusted, and must not move the cursor, turn the
// text round or begin another line.

/** The width of a terminal that does not report one. */
const usualWidth = 80;

/** A value that people and programs read differently. */
interface Readable {
	human: string;
	exact: string | number;
}

export type Row = readonly (string | number | Readable)[];

interface Listed<T> {
	json: boolean | undefined;
	/** The JSON of an item; the item itself by default. */
	toJson?: (item: T) => unknown;
	/** What the parts of a row are. */
	columns: readonly Column[];
	row: (item: T) => Row;
}

/** Prints the items as JSON with `--json`; without as a table on a terminal, and elsewhere as rows without a header, for scripts. */
export async function printList<T>(
	items: readonly T[],
	{ json, toJson = (item) => item, columns, row }: Listed<T>,
): Promise<void> {
	if (json) printJson(items.map((item) => toJson(item)));
	else await printTable(columns, items.map(row));
}

/** Prints rows as a table with a header on a terminal, and elsewhere as `printRows`. */
export async function printTable(columns: readonly Column[], rows: readonly Row[]): Promise<void> {
	const list = await RowWriter.open(columns);
	for (const row of rows) list.add(row);
	list.flush();
}

/** How many rows decide how wide the columns of a table are. */
const rowsPerTable = 500;

/** Prints rows that come one after another: on a terminal as a table, from `flush` on each at once; elsewhere each at once. */
export class RowWriter {
	/** Undefined where there is no terminal. */
	readonly #table: Table | undefined;
	#waiting: Row[] = [];

	private constructor(table: Table | undefined) {
		this.#table = table;
	}

	/** What knows the widths of all characters is loaded for a terminal only: that is a tenth of what a short command costs. */
	static async open(columns: readonly Column[]): Promise<RowWriter> {
		return new RowWriter(isOnTerminal() ? new (await import('./table.js')).Table(columns) : undefined);
	}

	add(row: Row): void {
		if (this.#table === undefined) printRows([row]);
		else if (this.#waiting.push(row) >= rowsPerTable) this.flush();
	}

	/** Prints the rows that wait for others to be aligned with. */
	flush(): void {
		if (this.#table === undefined) return;
		const { columns: width = usualWidth } = process.stdout;
		for (const line of this.#table.lines(this.#waiting.splice(0).map(escaped), width)) console.log(line);
	}
}

function escaped(row: Row): string[] {
	const isHuman = isOnTerminal();
	return row.map((value) => {
		const text = typeof value === 'object' ? value[isHuman ? 'human' : 'exact'] : value;
		return escapeControls(String(text));
	});
}

/** Prints a table of items that arrive one after another, of which there may be too many to hold. */
export async function printEach<T>(
	items: AsyncIterable<T>,
	{ json, toJson = (item) => item, columns, row }: Listed<T>,
): Promise<void> {
	if (!json) {
		const list = await RowWriter.open(columns);
		for await (const item of items) list.add(row(item));
		list.flush();
		return;
	}
	let isFirst = true;
	for await (const item of items) {
		const text = escapeJson(JSON.stringify(toJson(item), null, 2)).replaceAll(/^/gm, '  ');
		process.stdout.write(`${isFirst ? '[' : ','}\n${text}`);
		isFirst = false;
	}
	console.log(isFirst ? '[]' : '\n]');
}

/** One line for each row, with tabs between the columns. */
export function printRows(rows: readonly Row[]): void {
	for (const row of rows.map(escaped)) console.log(row.join('\t'));
}

export function printJson(value: unknown): void {
	console.log(escapeJson(JSON.stringify(value, null, 2)));
}

/** Prints a value as JSON on one line. */
export function printJsonLine(value: unknown): void {
	console.log(escapeJson(JSON.stringify(value)));
}

/** A line for people. */
export function printLine(line: string): void {
	console.log(escapeControls(line));
}

/** A text of several lines, such as a script. */
export function printText(text: string): void {
	process.stdout.write(escapeControls(text, '\n\t'));
}

/** A sentence on standard error, on one line whatever names are in it. */
export function printError(sentence: string): void {
	console.error(escapeControls(withoutDatabaseUrls(sentence)));
}

/**
 * What a command ends with, on standard error: a message, which may have several lines, or an error with its stack. Where a name has a
 * line feed, what comes after it is no line of its own: all but the first are indented.
 */
export function printFault(error: unknown): void {
	const message = typeof error === 'string' ? error : inspect(error);
	console.error(escapeControls(withoutDatabaseUrls(message), '\n\t').replaceAll('\n', '\n  '));
}

/** Whether somebody would see what is printed. */
export function isOnTerminal(): boolean {
	return process.stdout.isTTY === true;
}

/**
 * Writes bytes for another program on standard output, and syncs them if that is a file. Throws `unavailable` where the reader ends
 * before it has read all, and `storageFull`.
 */
export async function writeBytes(content: NodeJS.ReadableStream): Promise<void> {
	const { stdout } = process;
	// The end of a reader is the end of a list, but not of this.
	stdout.removeAllListeners('error');
	try {
		await pipeline(content, stdout, { end: false });
		await new Promise<void>((resolve, reject) => {
			stdout.write('', (error) => (error ? reject(error) : resolve()));
		});
		syncOutput();
	} catch (cause) {
		const { code } = cause as NodeJS.ErrnoException;
		if (code === 'EPIPE') throw new Failure('unavailable', 'The program that reads the output has ended.', { cause });
		if (code === 'ENOSPC' || code === 'EDQUOT')
			throw new Failure('storageFull', 'The disk is full. The output is not complete.', { cause });
		throw cause;
	}
}

/** Resolves once all that was printed is in its file or pipe, or can't be written: a pager reads on when its reader does. */
export async function outputTaken(): Promise<void> {
	const written = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.write('', () => resolve()));
	await Promise.all([written(process.stdout), written(process.stderr)]);
}

function syncOutput(): void {
	if (fstatSync(1).isFile()) fsyncSync(1);
}

/** A size in a list, or in a text that is printed: for people such as 1.5 KB, and for programs its bytes. */
export function sizeCell(bytes: number): Readable {
	return { human: formatListSize(bytes), exact: bytes };
}

/** A time in a list: for people in the time zone of this machine, to the minute, and for programs as `timeText`. */
export function timeCell(time: number): Readable {
	return { human: localTimeText(time, false).slice(0, 16).replace('T', ' '), exact: timeText(time) };
}

/** ISO 8601, in UTC. */
export function timeText(time: number): string {
	return dateOf(time).toISOString();
}

/** Where the parser of the command line writes its help and errors, which repeat what was typed. */
export const usageOutput = {
	writeOut: printText,
	writeErr(text: string): void {
		process.stderr.write(escapeControls(withoutDatabaseUrls(text), '\n\t'));
	},
};
