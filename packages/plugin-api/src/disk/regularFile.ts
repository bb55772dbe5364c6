import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import { type FileHandle, open as openHere, stat } from 'node:fs/promises';

/** Something else lies in the place of a file, such as a named pipe, at which whoever opens it would wait for ever. */
export class NoRegularFileError extends Error {
	constructor(
		readonly path: string,
		found: string,
		options?: ErrorOptions,
	) {
		super(`${path} can't be used: ${found} lies there in place of a file. Remove it.`, options);
		this.name = 'NoRegularFileError';
	}
}

interface OpenOptions {
	/** A link in the place of the file is followed. */
	followsLink?: boolean;
	/** The permission bits of a file that is created. */
	mode?: number;
	open?: typeof openHere;
}

/**
 * Opens a file without waiting: whoever may write to its folder may have put something else there. `flags` are those of open(2). Throws
 * NoRegularFileError for anything but a file, and what the system says.
 */
export async function openRegularFile(
	path: string,
	flags: number,
	{ followsLink = false, mode = 0o600, open = openHere }: OpenOptions = {},
): Promise<FileHandle> {
	const nofollow = followsLink ? 0 : constants.O_NOFOLLOW;
	const handle = await open(path, flags | constants.O_NONBLOCK | nofollow, mode).catch(async (cause: unknown) => {
		const { code } = cause as NodeJS.ErrnoException;
		if (code === 'ELOOP' && !followsLink) throw new NoRegularFileError(path, 'a link', { cause });
		// By its owner, with a lease: without O_NONBLOCK the system would wait for that one.
		if (code === 'EAGAIN') throw new NoRegularFileError(path, 'one that another program holds', { cause });
		// A socket, a pipe that nobody reads, a device that is not there, a folder that was to be written.
		if (code !== 'ENXIO' && code !== 'ENODEV' && code !== 'EISDIR') throw cause;
		throw new NoRegularFileError(path, kindOf(await stat(path)), { cause });
	});
	try {
		const found = await handle.stat();
		if (!found.isFile()) throw new NoRegularFileError(path, kindOf(found));
		return handle;
	} catch (error) {
		await handle.close();
		throw error;
	}
}

/** Reads a small file as `openRegularFile` opens it. Throws NoRegularFileError also for one of more than `maxBytes`. */
export async function readRegularFile(
	path: string,
	{ maxBytes, ...options }: { maxBytes: number } & Pick<OpenOptions, 'followsLink'>,
): Promise<Buffer> {
	const handle = await openRegularFile(path, constants.O_RDONLY, options);
	try {
		const buffer = Buffer.alloc(maxBytes + 1);
		let length = 0;
		for (;;) {
			const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
			length += bytesRead;
			if (length > maxBytes) throw new NoRegularFileError(path, `one of more than ${maxBytes} bytes`);
			if (bytesRead === 0) return buffer.subarray(0, length);
		}
	} finally {
		await handle.close();
	}
}

/** Makes a file for its owner alone, or writes another text into the one that is there. Throws as `openRegularFile` does. */
export async function writeRegularFile(path: string, text: string): Promise<void> {
	const handle = await openRegularFile(path, constants.O_WRONLY | constants.O_CREAT);
	try {
		await handle.truncate();
		await handle.writeFile(text);
	} finally {
		await handle.close();
	}
}

function kindOf(found: Stats): string {
	if (found.isFIFO()) return 'a named pipe';
	if (found.isSocket()) return 'a socket';
	if (found.isDirectory()) return 'a folder';
	return found.isFile() ? 'a file' : 'a device';
}
