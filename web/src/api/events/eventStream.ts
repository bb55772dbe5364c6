import { eventData, type findJob, type ResultOf } from '@stowage/contract';
import type { z } from 'zod';
import { publishTicketEvent } from './ticketEvents.js';

/** The delay before reconnecting doubles with each failure, from the first to the last of these. */
const minRetryMs = 1000;
const maxRetryMs = 30_000;

/** How soon a folder that was refused is tried again after an event of one above it. */
const lookMs = 500;

export interface EventStreamListener {
	/** The folder may have changed. */
	onChanged: () => void;
	/** The user's trash may have changed. */
	onTrash: () => void;
	/** Other folders may be shared with the user or by them, or others with other roles. `isOfFolder` is as for `onReconnected`. */
	onShared: (isOfFolder: boolean) => void;
	/** One of the user's jobs is new, has progressed or has ended. */
	onJob: (job: ResultOf<typeof findJob>) => void;
	/**
	 * Open again after it was lost. Events may have been missed. `isOfFolder` is false while the folder can't be listened to, and the stream
	 * is that of one above it.
	 */
	onReconnected: (isOfFolder: boolean) => void;
	/**
	 * The server ended it, the connection broke, or an attempt to open it failed (`isOpened` is false): there are no events of the folder
	 * until the next one.
	 */
	onDisconnected: (isOpened: boolean) => void;
	/**
	 * Whether the folder is known to be missing. What refuses its stream for another reason, such as one page too many, or a proxy in front
	 * of a server that starts, would refuse those of all folders above as well.
	 */
	isMissing: () => boolean;
}

export interface OpenEventStream {
	/** Connects at once if it waits for the next attempt. */
	retry(): void;
	close(): void;
}

/**
 * Keeps an event stream open until it is closed: at the first of these addresses, which is that of a folder. While that is refused, and
 * the folder is missing, it is the first of the others that is not, those of the folders above: their events say when to try it again.
 */
export function openEventStream(
	urls: readonly string[],
	{ onChanged, onTrash, onShared, onJob, onReconnected, onDisconnected, isMissing }: EventStreamListener,
): OpenEventStream {
	let source: EventSource | undefined;
	/** The index of its address. */
	let level = urls.length;
	/** The one that is being opened. */
	let attempt: EventSource | undefined;
	let timer: ReturnType<typeof setTimeout> | undefined;
	let failures = 0;
	let isDisconnected = false;
	/** Whether a folder that was refused may be there since the last attempt began. */
	let isDue = false;

	function connect(): void {
		clearTimeout(timer);
		timer = undefined;
		isDue = false;
		open(0);
	}

	function open(next: number): void {
		const opened = new EventSource(urls[next] as string);
		attempt = opened;
		opened.addEventListener('changed', () => (level > 0 ? look() : onChanged()));
		opened.addEventListener('trash', onTrash);
		opened.addEventListener('shared', () => {
			onShared(level === 0);
			if (level > 0) look();
		});
		opened.addEventListener('ticket', ({ data }) => {
			const event = parseEvent(eventData.ticket, data);
			if (event) publishTicketEvent(event);
		});
		opened.addEventListener('job', ({ data }) => {
			const event = parseEvent(eventData.job, data);
			if (event) onJob(event.job);
		});
		opened.onopen = () => take(opened, next);
		opened.onerror = () => {
			const isRefused = opened.readyState === EventSource.CLOSED;
			// By itself an EventSource never retries after a refusal, and after a lost connection it retries every few seconds for ever.
			opened.close();
			if (opened === source) onLost();
			else onFailed(next, isRefused);
		};
	}

	function take(opened: EventSource, next: number): void {
		const isFirst = source === undefined;
		// Until now it had the events.
		source?.close();
		if (isFirst) openStreams++;
		source = opened;
		level = next;
		attempt = undefined;
		failures = 0;
		if (isDisconnected && (isFirst || level === 0)) onReconnected(level === 0);
		if (level === 0) isDisconnected = false;
		else {
			// It may have appeared before this stream was open.
			isDue = false;
			look();
		}
	}

	function onFailed(at: number, isRefused: boolean): void {
		attempt = undefined;
		if (source === undefined) isDisconnected = true;
		// Once all of them were refused, the next one below that of the stream is the first to appear.
		const next = at === 0 && failures > 0 ? Math.max(1, level - 1) : at + 1;
		if (isRefused && next < level && isMissing()) open(next);
		else if (source === undefined) wait(retryDelay(failures++));
		else {
			failures++;
			wait(isDue ? lookMs : retryDelay(Number.POSITIVE_INFINITY));
		}
		if (at === 0) onDisconnected(false);
	}

	function onLost(): void {
		source = undefined;
		level = urls.length;
		openStreams--;
		attempt?.close();
		attempt = undefined;
		isDisconnected = true;
		failures = 0;
		wait(retryDelay(failures++));
		onDisconnected(true);
	}

	function wait(ms: number): void {
		clearTimeout(timer);
		timer = setTimeout(connect, ms);
	}

	/** Tries the folder again soon, and those between it and the one whose stream is open. */
	function look(): void {
		if (isDue) return;
		isDue = true;
		if (attempt === undefined) wait(lookMs);
	}

	connect();
	return {
		retry() {
			if (timer !== undefined) connect();
			else if (source !== undefined && level > 0) look();
		},
		close() {
			clearTimeout(timer);
			attempt?.close();
			source?.close();
			if (source !== undefined) openStreams--;
			source = undefined;
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
