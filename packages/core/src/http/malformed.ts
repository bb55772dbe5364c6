import { type Server as HttpServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Failure } from '@stowage/rules';
import { refusalAnswer } from './errors.js';
import { leaveBodyUnread, lingerMs } from './unreadBody.js';

type ClientErrorListener = (error: NodeJS.ErrnoException, socket: Socket) => void;

const headers = {
	'content-type': 'application/json; charset=utf-8',
	'cache-control': 'private, no-store',
	'x-content-type-options': 'nosniff',
	connection: 'close',
};

/** Gives what Node refuses before there is a request the same shape as every other refusal: a bad request line, too many headers, an unknown expectation. */
export function answerMalformed(listener: HttpServer): void {
	const underWay = new WeakMap<Socket, number>();
	const count = (socket: Socket, change: number) => underWay.set(socket, (underWay.get(socket) ?? 0) + change);
	const latest = new WeakMap<Socket, IncomingMessage>();
	listener.on('request', (request: IncomingMessage, response: ServerResponse) => {
		const { socket } = request;
		latest.set(socket, request);
		count(socket, 1);
		response.once('close', () => count(socket, -1));
	});

	const answerOfHapi = listener.listeners('clientError') as ClientErrorListener[];
	const answered = new WeakSet<Socket>();
	const broken = new WeakSet<Socket>();
	listener.removeAllListeners('clientError');
	listener.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
		// What is malformed is the body of a request, or comes behind one: its answer goes first.
		if ((underWay.get(socket) ?? 0) > 0) {
			for (const answer of answerOfHapi) answer.call(listener, error, socket);
			// Node forgets a request once it is answered, and who still reads its body would wait for ever.
			if (!broken.has(socket)) socket.once('close', () => latest.get(socket)?.destroy());
			broken.add(socket);
		} else if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
		// Each further chunk of the same is an error of its own.
		else if (!answered.has(socket)) {
			answered.add(socket);
			endWith(socket, refusalOf(error));
		}
	});

	listener.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
		const refusal = new Failure('expectationFailed', 'The server does not know this expectation.');
		leaveBodyUnread(request, response);
		const body = JSON.stringify(refusalAnswer(refusal));
		response.writeHead(refusal.status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
	});
}

function refusalOf(error: NodeJS.ErrnoException): Failure {
	if (error.code === 'HPE_HEADER_OVERFLOW')
		return new Failure('headersTooLarge', 'The headers of the request are too long.');
	if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Failure('timeout', 'The request took too long to arrive.');
	return new Failure('invalid', 'The request is not valid HTTP.');
}

function endWith(socket: Socket, refusal: Failure): void {
	const body = JSON.stringify(refusalAnswer(refusal));
	const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) });
	socket.pause();
	socket.end(
		[
			`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
			...lines.map(([name, value]) => `${name}: ${value}`),
			'',
			body,
		].join('\r\n'),
	);
	setTimeout(() => socket.destroy(), lingerMs).unref();
}
