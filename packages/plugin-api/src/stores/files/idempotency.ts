/** Which staged files the tries with one idempotency key publish. */
export interface IdempotencyRecord {
	/** In the order of the request; empty for one that was taken back. */
	stagedIds: readonly string[];
	/** Another one, as long as a UUID, for each time that the record is written. */
	revision: string;
}

/** Idempotency keys by their hash: of several attempts with one key, in any process, one decides what is published. */
export interface IdempotencyStore {
	/** Adds the record unless there is one; resolves to the one that there is then. */
	claim(keyHash: string, record: IdempotencyRecord): Promise<IdempotencyRecord>;
	/** Replaces the record that the caller has seen; resolves to whether it was still that one. */
	replace(keyHash: string, seenRevision: string, record: IdempotencyRecord): Promise<boolean>;
	/** Forgets those written before the time; resolves to how many. */
	sweep(writtenBefore: number): Promise<number>;
}
