/** Names under which staged files are about to be published that could not get the one they wished. */
export interface PublishedNameStore {
	/** Replaces the name that the staged file had here. */
	set(stagedId: string, name: string): Promise<void>;
	find(stagedId: string): Promise<string | undefined>;
	/** Forgets those set before the time; resolves to how many. */
	sweep(setBefore: number): Promise<number>;
}
