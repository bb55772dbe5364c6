/** The staged files that attempts with one idempotency key publish. */
export interface IdempotencyRecord {
	/** The ids of the staged files, in the order of the request; empty for a file that was removed again. */
	stagedIds: readonly string[];
	/** A new random value, as long as a UUID, for each write of the record. */
	revision: string;
}

/** Idempotency keys by their hash: of several attempts with one key, in any process, one decides what is published. */
export interface IdempotencyStore {
	/** Adds the record unless there is one; resolves to the stored one. */
	putIfAbsent(keyHash: string, record: IdempotencyRecord): Promise<IdempotencyRecord>;
	/** Replaces the record with this revision; resolves to whether it did. */
	replace(keyHash: string, expectedRevision: string, record: IdempotencyRecord): Promise<boolean>;
	/** Forgets those written before the time; resolves to how many. */
	sweep(writtenBefore: number): Promise<number>;
}
