import { type ArchiveContents, type ArchiveEntry, Failure, type OpenFile } from '@stowage/plugin-api';
import { smallBytes } from './records.js';

/** A content that is ready: a small one as it is, one of more than `smallBytes` open. */
export type Loaded = { bytes: Uint8Array } | { file: OpenFile };

const filesAhead = 16;

/** Opens and reads a bounded number of contents before they are needed, in the order of the archive. */
export class ReadAhead {
	readonly #begun: { loading: Promise<Loaded>; bytes: number }[] = [];
	#bytes = 0;
	#next: number;

	/** Reads the entries from `first` to `last`, and keeps about `budget` bytes in memory. */
	constructor(
		readonly contents: ArchiveContents,
		first: number,
		readonly last: number,
		readonly budget: number,
	) {
		this.#next = first;
	}

	/** The next content, skipping empty ones. The caller closes the file that it takes. */
	take(): Promise<Loaded> {
		this.#begin();
		const first = this.#begun.shift();
		if (first === undefined) throw new Error('There is no content left.');
		this.#bytes -= first.bytes;
		return first.loading;
	}

	/** Closes files that were opened and never taken. */
	async close(): Promise<void> {
		this.#next = Number.POSITIVE_INFINITY;
		for (const { loading } of this.#begun) {
			// A failed one was not opened, and its error is no longer needed.
			const loaded = await loading.catch(() => undefined);
			if (loaded !== undefined && 'file' in loaded) await loaded.file.close();
		}
	}

	#begin(): void {
		for (
			;
			this.#next <= this.last && this.#next < this.contents.count && this.#begun.length < filesAhead;
			this.#next++
		) {
			const entry = this.contents.entry(this.#next);
			if (entry.size === 0) continue;
			const bytes = entry.size > smallBytes ? 0 : entry.size;
			if (this.#begun.length > 0 && this.#bytes + bytes > this.budget) return;
			const loading = load(this.contents, entry);
			// It may fail long before it is taken; the error is thrown then.
			loading.catch(() => {});
			this.#begun.push({ loading, bytes });
			this.#bytes += bytes;
		}
	}
}

async function load(contents: ArchiveContents, entry: ArchiveEntry): Promise<Loaded> {
	const file = await contents.open(entry);
	if (entry.size > smallBytes) return { file };
	try {
		return { bytes: await readWhole(file, entry.size) };
	} finally {
		await file.close();
	}
}

async function readWhole(file: OpenFile, size: number): Promise<Uint8Array> {
	const bytes = await readBytes(file, size);
	if (await file.isChanged()) throw contentChanged();
	return bytes;
}

async function readBytes(file: OpenFile, size: number): Promise<Uint8Array> {
	let bytes: Buffer | undefined;
	let at = 0;
	for await (const chunk of file.read()) {
		// Valid until the next one is requested, which does not happen.
		if (at === 0 && chunk.length === size) return chunk;
		bytes ??= Buffer.allocUnsafe(size);
		bytes.set(chunk, at);
		at += chunk.length;
	}
	if (bytes === undefined || at !== size) throw contentChanged();
	return bytes;
}

export function contentChanged(): Failure {
	return new Failure('conflict', 'A file was changed while it was put into an archive.');
}
