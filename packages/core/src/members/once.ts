/** A `Map`, or a `PathMap` where keys have paths, which may be long. */
interface Known<Key, Value> {
	get(key: Key): Value | undefined;
	set(key: Key, value: Value): unknown;
}

/** What is known, or being read, by a key: it is read once. */
export function once<Key, T>(known: Known<Key, Promise<T>>, key: Key, read: () => Promise<T>): Promise<T> {
	const found = known.get(key) ?? read();
	known.set(key, found);
	return found;
}
