/** The most unwritten bytes before the next chunk is requested. */
const maxWaiting = 2 * 1024 * 1024;

/**
 * Passes the body's chunks to `write`, in order, several at once when they arrive faster than they are written. When the body
 * fails, the bytes received by then are written before its error is thrown.
 */
export async function pump(
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
