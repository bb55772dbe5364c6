import { eventData, type findJob, type ResultOf } from '@stowage/contract';
import type { z } from 'zod';
import { publishTicketEvent } from './ticketEvents.js';

/** The delay before reconnecting doubles with each failure, from the first to the last of these. */
const minRetryMs = 1000;
const maxRetryMs = 30_000;

export interface EventStreamListener {
	/** The folder may have changed. */
	onChanged: () => void;
	/** The user's trash may have changed. */
	onTrash: () => void;
	/** Other folders may be shared with the user or by them, or with other members or roles. */
	onShared: () => void;
	/** One of the user's jobs is new, has progressed or has ended. */
	onJob: (job: ResultOf<typeof findJob>) => void;
	/** Open again after it was lost. Events may have been missed. */
	onReconnected: () => void;
	/**
	 * The server ended it, the connection broke, or an attempt to open it failed (`isOpened` is false): there are no events until the next
	 * one.
	 */
	onDisconnected: (isOpened: boolean) => void;
}

export interface OpenEventStream {
	/** Connects at once if it waits for the next attempt. */
	retry(): void;
	close(): void;
}

/** Keeps an event stream open until it is closed. */
export function openEventStream(
	url: string,
	{ onChanged, onTrash, onShared, onJob, onReconnected, onDisconnected }: EventStreamListener,
): OpenEventStream {
	let source: EventSource;
	let timer: ReturnType<typeof setTimeout> | undefined;
	let failures = 0;
	let isDisconnected = false;
	let isOpen = false;
	const setOpen = (open: boolean) => {
		openStreams += Number(open) - Number(isOpen);
		isOpen = open;
	};

	function connect() {
		timer = undefined;
		source = new EventSource(url);
		source.addEventListener('changed', onChanged);
		source.addEventListener('trash', onTrash);
		source.addEventListener('shared', onShared);
		source.addEventListener('ticket', ({ data }) => {
			const event = parseEvent(eventData.ticket, data);
			if (event) publishTicketEvent(event);
		});
		source.addEventListener('job', ({ data }) => {
			const event = parseEvent(eventData.job, data);
			if (event) onJob(event.job);
		});
		source.onopen = () => {
			setOpen(true);
			failures = 0;
			if (isDisconnected) onReconnected();
			isDisconnected = false;
		};
		source.onerror = () => {
			// By itself an EventSource never retries after a refusal, and after a lost connection it retries every few seconds for ever.
			source.close();
			const isOpened = isOpen;
			setOpen(false);
			isDisconnected = true;
			timer = setTimeout(connect, retryDelay(failures++));
			onDisconnected(isOpened);
		};
	}

	connect();
	return {
		retry() {
			if (timer === undefined) return;
			clearTimeout(timer);
			connect();
		},
		close() {
			clearTimeout(timer);
			source.close();
			setOpen(false);
		},
	};
}

let openStreams = 0;

/** Whether the page has an event stream that is open. */
export function isStreaming(): boolean {
	return openStreams > 0;
}

/** Milliseconds until the next attempt, with jitter, so that the pages of a restarted server don't all reconnect at once. */
export function retryDelay(failures: number): number {
	return Math.min(maxRetryMs, minRetryMs * 2 ** failures) * (0.75 + Math.random() / 2);
}

function parseEvent<S extends z.ZodType>(schema: S, data: unknown): z.output<S> | undefined {
	try {
		const parsed = schema.safeParse(JSON.parse(String(data)));
		return parsed.success ? parsed.data : undefined;
	} catch {
		// From another version of the server, or truncated: events are only hints.
		return undefined;
	}
}
