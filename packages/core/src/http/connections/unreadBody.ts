import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Time for a client to read a response that was sent before its body was read. Closing at once would reset the connection (behind nginx:
 * a 502).
 */
export const lingerMs = 1_500;

/** The most bytes of a body that are read and dropped: enough for a form or JSON that was sent already, far less than a file. */
const maxDroppedBytes = 256 * 1024;

/** Whether a body was announced and has not arrived completely. */
export function hasUnreadBody(request: IncomingMessage): boolean {
	const announced =
		request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
	return announced && !request.complete;
}

/**
 * Whether a request waits for its client, to send more of the body that is read, or to take the answer. A body that nobody reads holds up
 * nothing, whether it comes or not.
 */
export function waitsForClient(request: IncomingMessage, response: ServerResponse): boolean {
	return response.headersSent || (!request.complete && request.readableFlowing !== null);
}

/**
 * Responds without reading the rest of the body: the connection takes no more bytes, says `Connection: close`, and is destroyed once the
 * client had time to read the answer. After it a short rest is dropped, so that the connection of a client that has sent it all, or has
 * gone, ends at once: clients may have only so many. Left alone, Node would read the body to its end, however long, to
 * keep the connection.
 */
export function leaveBodyUnread(request: IncomingMessage, response: ServerResponse): void {
	const { socket } = request;
	response.setHeader('connection', 'close');
	request.pause();
	socket.pause();
	// A reader of a moment ago has resumed the socket, which takes effect a tick later, paused or not: the event makes Node's parser stop.
	const keepPaused = () => {
		if (socket.isPaused()) socket.emit('pause');
		else socket.pause();
	};
	socket.on('resume', keepPaused);
	// Node reads and drops a body without a reader as soon as the response is sent; one that counts as begun stays where it is.
	(request as IncomingMessage & { _consuming: boolean })._consuming = true;
	const close = socket.destroySoon;
	// Node would close at once after the last byte of the answer.
	socket.destroySoon = () => {
		setTimeout(() => socket.destroy(), lingerMs).unref();
		socket.off('resume', keepPaused);
		const maxRead = socket.bytesRead + maxDroppedBytes;
		request.on('data', () => {
			if (socket.bytesRead <= maxRead) return;
			socket.on('resume', keepPaused);
			request.pause();
			socket.pause();
		});
		for (const sent of [request, socket]) sent.once('end', () => close.call(socket));
		request.resume();
		socket.resume();
	};
}

/** Ends a connection that may have unread bytes: closing it at once would reset it, and its last response would be lost. */
export function closeGracefully(socket: Socket): void {
	socket.end();
	setTimeout(() => socket.destroy(), lingerMs).unref();
}
