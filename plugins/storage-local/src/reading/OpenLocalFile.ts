import {
	type ByteRange,
	Failure,
	type LocalFile,
	MemoryPool,
	type OpenFile,
	type StorageItem,
} from '@stowage/plugin-api';
import type { Disk } from '../root/Disk.js';
import { close, closeSync, readFully, readvFully } from '../system/descriptors.js';
import type { FileStat } from '../system/fileStat.js';

/** Up to this size the switch to another thread and back takes longer than the reading. */
const smallRead = 64 * 1024;

/** Memory of all reads under way, two buffers each. */
const memory = new MemoryPool(32 * 1024 * 1024, { min: 2 * 64 * 1024, max: 2 * 1024 * 1024 });

/** A regular file, open for reading. It closes its descriptor only when no read uses it any more. */
export class OpenLocalFile implements OpenFile {
	#readers = 0;
	#isClosing = false;
	readonly #closed: Promise<void>;
	#resolveClosed: (closing: Promise<void>) => void = () => {};

	constructor(
		readonly fd: number,
		readonly item: StorageItem,
		private readonly stat: FileStat,
		private readonly disk: Disk,
	) {
		this.#closed = new Promise((resolve) => {
			this.#resolveClosed = resolve;
		});
	}

	async *read(range?: ByteRange): AsyncGenerator<Uint8Array> {
		if (this.#isClosing) throw new Error('The file is closed.');
		this.#readers++;
		try {
			yield* readChunks(this.disk, this.fd, range?.start ?? 0, (range?.end ?? this.item.size - 1) + 1);
		} finally {
			this.#readers--;
			this.#closeIfUnused();
		}
	}

	async readInto(buffers: readonly Uint8Array[], position: number): Promise<void> {
		if (this.#isClosing) throw new Error('The file is closed.');
		this.#readers++;
		try {
			const wanted = buffers.reduce((sum, { length }) => sum + length, 0);
			if ((await readvFully(this.fd, buffers, position)) < wanted) throw becameShorter();
		} finally {
			this.#readers--;
			this.#closeIfUnused();
		}
	}

	async withLocalFile<T>(use: (file: LocalFile) => Promise<T>): Promise<T> {
		if (this.#isClosing) throw new Error('The file is closed.');
		this.#readers++;
		try {
			return await use({ descriptor: this.fd });
		} finally {
			this.#readers--;
			this.#closeIfUnused();
		}
	}

	async isChanged(): Promise<boolean> {
		if (this.#isClosing) throw new Error('The file is closed.');
		this.#readers++;
		try {
			const { size, mtimeNs } = await this.disk.statOf(this.fd);
			return size !== this.stat.size || mtimeNs !== this.stat.mtimeNs;
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

	/** Nothing was written, so on a local disk there is nothing to wait for. */
	async #close(): Promise<void> {
		if (this.disk.isLocal) closeSync(this.fd);
		else await close(this.fd);
	}

	#closeIfUnused(): void {
		if (this.#isClosing && this.#readers === 0) this.#resolveClosed(this.#close());
	}
}

/** Two alternating buffers: the next chunk is read while the last one is consumed. */
async function* readChunks(disk: Disk, fd: number, start: number, end: number): AsyncGenerator<Uint8Array> {
	if (start >= end) return;
	const lent = memory.allocate(2 * (end - start));
	const size = lent.bytes / 2;
	let filling = Buffer.allocUnsafe(size);
	let resting = end - start > size ? Buffer.allocUnsafe(Math.min(size, end - start - size)) : undefined;
	let at = start;
	let pending = readAhead(disk, fd, filling.subarray(0, Math.min(size, end - at)), at);
	try {
		while (at < end) {
			const chunk = await pending;
			at += chunk.length;
			if (at < end && resting !== undefined) {
				const free = resting;
				resting = filling;
				filling = free;
				pending = readAhead(disk, fd, filling.subarray(0, Math.min(size, end - at)), at);
			}
			yield chunk;
		}
	} finally {
		// The file must not be closed during a read. Its error was thrown above, or is no longer needed.
		await pending.catch(() => {});
		lent.release();
	}
}

function readAhead(disk: Disk, fd: number, buffer: Buffer, position: number): Promise<Buffer> {
	const reading = readExactly(disk, fd, buffer, position);
	// It may fail while the chunk before it is still consumed; the error is thrown when it is requested.
	reading.catch(() => {});
	return reading;
}

async function readExactly(disk: Disk, fd: number, buffer: Buffer, position: number): Promise<Buffer> {
	if (buffer.length <= smallRead && disk.readCached(fd, buffer, position)) return buffer;
	if ((await readFully(fd, buffer, position)) < buffer.length) throw becameShorter();
	return buffer;
}

function becameShorter(): Failure {
	return new Failure('conflict', 'The file became shorter while it was read.');
}
