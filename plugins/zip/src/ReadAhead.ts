import { type ArchiveContents, type ArchiveEntry, Failure, type OpenFile } from '@stowage/plugin-api';
import { smallBytes } from './records.js';

/** A content that is ready: a small one as it is until the next one is taken, one of more than `smallBytes` open. */
export type Loaded = { bytes: Uint8Array } | { file: OpenFile };

/** Two batches are under way: one that is taken, and the next one. */
const batchesAhead = 2;
const filesOfBatch = 16;

/** Opens and reads a bounded number of contents before they are needed, in the order of the archive. */
export class ReadAhead {
	readonly #batches: Batch[] = [];
	/** The last one, as long as its last content may be in use. */
	#taken: Batch | undefined;
	readonly #unused: Buffer[] = [];
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

	/** The next content, skipping empty ones: at once where it is there. The caller closes the file that it takes. */
	take(): Loaded | Promise<Loaded> {
		if (this.#taken !== undefined) this.#unused.push(this.#taken.memory);
		this.#taken = undefined;
		while (this.#batches.length < batchesAhead && this.#begin());
		const [batch] = this.#batches;
		if (batch === undefined) throw new Error('There is no content left.');
		const loaded = batch.take();
		if (batch.isTaken) this.#taken = this.#batches.shift();
		return loaded;
	}

	/** Closes files that were opened and never taken. */
	async close(): Promise<void> {
		this.#next = Number.POSITIVE_INFINITY;
		for (const batch of this.#batches) await batch.close();
	}

	/** Begins the next batch. Returns whether there is one. */
	#begin(): boolean {
		const size = Math.floor(this.budget / batchesAhead);
		const entries: ArchiveEntry[] = [];
		let bytes = 0;
		const last = Math.min(this.last, this.contents.count - 1);
		for (; this.#next <= last && entries.length < filesOfBatch; this.#next++) {
			const entry = this.contents.entry(this.#next);
			if (entry.size === 0) continue;
			if (isSmall(entry)) bytes += entry.size;
			if (entries.length > 0 && bytes > size) break;
			entries.push(entry);
		}
		if (entries.length === 0) return false;
		this.#batches.push(new Batch(this.contents, entries, this.#unused.pop() ?? Buffer.allocUnsafeSlow(size)));
		return true;
	}
}

/** Contents that are read together, the small ones into the given memory. */
class Batch {
	/** Once it is known which have to be opened. */
	#loaded: readonly (Loaded | Promise<Loaded>)[] | undefined;
	readonly #loading: Promise<readonly (Loaded | Promise<Loaded>)[]>;
	#next = 0;

	constructor(
		readonly contents: ArchiveContents,
		readonly entries: readonly ArchiveEntry[],
		readonly memory: Buffer,
	) {
		this.#loading = this.#load();
		// It may fail long before it is taken; the error is thrown then.
		this.#loading.catch(() => {});
	}

	get isTaken(): boolean {
		return this.#next === this.entries.length;
	}

	take(): Loaded | Promise<Loaded> {
		const index = this.#next++;
		if (this.#loaded !== undefined) return this.#loaded[index] as Loaded | Promise<Loaded>;
		return this.#loading.then((loaded) => loaded[index] as Loaded | Promise<Loaded>);
	}

	/** Closes the files that were not taken. */
	async close(): Promise<void> {
		// What failed was not opened, and its error is no longer needed.
		const left = (await this.#loading.catch(() => [])).slice(this.#next);
		for (const loading of left) {
			const loaded = await Promise.resolve(loading).catch(() => undefined);
			if (loaded !== undefined && 'file' in loaded) await loaded.file.close();
		}
	}

	async #load(): Promise<readonly (Loaded | Promise<Loaded>)[]> {
		const small = this.entries.filter(isSmall);
		const read = small.length === 0 ? [] : await this.contents.readSmall(small, this.memory);
		let at = 0;
		this.#loaded = this.entries.map((entry) => {
			const bytes = isSmall(entry) ? read[at++] : undefined;
			if (bytes !== undefined) return { bytes };
			const loading = open(this.contents, entry);
			loading.catch(() => {});
			return loading;
		});
		return this.#loaded;
	}
}

function isSmall({ size }: ArchiveEntry): boolean {
	return size <= smallBytes;
}

async function open(contents: ArchiveContents, entry: ArchiveEntry): Promise<Loaded> {
	const file = await contents.open(entry);
	if (!isSmall(entry)) return { file };
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
