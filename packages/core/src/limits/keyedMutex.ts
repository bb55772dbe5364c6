/** A keyed mutex: runs work of the same key one after another, in the order of the calls. A failure does not stop the work behind it. */
export function createKeyedMutex(): <T>(key: string, work: () => Promise<T>) => Promise<T> {
	const last = new Map<string, Promise<unknown>>();
	return async (key, work) => {
		const before = last.get(key) ?? Promise.resolve();
		const own = before.then(work, work);
		last.set(key, own);
		try {
			return await own;
		} finally {
			if (last.get(key) === own) last.delete(key);
		}
	};
}
