import { type FrameCommand, type FrameEvent, frameEvent } from './frameMessages.js';
import { watchSilence } from './watchSilence.js';

export interface FrameLink {
	send(command: FrameCommand): void;
	close(): void;
}

/**
 * Connects the page with the document in its viewers' frame. One that says nothing for too long, since its file keeps the browser busy, says `failed` in the end: the frame has a process of its own where the browser
 * can do that, so the page goes on, and ends it by removing the frame.
 */
export function connectFrame(target: Window, onEvent: (event: FrameEvent) => void): FrameLink {
	const { port1: port, port2 } = new MessageChannel();
	const watch = watchSilence(
		() => port.postMessage({ kind: 'ping' } satisfies FrameCommand),
		() => onEvent({ kind: 'failed' }),
	);
	port.onmessage = ({ data }) => {
		watch.hear();
		const parsed = frameEvent.safeParse(data);
		// The frame of another version of the page, or one that was taken over.
		const event: FrameEvent = parsed.success ? parsed.data : { kind: 'failed' };
		if (event.kind !== 'pong') onEvent(event);
	};
	// Its origin is opaque, so it has no name; only the frame's first document, which is the server's, gets the port.
	target.postMessage('connect', '*', [port2]);
	return {
		send: (command) => port.postMessage(command),
		close() {
			watch.end();
			port.close();
		},
	};
}
