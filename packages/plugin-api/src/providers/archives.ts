import type { Turn } from '../limits/Yielder.js';
import type { ByteRange, OpenFile } from '../storage/storage.js';

/** A file or folder of an archive. */
export interface ArchiveEntry {
	/** Its path in the archive: segments joined by `/`, none at the end. */
	readonly name: string;
	readonly type: 'file' | 'directory';
	/** Bytes; 0 for a folder. */
	readonly size: number;
	/** Milliseconds since the epoch. */
	readonly mtime: number;
	/** Another content has another key, in whatever archive. */
	readonly contentKey: string;
}

/** The content of an archive, in its order. */
export interface ArchiveContents<Entry extends ArchiveEntry = ArchiveEntry> {
	readonly count: number;
	/** The entry at an index, created at each call: as objects, a hundred thousand of them fill a server's memory. */
	entry(index: number): Entry;
	/** Opens a file with the content that its entry was made for, else it fails. The caller closes it. */
	open(entry: Entry): Promise<OpenFile>;
	/**
	 * The contents of small files with the content that their entries were made for, in their order and parts of `into`;
	 * undefined for each that has to be opened.
	 */
	readSmall(entries: readonly Entry[], into: Buffer): Promise<readonly (Uint8Array | undefined)[]>;
	/**
	 * Runs work that reads contents and sends none of them, once its client is served: it is not paced by a download. Work that takes long
	 * is to pass its turn.
	 */
	throttle<T>(work: (turn: Turn) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** An archive that is made while it is read. */
export interface Archive {
	/** Bytes, exact. */
	readonly size: number;
	/**
	 * Yields the bytes of the range, all of them by default, and fails if a content fails or changes. A chunk is valid until the next one
	 * is requested. With the signal it ends also between two chunks.
	 */
	read(range?: ByteRange, signal?: AbortSignal): AsyncIterable<Uint8Array>;
}

/** An archive format. */
export interface ArchiveFormat {
	/** Changes with whatever makes other bytes from the same contents. */
	readonly version: string;
	/** Bytes of memory that an archive under way takes for each of its entries, besides the list of the contents. */
	readonly bytesPerEntry: number;
	/** Makes an archive. Equal contents give equal bytes on every server at any time. A file is opened when it is read. */
	archive<Entry extends ArchiveEntry>(contents: ArchiveContents<Entry>, signal?: AbortSignal): Promise<Archive>;
}
