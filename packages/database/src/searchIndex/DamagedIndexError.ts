/** The file of the search index is damaged, or of another version: it is a cache, so it is removed and made anew. */
export class DamagedIndexError extends Error {
	override readonly name = 'DamagedIndexError';
}
