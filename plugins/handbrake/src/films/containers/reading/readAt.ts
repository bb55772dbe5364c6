import { read } from 'node:fs';
import { promisify } from 'node:util';

/** Reads bytes from a place of a file on; fewer at its end. */
export type ReadAt = (at: number, length: number) => Promise<Uint8Array>;

const readOnce = promisify(read);

/** Reads an open file. */
export function readerOf(descriptor: number): (at: number, length: number) => Promise<Buffer> {
	return async (at, length) => {
		const buffer = Buffer.alloc(length);
		let filled = 0;
		// Some systems give less at once than there is, which would be taken for the end of the file.
		for (let bytesRead = -1; bytesRead !== 0 && filled < length; filled += bytesRead) {
			({ bytesRead } = await readOnce(descriptor, buffer, filled, length - filled, at + filled));
		}
		return buffer.subarray(0, filled);
	};
}

/** What is found in an open file; undefined where the system can't read it any more, such as on a disk that fails. */
export async function unlessUnreadable<T>(found: Promise<T>): Promise<T | undefined> {
	return found.catch((error: unknown) => {
		if ((error as NodeJS.ErrnoException).syscall !== 'read') throw error;
		return undefined;
	});
}
