/** Rows of one statement: a database limits the number of its values. */
const batchSize = 200;

/** The items in batches of a size that one statement can bear. */
export function* batches<T>(items: readonly T[], size = batchSize): Generator<T[]> {
	for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** A row that is to be read or written, with the bytes of its paths. */
export interface SizedRow {
	id: string;
	bytes: number;
}

/** The ids of rows in batches of at most so many, and of no more bytes together. */
export function* idBatches(rows: Iterable<SizedRow>, most: { count: number; length: number }): Generator<string[]> {
	for (const batch of batchesOfLength(rows, most, ({ bytes }) => bytes)) yield batch.map(({ id }) => id);
}

/** The items in batches of at most so many, and of no more characters together; one that has more by itself is alone. */
export function* batchesOfLength<T>(
	items: Iterable<T>,
	{ count, length }: { count: number; length: number },
	lengthOf: (item: T) => number,
): Generator<T[]> {
	let batch: T[] = [];
	let sum = 0;
	for (const item of items) {
		const own = lengthOf(item);
		if (batch.length > 0 && (batch.length === count || sum + own > length)) {
			yield batch;
			batch = [];
			sum = 0;
		}
		batch.push(item);
		sum += own;
	}
	if (batch.length > 0) yield batch;
}
