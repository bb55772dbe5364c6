/** A cached result for a content: its thumbnail, or that none can be rendered. */
export type CachedThumbnail = Uint8Array | 'none';

/**
 * Keeps pictures by keys of hexadecimal digits that stand for one content. It only saves work: whatever fails in it is a picture that is
 * not kept, and is logged there.
 */
export interface ThumbnailCache {
	get(key: string): Promise<CachedThumbnail | undefined>;
	put(key: string, known: CachedThumbnail): Promise<void>;
}
