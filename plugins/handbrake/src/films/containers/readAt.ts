import { read } from 'node:fs';
import { promisify } from 'node:util';

/** Reads bytes from a place of a file on; fewer at its end. */
export type ReadAt = (at: number, length: number) => Promise<Uint8Array>;

const readOnce = promisify(read);

/** Reads an open file. */
export function readerOf(descriptor: number): ReadAt {
	return async (position, length) => {
		const { bytesRead, buffer } = await readOnce(descriptor, { buffer: new Uint8Array(length), position });
		return buffer.subarray(0, bytesRead);
	};
}
