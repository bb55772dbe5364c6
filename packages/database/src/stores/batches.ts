import { batchesOf, batchesOfLength } from '@stowage/rules';

/** Rows of one statement: a database limits the number of its values. */
const batchSize = 200;

/** The items in batches of a size that one statement can bear. */
export const batches = <T>(items: readonly T[]): Generator<T[]> => batchesOf(items, batchSize);

/** A row that is to be read or written, with the bytes of its paths. */
export interface SizedRow {
	id: string;
	bytes: number;
}

/** The ids of rows in batches of at most so many, and of no more bytes together. */
export function* idBatches(rows: Iterable<SizedRow>, most: { count: number; length: number }): Generator<string[]> {
	for (const batch of batchesOfLength(rows, most, ({ bytes }) => bytes)) yield batch.map(({ id }) => id);
}
