/** The names of staged files that are about to be published under another name than the wished one. */
export interface PublishedNameStore {
	/** Replaces the name that the staged file had here. */
	set(stagedId: string, name: string): Promise<void>;
	find(stagedId: string): Promise<string | undefined>;
	/** Forgets those set before the time; resolves to how many. */
	sweep(setBefore: number): Promise<number>;
}
