/** A cached result for a content: its thumbnail, that it has none, or that rendering it took too long. */
export type CachedThumbnail = Uint8Array | MissingThumbnail;

export type MissingThumbnail = 'none' | 'late';

/**
 * Keeps pictures by keys of hexadecimal digits that stand for one content. It only saves work: whatever fails in it is a picture that is
 * not kept, and is logged there.
 */
export interface ThumbnailCache {
	get(key: string): Promise<CachedThumbnail | undefined>;
	put(key: string, known: CachedThumbnail): Promise<void>;
}
