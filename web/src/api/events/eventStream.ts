import { eventData } from '@stowage/contract';
import { publishTicketEvent, type TicketEvent } from './ticketEvents.js';

/** The delay before reconnecting doubles with each failure, from the first to the last of these. */
const minRetryMs = 1000;
const maxRetryMs = 30_000;

export interface EventStreamListener {
	onChanged: () => void;
	/** Open again after it was lost. Events may have been missed. */
	onReconnected: () => void;
	/** The server ended it or the connection broke. */
	onDisconnected: () => void;
}

/** Keeps an event stream open until the returned function is called. */
export function openEventStream(
	url: string,
	{ onChanged, onReconnected, onDisconnected }: EventStreamListener,
): () => void {
	let source: EventSource;
	let timer: ReturnType<typeof setTimeout> | undefined;
	let failures = 0;
	let isDisconnected = false;

	function connect() {
		source = new EventSource(url);
		source.addEventListener('changed', onChanged);
		source.addEventListener('ticket', ({ data }) => {
			const event = parseTicketEvent(data);
			if (event) publishTicketEvent(event);
		});
		source.onopen = () => {
			failures = 0;
			if (isDisconnected) onReconnected();
			isDisconnected = false;
		};
		source.onerror = () => {
			// By itself an EventSource never retries after a refusal, and after a lost connection it retries every few seconds for ever.
			source.close();
			if (!isDisconnected) onDisconnected();
			isDisconnected = true;
			timer = setTimeout(connect, retryDelay(failures++));
		};
	}

	connect();
	return () => {
		clearTimeout(timer);
		source.close();
	};
}

/** With jitter, so that the pages of a restarted server don't all reconnect at once. */
export function retryDelay(failures: number): number {
	return Math.min(maxRetryMs, minRetryMs * 2 ** failures) * (0.75 + Math.random() / 2);
}

function parseTicketEvent(data: unknown): TicketEvent | undefined {
	try {
		const parsed = eventData.ticket.safeParse(JSON.parse(String(data)));
		return parsed.success ? parsed.data : undefined;
	} catch {
		// Of another version of the server, or cut off: events are hints.
		return undefined;
	}
}
