import { hash } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
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
import { ReusedBuffers } from './ReusedBuffers.js';

/**
 * Chunks up to this size are read in place where the kernel has them in memory: the switch to another thread and back takes longer than
 * the reading, and what was just read is sent while it is still in the processor's own memory.
 */
const smallRead = 256 * 1024;

/**
 * After so many bytes that are read at once the event loop goes on. Promises alone don't let it, so a reader that waits
 * for nothing else, such as one that hashes the file, would hold up all other requests, timers and signals until its
 * end: seconds for each gigabyte.
 */
const maxInPlace = 4 * 1024 * 1024;

/** The first chunk of a range that is longer than `smallRead`, and how much larger the next one is. */
const firstRead = 64 * 1024;
const growth = 2;

/** Of the first chunk of a read so much is remembered by its digest, and of how many reads. */
const rememberedBytes = 64 * 1024;
const maxRemembered = 64;

/** What a disk has to bring is read by other threads, so much at once, for as long as few read. */
const largeRead = 1024 * 1024;
const maxLargeReads = 4;

const nothing = new Uint8Array();

/** Memory of all reads under way, for two buffers each. The second one is made where reading means waiting. */
const memory = new MemoryPool(48 * 1024 * 1024, { min: 2 * 64 * 1024, max: 2 * largeRead });
let readsUnderWay = 0;

const buffers = new ReusedBuffers(8 * 1024 * 1024);

/** A regular file, open for reading. It closes its descriptor only when no read uses it any more. */
export class OpenLocalFile implements OpenFile {
	#readers = 0;
	#isClosing = false;
	readonly #closed: Promise<void>;
	#resolveClosed: (closing: Promise<void>) => void = () => {};
	/** How reads began. */
	readonly #beginnings: { at: number; length: number; digest: string }[] = [];
	/** Of each read the chunk that is consumed right now. */
	readonly #lent = new Set<{ readonly at: number; readonly chunk: Uint8Array }>();

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

	read(range?: ByteRange): AsyncGenerator<Uint8Array> {
		return this.#readChunks(range?.start ?? 0, (range?.end ?? this.item.size - 1) + 1);
	}

	/**
	 * The first chunk of a long range is small and each next one larger: who seeks in a film drops most ranges after their first bytes.
	 * They stay small enough to be read in place until one has to come from the disk: then the disk is kept busy, by large chunks that
	 * another thread reads while the one before is consumed, into a second buffer.
	 */
	async *#readChunks(start: number, end: number): AsyncGenerator<Uint8Array> {
		if (this.#isClosing) throw new Error('The file is closed.');
		if (start >= end) return;
		this.#readers++;
		const budget = memory.allocate(2 * Math.min(end - start, readsUnderWay < maxLargeReads ? largeRead : smallRead));
		readsUnderWay++;
		const largest = budget.bytes / 2;
		let size = Math.min(largest, end - start <= smallRead ? smallRead : firstRead);
		let at = start;
		let isInMemory = true;
		let inPlace = 0;
		const readNext = (free?: Buffer): ChunkRead => {
			const length = Math.min(size, end - at);
			if (free !== undefined && free.length < length) buffers.give(free);
			const buffer = free !== undefined && free.length >= length ? free : buffers.take(length);
			const chunk = buffer.subarray(0, length);
			const isInPlace = length <= smallRead && this.disk.readCached(this.fd, chunk, at);
			const reading = isInPlace ? Promise.resolve(chunk) : readExactly(this.fd, chunk, at);
			at += length;
			isInMemory &&= isInPlace;
			size = Math.min(isInMemory ? smallRead : largest, size * growth);
			// It may fail while the chunk before it is still consumed; the error is thrown when it is requested.
			reading.catch(() => {});
			return { buffer, reading, isInPlace };
		};
		let next: ChunkRead | undefined;
		let resting: Buffer | undefined;
		const lent: { at: number; chunk: Uint8Array } = { at: start, chunk: nothing };
		this.#lent.add(lent);
		try {
			next = readNext();
			while (next !== undefined) {
				const chunk = await next.reading;
				const { buffer, isInPlace }: ChunkRead = next;
				inPlace = isInPlace ? inPlace + chunk.length : 0;
				if (inPlace >= maxInPlace) {
					inPlace = 0;
					await nextRound();
				}
				// Not while chunks are small: the next one may not be wanted.
				next = at < end && size === largest && !isInPlace ? readNext(resting) : undefined;
				if (next !== undefined) resting = undefined;
				if (lent.at === start) this.#rememberBeginning(start, chunk);
				lent.chunk = chunk;
				yield chunk;
				lent.chunk = nothing;
				lent.at += chunk.length;
				if (next === undefined && at < end) next = readNext(buffer);
				else if (resting === undefined) resting = buffer;
				else buffers.give(buffer);
			}
			// Those of a reader that stopped before are not used again: they may still be on their way to a socket.
			if (resting !== undefined) buffers.give(resting);
		} finally {
			// The file must not be closed during a read. Its error was thrown above, or is no longer needed.
			await next?.reading.catch(() => {});
			this.#lent.delete(lent);
			budget.release();
			readsUnderWay--;
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

	async isChanged({ mayGrow = false }: { mayGrow?: boolean } = {}): Promise<boolean> {
		if (this.#isClosing) throw new Error('The file is closed.');
		this.#readers++;
		try {
			const { size, mtimeNs } = await this.disk.statOf(this.fd);
			if (mayGrow && size > this.stat.size) return !(await this.#isAsRead());
			return size !== this.stat.size || mtimeNs !== this.stat.mtimeNs;
		} finally {
			this.#readers--;
			this.#closeIfUnused();
		}
	}

	#rememberBeginning(at: number, chunk: Uint8Array): void {
		if (this.#beginnings.length === maxRemembered) return;
		const bytes = chunk.subarray(0, rememberedBytes);
		this.#beginnings.push({ at, length: bytes.length, digest: hash('sha256', bytes, 'base64') });
	}

	/**
	 * Whether the file still has how reads of it began, and the chunks that are consumed right now: one that was written anew may have
	 * become larger as well.
	 */
	async #isAsRead(): Promise<boolean> {
		for (const { at, length, digest } of this.#beginnings) {
			const found = await this.#readAgain(at, length);
			if (found === undefined || hash('sha256', found, 'base64') !== digest) return false;
		}
		for (const lent of this.#lent) {
			const { at, chunk } = lent;
			const found = await this.#readAgain(at, chunk.length);
			// Another reader may go on meanwhile, and its memory is used for the next chunk.
			if (lent.chunk === chunk && !found?.equals(chunk)) return false;
		}
		return true;
	}

	/** Bytes as a new read has them; undefined where the file ends before. */
	async #readAgain(at: number, length: number): Promise<Buffer | undefined> {
		const found = Buffer.allocUnsafe(length);
		return (await readFully(this.fd, found, at)) === length ? found : undefined;
	}

	close(): Promise<void> {
		if (!this.#isClosing) {
			this.#isClosing = true;
			this.#closeIfUnused();
		}
		return this.#closed;
	}

	/** Closes the file. Nothing was written, so on a local disk there is nothing to wait for. */
	async #close(): Promise<void> {
		if (this.disk.isLocal) closeSync(this.fd);
		else await close(this.fd);
	}

	#closeIfUnused(): void {
		if (this.#isClosing && this.#readers === 0) this.#resolveClosed(this.#close());
	}
}

interface ChunkRead {
	buffer: Buffer;
	/** Resolves to the part of the buffer that was filled. */
	reading: Promise<Buffer>;
	/** Whether the bytes were in the kernel's memory, so that no other thread was needed. */
	isInPlace: boolean;
}

async function readExactly(fd: number, buffer: Buffer, position: number): Promise<Buffer> {
	if ((await readFully(fd, buffer, position)) < buffer.length) throw becameShorter();
	return buffer;
}

function becameShorter(): Failure {
	return new Failure('conflict', 'The file became shorter while it was read.');
}
