import type { ByteRange } from '@stowage/plugin-api';

const nothing = new Uint8Array();

/** Collects many small parts of an archive in one buffer, and cuts off those outside of the requested range. */
export class Output {
	/** The offset of the next part in the archive. */
	position: number;
	#filled = 0;
	#buffer: Buffer | undefined;

	/** Any part up to `largestPart` fits as long as the buffer is not full. */
	constructor(
		readonly range: ByteRange,
		position: number,
		readonly fullBytes: number,
		readonly largestPart: number,
	) {
		this.position = position;
	}

	get isFull(): boolean {
		return this.#filled >= this.fullBytes;
	}

	get isEmpty(): boolean {
		return this.#filled === 0;
	}

	/** Whether the end of the range is reached. */
	get isOver(): boolean {
		return this.position > this.range.end;
	}

	put(part: Uint8Array): void {
		const wanted = this.cut(part);
		this.#buffer ??= Buffer.allocUnsafe(this.fullBytes + this.largestPart);
		this.#buffer.set(wanted, this.#filled);
		this.#filled += wanted.length;
	}

	/** The part of the next chunk within the range; it bypasses the buffer. */
	cut(part: Uint8Array): Uint8Array {
		const from = Math.max(0, this.range.start - this.position);
		const to = Math.min(part.length, this.range.end + 1 - this.position);
		this.position += part.length;
		return from === 0 && to === part.length ? part : part.subarray(from, Math.max(from, to));
	}

	/** The buffered bytes; valid until the next part is put. */
	take(): Uint8Array {
		const gathered = this.#buffer?.subarray(0, this.#filled) ?? nothing;
		this.#filled = 0;
		return gathered;
	}

	/** The last buffered bytes; nothing is kept until the next part is put. */
	takeLast(): Uint8Array {
		const gathered = this.take();
		this.#buffer = undefined;
		return gathered;
	}
}
