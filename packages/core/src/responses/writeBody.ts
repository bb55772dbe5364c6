import type { ServerResponse } from 'node:http';

/**
 * Writes chunks one by one, each only after the one before has left the process, so that their buffers can be used again and a slow
 * reader costs a socket and no memory. Throws ClientGone when the client disconnects.
 */
export async function writeBody(
	response: ServerResponse,
	chunks: AsyncIterable<Uint8Array>,
	beforeLast?: BeforeLast,
): Promise<void> {
	let left = beforeLast?.length ?? Number.POSITIVE_INFINITY;
	for await (const chunk of chunks) {
		left -= chunk.length;
		if (left <= 0) await beforeLast?.check();
		await writeChunk(response, chunk);
	}
}

/** What is asked before the last chunk of a body of that length; an error keeps it back. */
export interface BeforeLast {
	length: number;
	check(): Promise<void>;
}

const sent = new WeakMap<ServerResponse, number>();

/** Bytes of an answer's body that have left the process. */
export function bytesSent(response: ServerResponse): number {
	return sent.get(response) ?? 0;
}

export function writeChunk(response: ServerResponse, chunk: Uint8Array): Promise<void> {
	return new Promise((resolve, reject) => {
		const { length } = chunk;
		const settle = (error?: ClientGone) => {
			response.off('close', onClose);
			if (error !== undefined) return reject(error);
			sent.set(response, bytesSent(response) + length);
			resolve();
		};
		const onClose = () => settle(new ClientGone());
		if (response.destroyed) return onClose();
		response.once('close', onClose);
		response.write(chunk, (error) => settle(error ? new ClientGone({ cause: error }) : undefined));
	});
}

/** The client closed the connection. */
export class ClientGone extends Error {
	constructor(options?: ErrorOptions) {
		super('The client closed the connection.', options);
		this.name = 'ClientGone';
	}
}
