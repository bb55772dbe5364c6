/** A server uses some hundred. Lists of values of different lengths are statements of their own. */
const limit = 500;

/** Characters and bytes of the values of an idle statement, which has them until it is run again. */
const maxKept = 64 * 1024;

/** The statements of a connection that are not running, by their text: to compile one costs more than to run most of them. */
export class PreparedStatements<Statement> {
	readonly #idle = new Map<string, Statement>();

	/** Whoever runs it has it alone: a second query of the same text at the same time needs another one. */
	take(sql: string): Statement | undefined {
		const statement = this.#idle.get(sql);
		this.#idle.delete(sql);
		return statement;
	}

	/** Gives back one that has run to its end. One that failed may be in progress still, and is not given back. */
	giveBack(sql: string, statement: Statement, bindings: readonly unknown[]): void {
		if (!areKept(bindings)) return;
		if (this.#idle.size >= limit) this.#idle.clear();
		this.#idle.set(sql, statement);
	}

	/** Called before the connection is closed, which its statements would keep open. */
	clear(): void {
		this.#idle.clear();
	}
}

/** Whether a statement that was run with these values may be kept: hundreds of them with long paths would take hundreds of megabytes. */
export function areKept(bindings: readonly unknown[]): boolean {
	let size = 0;
	for (const value of bindings) if (typeof value === 'string' || value instanceof Uint8Array) size += value.length;
	return size <= maxKept;
}
