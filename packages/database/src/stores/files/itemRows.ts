import { batchesOf } from '@stowage/rules';
import type { Knex } from 'knex';
import { ownTurn } from '../../connection/ownTurn.js';
import { idBatches, type SizedRow } from '../batches.js';

/** Rows of `temp_links` that one statement reads or writes, and the bytes of their paths: each may have 64,000. */
export const rowsAtOnce = { count: 200, length: 500_000 };

/** The bytes of the paths of a row of `temp_links`, which SQLite knows without reading them. */
export function pathBytes(knex: Knex): Knex.Raw {
	return knex.raw('octet_length(temp_links.path) + coalesce(octet_length(temp_links.next_path), 0) as bytes');
}

/** What `read` reads of rows with these ids, in their order, a part after the other: between two of them others have their turns. */
export async function* readInParts<Row>(
	knex: Knex,
	ids: readonly string[],
	read: (ids: readonly string[]) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
	let isFirst = true;
	for (const some of batchesOf(ids, rowsAtOnce.count)) {
		const sized: SizedRow[] =
			some.length === 1
				? some.map((id) => ({ id, bytes: 0 }))
				: await knex('temp_links').whereIn('id', some).select('id', pathBytes(knex));
		const byId = new Map(sized.map((row) => [row.id, row]));
		const found = some.flatMap((id) => byId.get(id) ?? []);
		for (const part of idBatches(found, rowsAtOnce)) {
			if (!isFirst) await ownTurn();
			isFirst = false;
			yield await read(part);
		}
	}
}
