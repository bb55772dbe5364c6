import { write } from 'node:fs';
import { promisify } from 'node:util';

export const writeOnce = promisify(write);

/** Bytes that take the place of as many in a file. */
export interface Patch {
	at: number;
	bytes: Buffer;
}

/** Writes patches into an open file. Where it can't be read or written, it stays as it is. */
export async function applyPatches(descriptor: number, found: Promise<readonly Patch[]>): Promise<void> {
	try {
		for (const { at, bytes } of await found) await writeOnce(descriptor, bytes, 0, bytes.length, at);
	} catch (error) {
		if (!['read', 'write'].includes((error as NodeJS.ErrnoException).syscall ?? '')) throw error;
	}
}
