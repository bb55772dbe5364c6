import type { OpenFile } from '@stowage/plugin-api';
import type { Blocks } from './storedBlocks.js';

/** A part of a stream of stored blocks, and the parts of content in it. Valid until the next one is requested. */
export interface Framed {
	bytes: Uint8Array;
	contents: readonly Uint8Array[];
}

/**
 * Reads the content from `from` up to `to` straight into its place between the headers of its blocks, so that it is copied nowhere.
 * `blocks` begins with the one that holds `from` and ends with the first one that has no content before `to`. Two alternating buffers:
 * one is filled while the other is consumed.
 */
export async function* readFramed(
	readInto: NonNullable<OpenFile['readInto']>,
	blocks: Blocks,
	from: number,
	to: number,
	bufferBytes: number,
): AsyncGenerator<Framed> {
	let at = from;
	const begin = (buffer: Buffer) => {
		const framed = frame(blocks, buffer, at, to);
		const done = readInto(framed.contents, at);
		// It may fail while the one before it is still consumed; the error is thrown when it is requested.
		done.catch(() => {});
		for (const { length } of framed.contents) at += length;
		return { framed, done, buffer };
	};
	let spare: Buffer = Buffer.allocUnsafe(bufferBytes);
	let reading = begin(Buffer.allocUnsafe(bufferBytes));
	try {
		for (;;) {
			const { framed, done, buffer } = reading;
			await done;
			const isLast = at === to;
			if (!isLast) reading = begin(spare);
			spare = buffer;
			yield framed;
			if (isLast) return;
		}
	} finally {
		// The file must not be closed during a read. Its error was thrown above, or is no longer needed.
		await reading.done.catch(() => {});
	}
}

/** Takes as many whole blocks as fit between `from` and `to`, with their headers in place. */
function frame(blocks: Blocks, buffer: Buffer, from: number, to: number): Framed {
	const contents: Uint8Array[] = [];
	let filled = 0;
	let at = from;
	for (let block = blocks.next; block !== undefined && at < to; block = blocks.next) {
		const headerBytes = at === block.contentStart ? block.header.length : 0;
		const length = Math.min(block.contentEnd, to) - at;
		if (filled + headerBytes + length > buffer.length) break;
		if (headerBytes > 0) buffer.set(block.header, filled);
		contents.push(buffer.subarray(filled + headerBytes, filled + headerBytes + length));
		filled += headerBytes + length;
		at += length;
		if (at === block.contentEnd) blocks.advance();
	}
	return { bytes: buffer.subarray(0, filled), contents };
}
