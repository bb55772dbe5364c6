import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Time for a client to read an answer that came before its body was taken; closing at once turns it into a reset (behind nginx: a 502). */
export const lingerMs = 1_500;

/** Whether a body was announced and has not arrived whole. */
export function hasUnreadBody(request: IncomingMessage): boolean {
	const announced =
		request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
	return announced && !request.complete;
}

/**
 * Answers without reading what is left of the body: the connection takes no more bytes, says `Connection: close`, and is destroyed once the client had
 * time to read the answer. Left alone, Node would read the body to its end, however long, to keep the connection.
 */
export function leaveBodyUnread(request: IncomingMessage, response: ServerResponse): void {
	const { socket } = request;
	response.setHeader('connection', 'close');
	request.pause();
	socket.pause();
	// Whoever read a moment ago has asked the socket to go on, which it does a tick later, paused or not: the event tells Node's parser to stop.
	socket.on('resume', () => {
		if (socket.isPaused()) socket.emit('pause');
		else socket.pause();
	});
	// Node reads and drops a body that nobody began to read as soon as the answer is out; one that counts as begun stays where it is.
	(request as IncomingMessage & { _consuming: boolean })._consuming = true;
	// Node would close at once after the last byte of the answer.
	socket.destroySoon = () => {
		setTimeout(() => socket.destroy(), lingerMs).unref();
	};
}

/** Ends a connection on which bytes may lie that nobody reads: closed at once it would be reset, and its last answer lost. */
export function endGently(socket: Socket): void {
	socket.end();
	setTimeout(() => socket.destroy(), lingerMs).unref();
}
