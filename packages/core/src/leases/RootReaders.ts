/** The processes that serve over one database, as far as they say which list of storage roots they have read. */
export interface RootReaders {
	/** Says for this process which list it has read, by its digest. */
	noteRoots(digest: string): Promise<void>;
	/** Names, for the administrator, of the others that have read another list. */
	withOtherRoots(digest: string): Promise<string[]>;
}
