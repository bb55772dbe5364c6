/** The items in batches of at most so many. */
export function* batchesOf<T>(items: readonly T[], size: number): Generator<T[]> {
	for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
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
