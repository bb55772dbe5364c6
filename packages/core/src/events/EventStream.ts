import type { ServerResponse } from 'node:http';

/** Proxies end connections on which nothing moves, often after a minute. */
const heartbeatMs = 20_000;

/** The reconnection time of the browser. */
const retryMs = 2000;

/** A lasting response: events for one page, written past hapi, so that nothing compresses or buffers them. */
export class EventStream {
	readonly #heartbeat: NodeJS.Timeout;

	/** Begins the response. `onClose` is called once, whichever side closes it. */
	constructor(
		readonly response: ServerResponse,
		onClose: () => void,
	) {
		response.once('close', () => {
			clearInterval(this.#heartbeat);
			onClose();
		});
		response.writeHead(200, {
			'content-type': 'text/event-stream; charset=utf-8',
			'cache-control': 'private, no-store',
			'x-content-type-options': 'nosniff',
			// nginx would collect events until its buffer is full.
			'x-accel-buffering': 'no',
		});
		response.write(`retry: ${retryMs}\n\n`);
		this.#heartbeat = setInterval(() => this.#beat(), heartbeatMs).unref();
	}

	send(event: string, data: unknown): void {
		if (!this.response.writableEnded) this.response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
	}

	end(): void {
		const { response } = this;
		const { socket } = response;
		// The connection ends too: a server that stops would wait for it.
		response.end(() => socket?.end());
	}

	#beat(): void {
		// A client that has read nothing since the last one sleeps or has gone without closing.
		if (this.response.writableLength > 0) this.response.destroy();
		else this.response.write(':\n\n');
	}
}
