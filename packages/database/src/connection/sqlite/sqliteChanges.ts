import Libsql from 'libsql';

/** Distinguishes the states of a database. */
export interface Changes {
	/** Another value after every change that was committed, by whatever process; undefined while that is unknown. */
	version(): number | undefined;
	close(): void;
}

/**
 * Watches an SQLite file. `data_version` changes for the commits of other connections only, so this one is separate and changes nothing;
 * a query costs a read of memory that all processes share. See https://www.sqlite.org/pragma.html#pragma_data_version
 */
export function sqliteChanges(path: string): Changes {
	let watching: { connection: Libsql.Database; statement: Libsql.Statement } | undefined;
	let isClosed = false;

	function open() {
		const connection = new Libsql(path, { timeout: 0 });
		try {
			return { connection, statement: connection.prepare('PRAGMA data_version').raw() };
		} catch (error) {
			connection.close();
			throw error;
		}
	}

	return {
		version() {
			if (isClosed) return undefined;
			try {
				watching ??= open();
				const [version] = watching.statement.get() as unknown as [number];
				return version;
			} catch {
				// Whatever is wrong with the database is an error of the next query.
				return undefined;
			}
		},
		close() {
			isClosed = true;
			watching?.connection.close();
			watching = undefined;
		},
	};
}
