import type { ByteRange, OpenFile, StorageItem } from '@stowage/plugin-api';
import { close, fstat, readFully } from './descriptors.js';

const largestChunk = 1024 * 1024;
const smallestChunk = 64 * 1024;

/** What all reads under way may take together; the more there are, the smaller their chunks. */
const memoryForReads = 64 * 1024 * 1024;

let readsUnderWay = 0;

/** A regular file, open for reading. It closes its descriptor only when no read uses it any more. */
export class OpenLocalFile implements OpenFile {
	#readers = 0;
	#isClosing = false;
	readonly #closed: Promise<void>;
	#settleClosed: (closing: Promise<void>) => void = () => {};

	constructor(
		readonly fd: number,
		readonly item: StorageItem,
		private readonly mtimeNs: bigint,
	) {
		this.#closed = new Promise((resolve) => {
			this.#settleClosed = resolve;
		});
	}

	async *read(range?: ByteRange): AsyncGenerator<Uint8Array> {
		if (this.#isClosing) throw new Error('The file is closed.');
		this.#readers++;
		readsUnderWay++;
		try {
			yield* readChunks(this.fd, range?.start ?? 0, (range?.end ?? this.item.size - 1) + 1);
		} finally {
			readsUnderWay--;
			this.#readers--;
			this.#closeIfUnused();
		}
	}

	async isChanged(): Promise<boolean> {
		if (this.#isClosing) throw new Error('The file is closed.');
		this.#readers++;
		try {
			const { size, mtimeNs } = await fstat(this.fd);
			return Number(size) !== this.item.size || mtimeNs !== this.mtimeNs;
		} finally {
			this.#readers--;
			this.#closeIfUnused();
		}
	}

	close(): Promise<void> {
		if (!this.#isClosing) {
			this.#isClosing = true;
			this.#closeIfUnused();
		}
		return this.#closed;
	}

	#closeIfUnused(): void {
		if (this.#isClosing && this.#readers === 0) this.#settleClosed(close(this.fd));
	}
}

/** Two buffers in turn: the next chunk is read while the last one is consumed. */
async function* readChunks(fd: number, start: number, end: number): AsyncGenerator<Uint8Array> {
	if (start >= end) return;
	const size = Math.min(end - start, chunkSize());
	let filling = Buffer.allocUnsafe(size);
	let resting = end - start > size ? Buffer.allocUnsafe(Math.min(size, end - start - size)) : undefined;
	let at = start;
	let pending = readAhead(fd, filling.subarray(0, Math.min(size, end - at)), at);
	try {
		while (at < end) {
			const chunk = await pending;
			at += chunk.length;
			if (at < end && resting !== undefined) {
				const free = resting;
				resting = filling;
				filling = free;
				pending = readAhead(fd, filling.subarray(0, Math.min(size, end - at)), at);
			}
			yield chunk;
		}
	} finally {
		// Whoever closes the file after us must not do so under a running read.
		await pending.catch(() => {});
	}
}

function readAhead(fd: number, buffer: Buffer, position: number): Promise<Buffer> {
	const reading = readExactly(fd, buffer, position);
	// It may fail while the chunk before it is still consumed; whoever asks for it gets the error then.
	reading.catch(() => {});
	return reading;
}

async function readExactly(fd: number, buffer: Buffer, position: number): Promise<Buffer> {
	if ((await readFully(fd, buffer, position)) < buffer.length) {
		throw new Error('The file became shorter while it was read.');
	}
	return buffer;
}

function chunkSize(): number {
	const share = memoryForReads / 2 / readsUnderWay;
	return Math.max(smallestChunk, Math.min(largestChunk, 2 ** Math.floor(Math.log2(share))));
}
