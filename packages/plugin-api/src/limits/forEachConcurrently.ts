/**
 * Works through the items, `limit` at a time. After a failure no more are begun; it is thrown when those under way have
 * ended, so that the caller does not dispose of resources that are still in use.
 */
export async function forEachConcurrently<T>(
	limit: number,
	items: Iterable<T>,
	work: (item: T) => Promise<void>,
): Promise<void> {
	const left = items[Symbol.iterator]();
	let fault: { error: unknown } | undefined;
	async function workOn(): Promise<void> {
		for (let next = left.next(); !next.done && fault === undefined; next = left.next()) {
			try {
				await work(next.value);
			} catch (error) {
				fault ??= { error };
			}
		}
	}
	await Promise.all(Array.from({ length: limit }, workOn));
	if (fault !== undefined) throw fault.error;
}
