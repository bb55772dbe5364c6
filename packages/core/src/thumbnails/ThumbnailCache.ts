/** A cached result for a content: its thumbnail, or that none can be rendered. */
export type Known = Uint8Array | 'none';

/**
 * Keeps pictures by keys of hexadecimal digits that stand for one content. It only saves work: whatever fails in it is a picture that is not kept, and is
 * logged there.
 */
export interface ThumbnailCache {
	get(key: string): Promise<Known | undefined>;
	put(key: string, known: Known): Promise<void>;
}
