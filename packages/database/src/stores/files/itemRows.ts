import type { Knex } from 'knex';
import { ownTurn } from '../../connection/ownTurn.js';
import { batches, batchesOfLength } from '../batches.js';

/** A row of `temp_links`, with the bytes of its paths. */
export interface RowLength {
	id: string;
	length: number | string;
}

/** Rows of `temp_links` that one statement reads or writes, and the bytes of their paths: each may have 64,000. */
export const rowsAtOnce = { count: 200, length: 500_000 };

/** The bytes of the paths of a row, which SQLite knows without reading them. */
export function pathBytes(knex: Knex): Knex.Raw {
	return knex.raw('octet_length(temp_links.path) + coalesce(octet_length(temp_links.next_path), 0) as length');
}

/** The ids of rows, so many together as one statement reads in a moment. */
export function* idsAtOnce(rows: Iterable<RowLength>): Generator<string[]> {
	for (const part of batchesOfLength(rows, rowsAtOnce, ({ length }) => Number(length))) yield part.map(({ id }) => id);
}

/** What `read` reads of rows with these ids, in their order, a part after the other: between two of them others have their turns. */
export async function* readInParts<Row>(
	knex: Knex,
	ids: readonly string[],
	read: (ids: readonly string[]) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
	let isFirst = true;
	for (const some of batches(ids, rowsAtOnce.count)) {
		const lengths: RowLength[] =
			some.length === 1
				? some.map((id) => ({ id, length: 0 }))
				: await knex('temp_links').whereIn('id', some).select('id', pathBytes(knex));
		const byId = new Map(lengths.map((row) => [row.id, row]));
		for (const part of idsAtOnce(some.flatMap((id) => byId.get(id) ?? []))) {
			if (!isFirst) await ownTurn();
			isFirst = false;
			yield await read(part);
		}
	}
}
