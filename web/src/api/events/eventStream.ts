import { eventData } from '@stowage/contract';
import { type TicketNews, tellTicket } from './ticketEvents.js';

/** Milliseconds until the next try: at first soon, then less and less often. */
const firstRetry = 1000;
const lastRetry = 30_000;

export interface EventStreamListener {
	onChanged: () => void;
	/** It is open again after it was lost: nobody knows what was missed. */
	onReopened: () => void;
	/** The server, or the way to it, has ended it. */
	onLost: () => void;
}

/** Keeps an event stream open until the returned function is called. */
export function openEventStream(url: string, { onChanged, onReopened, onLost }: EventStreamListener): () => void {
	let source: EventSource;
	let timer: ReturnType<typeof setTimeout> | undefined;
	let failures = 0;
	let wasLost = false;

	function connect() {
		source = new EventSource(url);
		source.addEventListener('changed', onChanged);
		source.addEventListener('ticket', ({ data }) => {
			const news = readTicketNews(data);
			if (news) tellTicket(news);
		});
		source.onopen = () => {
			failures = 0;
			if (wasLost) onReopened();
			wasLost = false;
		};
		source.onerror = () => {
			// A refusal ends it for good and a lost connection is tried again every few seconds for ever: both wait longer each time instead.
			source.close();
			if (!wasLost) onLost();
			wasLost = true;
			timer = setTimeout(connect, retryDelay(failures++));
		};
	}

	connect();
	return () => {
		clearTimeout(timer);
		source.close();
	};
}

/** Spread by chance, so that the pages of a server that was restarted don't all come at once. */
export function retryDelay(failures: number): number {
	return Math.min(lastRetry, firstRetry * 2 ** failures) * (0.75 + Math.random() / 2);
}

function readTicketNews(data: unknown): TicketNews | undefined {
	try {
		const parsed = eventData.ticket.safeParse(JSON.parse(String(data)));
		return parsed.success ? parsed.data : undefined;
	} catch {
		return undefined;
	}
}
