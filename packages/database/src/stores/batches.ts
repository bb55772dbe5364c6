/** Rows of one statement: a database limits the number of its values. */
const batchSize = 200;

/** The items in batches of a size that one statement can bear. */
export function* batches<T>(items: readonly T[], size = batchSize): Generator<T[]> {
	for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
