/** What is known, or being read, by a key: it is read once. */
export function once<Key, T>(known: Map<Key, Promise<T>>, key: Key, read: () => Promise<T>): Promise<T> {
	const found = known.get(key) ?? read();
	known.set(key, found);
	return found;
}
