/**
 * The row itself, after a check that each of its values is plain. Every insert and update goes through here, since knex would write an
 * object as JSON and run a function as a subquery.
 */
export function plainRow<Row extends object>(row: Row): Row {
	for (const value of Object.values(row)) assertPlain(value);
	return row;
}

/**
 * The values that reach a statement, for every statement. A driver that meets an object spells it out as SQL of its own, SQLite cuts a
 * text at its first NUL, and a number that is not finite becomes NULL: each of them would make another query than the caller meant.
 */
export function plainBindings(bindings: unknown): unknown {
	if (Array.isArray(bindings)) for (const value of bindings) assertPlain(value);
	return bindings;
}

function assertPlain(value: unknown): void {
	if (value === null || typeof value === 'boolean') return;
	if (typeof value === 'string' && !value.includes('\0')) return;
	if (typeof value === 'number' && Number.isFinite(value)) return;
	throw new TypeError(
		`A database value must be plain text without NUL, a finite number or a boolean, not ${kindOf(value)}.`,
	);
}

/** The type of the value, without its content: it may be a secret. */
function kindOf(value: unknown): string {
	if (typeof value === 'string') return 'a text with NUL';
	if (typeof value === 'number') return String(value);
	return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
