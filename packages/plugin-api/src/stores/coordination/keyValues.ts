/**
 * Small values of one part of the server, such as a plugin, shared by all processes and kept through restarts. Values
 * can be any JSON.
 */
export interface KeyValueStore {
	/** The value of a key, which the caller parses; undefined for one that was never set, was removed or has expired. */
	get(key: string): Promise<unknown>;
	/** The values that exist, by their keys. */
	getMany(keys: readonly string[]): Promise<Map<string, unknown>>;
	/** Sets or replaces the value. It expires after `ttlMs`. */
	set(key: string, value: unknown, ttlMs: number): Promise<void>;
	setMany(values: ReadonlyMap<string, unknown>, ttlMs: number): Promise<void>;
	/** Resolves to whether the row existed, so that of two concurrent calls one succeeds. */
	remove(key: string): Promise<boolean>;
}
