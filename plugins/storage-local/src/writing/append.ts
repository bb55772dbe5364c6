import { Failure, rootPath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { ftruncate, writeFully } from '../system/descriptors.js';
import { withFailures } from '../system/systemErrors.js';

/** Bytes after which the disk starts writing: most of the final sync is done when the last byte arrives. */
const writebackBytes = 4 * 1024 * 1024;

/** Writes the body into a staged file from offset `at` on, which must not be past its end. Resolves to the new size. */
export async function appendTo(disk: Disk, fd: number, body: AsyncIterable<Uint8Array>, at: number): Promise<number> {
	const { size } = await disk.statOf(fd);
	if (!Number.isSafeInteger(at) || at < 0 || at > size) {
		throw new Failure('conflict', `The upload holds ${size} bytes so far.`);
	}
	if (at < size) await withFailures(rootPath, () => ftruncate(fd, at));
	const writeback = new Writeback(disk, fd, at);
	let end = at;
	try {
		await pump(body, (chunks) =>
			withFailures(rootPath, async () => {
				await writeFully(fd, chunks, end);
				for (const chunk of chunks) end += chunk.length;
				writeback.advance(end);
			}),
		);
	} finally {
		await writeback.finish();
	}
	// Its time of change, by which it is swept.
	if (end === at) await withFailures(rootPath, () => ftruncate(fd, at));
	return end;
}

/** Writes bytes to the disk in the background, one range at a time. */
class Writeback {
	#running: Promise<void> | undefined;

	constructor(
		readonly disk: Disk,
		readonly fd: number,
		private begun: number,
	) {}

	advance(end: number): void {
		if (this.#running !== undefined || end - this.begun < writebackBytes) return;
		const from = this.begun;
		this.begun = end;
		// Only a hint: the sync that a caller waits for reports errors.
		this.#running = this.disk.calls
			.startWriteback(this.fd, from, end - from)
			.catch(() => {})
			.finally(() => {
				this.#running = undefined;
			});
	}

	/** Resolves when the descriptor is not in use any more. */
	async finish(): Promise<void> {
		await this.#running;
	}
}

/** The most unwritten bytes before the next chunk is requested. */
const maxWaiting = 2 * 1024 * 1024;

/**
 * Passes the body's chunks to `write`, in order, several at once when they arrive faster than they are written. When the body
 * fails, the bytes received by then are written before its error is thrown.
 */
async function pump(
	body: AsyncIterable<Uint8Array>,
	write: (chunks: readonly Uint8Array[]) => Promise<void>,
): Promise<void> {
	let waiting: Uint8Array[] = [];
	let waitingBytes = 0;
	let writing: Promise<void> | undefined;
	let fault: { error: unknown } | undefined;

	async function writeWaiting(): Promise<void> {
		while (waiting.length > 0 && fault === undefined) {
			const chunks = waiting;
			waiting = [];
			waitingBytes = 0;
			await write(chunks).catch((error: unknown) => {
				fault = { error };
			});
		}
		writing = undefined;
	}

	try {
		for await (const chunk of body) {
			if (chunk.length === 0) continue;
			waiting.push(chunk);
			waitingBytes += chunk.length;
			writing ??= writeWaiting();
			if (waitingBytes >= maxWaiting) await writing;
			if (fault !== undefined) break;
		}
	} finally {
		await writing;
	}
	if (fault !== undefined) throw fault.error;
}
