/** Smaller ones cost the collector little, and are made in a moment. */
const smallest = 64 * 1024;

/** Unused for this long, buffers are left to the collector. */
const idleMs = 5_000;

/**
 * Buffers that one read leaves for the next. New memory for each would be garbage of the collector, which goes through the whole heap
 * for every 32 MB of it, and the system would have to clear its pages.
 */
export class ReusedBuffers {
	/** Unused buffers by their size, a power of two. */
	readonly #free = new Map<number, Buffer[]>();
	readonly #maxBytes: number;
	#bytes = 0;
	#isUsed = false;
	#timer: NodeJS.Timeout | undefined;

	/** Keeps at most so many bytes. */
	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	/** Takes a buffer of at least `length` bytes with any content: the caller writes before it reads. */
	take(length: number): Buffer {
		if (length < smallest) return Buffer.allocUnsafe(length);
		const size = 2 ** Math.ceil(Math.log2(length));
		const buffer = this.#free.get(size)?.pop();
		if (buffer === undefined) return Buffer.allocUnsafeSlow(size);
		this.#bytes -= size;
		this.#isUsed = true;
		return buffer;
	}

	/** Returns a buffer from `take`, which nobody reads or writes any more. */
	give(buffer: Buffer): void {
		const size = buffer.length;
		if (size < smallest || this.#bytes + size > this.#maxBytes) return;
		const free = this.#free.get(size);
		if (free === undefined) this.#free.set(size, [buffer]);
		else free.push(buffer);
		this.#bytes += size;
		this.#timer ??= setInterval(() => this.#forgetUnused(), idleMs).unref();
	}

	#forgetUnused(): void {
		if (this.#isUsed) {
			this.#isUsed = false;
			return;
		}
		this.#free.clear();
		this.#bytes = 0;
		clearInterval(this.#timer);
		this.#timer = undefined;
	}
}
