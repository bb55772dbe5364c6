type Row = readonly (string | number)[];

interface Listed<T> {
	json: boolean | undefined;
	/** The JSON of an item; the item itself by default. */
	toJson?: (item: T) => unknown;
	row: (item: T) => Row;
}

/** Prints the items as JSON with `--json`, and a row for each without. */
export function printList<T>(items: readonly T[], { json, toJson = (item) => item, row }: Listed<T>): void {
	if (json) printJson(items.map((item) => toJson(item)));
	else printRows(items.map((item) => row(item)));
}

/** One line for each row, with tabs between the columns. */
export function printRows(rows: readonly Row[]): void {
	for (const row of rows) console.log(row.map(shown).join('\t'));
}

export function printJson(value: unknown): void {
	console.log(JSON.stringify(value, null, 2));
}

/** ISO 8601, in UTC. */
export function timeText(time: number): string {
	return new Date(time).toISOString();
}

/** Untrusted text, such as a browser's name, must not move the terminal's cursor or begin another row. */
function shown(value: string | number): string {
	return String(value).replace(/[\p{Cc}\u2028\u2029]/gu, '\uFFFD');
}
