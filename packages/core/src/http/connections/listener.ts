import http from 'node:http';
import type { Socket } from 'node:net';
import { runInContext } from '../../context.js';
import { maxHeaders } from '../requests/checkHeaders.js';
import { createPacedRequests } from './pacedRequest.js';

/** Open at once; for a further one another is closed, or else the new one (`limitConnections.ts`). */
export const maxConnections = 10_000;

/** So many may come at a time, before those that give way are closed. */
const maxAtATime = 512;

/** Node's own server with timers that fit long transfers: hapi gets it as its listener. */
export function createListener(): http.Server {
	const listener = http.createServer({
		IncomingMessage: createPacedRequests(),
		// It would end every upload that takes longer; bodies have idle timers of their own.
		requestTimeout: 0,
		headersTimeout: 20_000,
		connectionsCheckingInterval: 5_000,
		// Longer than the 60 s of common proxies, so that they close first and no request meets a closing connection.
		keepAliveTimeout: 65_000,
		maxHeaderSize: 32 * 1024,
		// Refused here, with a response that names the reason.
		requireHostHeader: false,
	});
	listener.maxConnections = maxConnections + maxAtATime;
	// One more than is accepted, by which a request that had more is recognized.
	listener.maxHeadersCount = maxHeaders + 1;
	const emit = listener.emit.bind(listener) as (...event: unknown[]) => boolean;
	listener.emit = (...event: unknown[]) =>
		event[0] === 'connection' ? inContextOfConnection(event[1] as Socket, () => emit(...event)) : emit(...event);
	return listener;
}

/** Assigns the parser and the events of a connection to its context. `accept` attaches the parser. */
function inContextOfConnection(socket: Socket, accept: () => boolean): boolean {
	const context = { socket };
	const emit = socket.emit.bind(socket) as (...event: unknown[]) => boolean;
	socket.emit = (...event: unknown[]) => runInContext(context, emit, ...event);
	return runInContext(context, accept);
}
