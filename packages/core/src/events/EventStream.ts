import type { ServerResponse } from 'node:http';
import type { Notification } from '@stowage/plugin-api';
import { throttle } from './throttle.js';

/** Proxies end connections on which nothing moves, often after a minute. */
const heartbeatMs = 20_000;

/** The reconnection time of the browser. */
const retryMs = 2000;

/** Least time between two writes to one stream: a page may follow many tickets, whose events are written together. */
const spacingMs = 250;

/** Bytes that a client has not read, beyond which nothing is written to it until it reads. */
const maxUnread = 16 * 1024;

export type StreamEvent = Notification | { kind: 'changed'; type: string; directory: string };

/** What is sent of an event, however many streams send it. */
const texts = new WeakMap<StreamEvent, string>();

function textOf(event: StreamEvent): string {
	const known = texts.get(event);
	if (known !== undefined) return known;
	const { kind, ...data } = event;
	const text = `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
	texts.set(event, text);
	return text;
}

/** Identifies what an event tells the state of. */
function subjectOf(event: StreamEvent): string {
	if (event.kind === 'ticket') return `ticket ${event.ticket}`;
	return event.kind === 'job' ? `job ${event.job.id}` : event.kind;
}

/** A lasting response: events for one page, written past hapi, so that nothing compresses or buffers them. */
export class EventStream {
	readonly #heartbeat: NodeJS.Timeout;
	/** The latest event of each subject that is not written yet: a client that reads slowly gets the last states, not all. */
	readonly #pending = new Map<string, StreamEvent>();
	readonly #flush = throttle(spacingMs, () => this.#writePending());

	/** Begins the response. `onClose` is called once, whichever side closes it. */
	constructor(
		readonly response: ServerResponse,
		onClose: () => void,
	) {
		response.once('close', () => {
			clearInterval(this.#heartbeat);
			this.#flush.cancel();
			this.#pending.clear();
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

	/** Sends an event soon. It must not be changed afterwards. Of several about the same thing the last one is sent, at least. */
	send(event: StreamEvent): void {
		if (this.response.writableEnded || this.response.destroyed) return;
		const subject = subjectOf(event);
		this.#pending.delete(subject);
		this.#pending.set(subject, event);
		this.#flush();
	}

	end(): void {
		const { response } = this;
		if (response.writableEnded) return;
		this.#writePending();
		const { socket } = response;
		// The connection ends too: a server that stops would wait for it.
		response.end(() => socket?.end());
	}

	#writePending(): void {
		const { response } = this;
		if (this.#pending.size === 0 || response.writableEnded) return;
		if (response.writableLength > maxUnread) {
			this.#flush();
			return;
		}
		const text = [...this.#pending.values()].map(textOf).join('');
		this.#pending.clear();
		response.write(text);
	}

	#beat(): void {
		// A client that has read nothing since the last one sleeps or has gone without closing.
		if (this.response.writableLength > 0) this.response.destroy();
		else this.response.write(':\n\n');
	}
}
