import type { PreviewKind } from '@stowage/rules';
import type { ByteRange, LocalFile } from '../storage/storage.js';

/** The longest edge of a picture, in pixels: 256 for the grid, 2048 for the preview. */
export type PictureSize = 256 | 2048;

/** The content of which a picture is made. */
export interface RenderSource {
	/** The kind of the file by its first bytes and its name; the bytes take precedence. */
	readonly kind: PreviewKind | 'unknown';
	/** The kind by the first bytes alone; undefined where they show none. */
	readonly contentKind: PreviewKind | undefined;
	/**
	 * Identifies whose file it is, and in which folder, into which members and guests may put files as well. A process that decoded files
	 * of one owner must not be given those of another: a hostile one would see them.
	 */
	readonly owner: string;
	/** The extension in lower case and without its dot; `''` where there is none. */
	readonly extension: string;
	/** Bytes. */
	readonly size: number;
	/** Yields the bytes of the range, all of them by default. A chunk is valid until the next one is requested. */
	read(range?: ByteRange): AsyncIterable<Uint8Array>;
	/**
	 * Lends the content as an open descriptor for a program of its own, until `use` has settled. If the storage has none, it is that of a
	 * temporary copy; a file too large for that throws `unsupportedMediaType`.
	 */
	withLocalFile<T>(use: (file: LocalFile) => Promise<T>): Promise<T>;
}

/**
 * Makes pictures of files. The server checks permissions, bounds the number of concurrent calls and caches the results. Files are
 * untrusted: the code that decodes them belongs into a child process with limits, in a sandbox (`findSandbox`).
 */
export interface Renderer {
	/** Must be changed whenever the same file is rendered differently; cached pictures of another version are not used. */
	readonly version: string;
	/**
	 * Extensions in lower case and without their dots, for which the page requests a picture, besides those of images,
	 * videos and PDFs.
	 */
	readonly extensions?: readonly string[];
	/**
	 * Whether it is for such files, also while it can render none: then `render` throws `unavailable`. Of several renderers the one that was
	 * registered last is called first.
	 */
	accepts(kind: PreviewKind | 'unknown', extension: string): boolean;
	/**
	 * Resolves to a picture in the format WebP that has at most `size` pixels at either edge. Throws `unsupportedMediaType` for a file of
	 * which it can make none, which is remembered, and `unavailable` where it is not the file's fault: that is tried again. Stops when the
	 * signal fires: no client waits any longer, or it took too long. That it did is remembered as well, unless it throws `unavailable`
	 * then, as where no decoder had begun.
	 */
	render(source: RenderSource, size: PictureSize, signal: AbortSignal): Promise<Uint8Array>;
}
