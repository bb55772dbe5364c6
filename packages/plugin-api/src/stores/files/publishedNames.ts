/** Names under which staged files are about to be published that could not get the one they wished. */
export interface PublishedNameStore {
	/** Replaces what was noted. */
	note(stagedId: string, name: string): Promise<void>;
	find(stagedId: string): Promise<string | undefined>;
	/** Forgets those noted before the time; resolves to how many. */
	sweep(notedBefore: number): Promise<number>;
}
