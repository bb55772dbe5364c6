import { type FrameCommand, type FrameEvent, frameEvent } from './frameMessages.js';
import { watchSilence } from './watchSilence.js';

export interface FrameLink {
	send(command: FrameCommand): void;
	close(): void;
}

/** The most events in a second. A key that is held down and a page that scrolls cause some dozens. */
const maxEvents = 1_000;

/**
 * Connects the page with the document in its viewers' frame. `onSilent` is called if it says nothing for too long, since
 * its file keeps the browser busy or has taken all memory: the frame has a process of its own where the browser can do
 * that, so the page goes on, and ends it by removing the frame.
 */
export function connectFrame(
	target: Window,
	onEvent: (event: FrameEvent) => void,
	onSilent = () => onEvent({ kind: 'failed' }),
): FrameLink {
	const { port1: port, port2 } = new MessageChannel();
	const watch = watchSilence(() => port.postMessage({ kind: 'ping' } satisfies FrameCommand), onSilent);
	const close = () => {
		watch.end();
		port.onmessage = null;
		port.close();
	};
	let heard = 0;
	let second = performance.now();
	port.onmessage = (message) => {
		watch.hear();
		if (performance.now() - second > 1000) [heard, second] = [0, performance.now()];
		const event = ++heard > maxEvents ? undefined : read(message);
		// The frame of another version of the page, or one that was taken over.
		if (event === undefined) {
			close();
			onEvent({ kind: 'failed' });
		} else if (event.kind !== 'pong') onEvent(event);
	};
	// Its origin is opaque, so it has no name; only the frame's first document, which is the server's, gets the port.
	target.postMessage('connect', '*', [port2]);
	return {
		send: (command) => port.postMessage(command),
		close,
	};
}

function read({ data }: MessageEvent<unknown>): FrameEvent | undefined {
	const parsed = frameEvent.safeParse(data);
	return parsed.success ? parsed.data : undefined;
}
