import type { IncomingMessage } from 'node:http';

/** A body that brings less than this in a window has stalled: the sender is gone, or keeps a place on purpose. */
const leastBytes = 1024;

/** Calls `onStall` once when the body of a request stops coming, until the returned function is called. A wait of our own, for the disk, does not count. */
export function watchForStall(request: IncomingMessage, onStall: () => void, windowMs = 30_000): () => void {
	const { socket } = request;
	let seen = socket.bytesRead;
	const timer = setInterval(() => {
		const isWaitingForUs = request.isPaused() || request.readableLength > 0;
		if (!request.complete && !isWaitingForUs && socket.bytesRead - seen < leastBytes) {
			clearInterval(timer);
			onStall();
		}
		seen = socket.bytesRead;
	}, windowMs);
	timer.unref();
	return () => clearInterval(timer);
}
