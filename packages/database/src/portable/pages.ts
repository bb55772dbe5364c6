/** What is read at once, and held in memory: a job's input alone may have megabytes. */
export const pageRows = 500;
export const pageBytes = 1024 * 1024;

/** An expression for the bytes of a row with these columns, in the quotes of the database. */
export function bytesExpression(columns: readonly string[]): string {
	return columns.map((column) => `coalesce(octet_length(${column}), 0)`).join(' + ');
}

/** How many of the next rows are read at once, by the bytes of each. */
export function rowsAtOnce(sizes: readonly number[]): number {
	let bytes = 0;
	const end = sizes.findIndex((size, at) => {
		bytes += size;
		return at > 0 && bytes > pageBytes;
	});
	return end === -1 ? sizes.length : end;
}
