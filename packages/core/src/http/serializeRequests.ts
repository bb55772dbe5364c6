import { type Server as HttpServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Failure } from '@stowage/rules';
import { refusalAnswer } from './errors.js';
import { Pipeline } from './Pipeline.js';
import { RequestScheduler } from './RequestScheduler.js';
import { inContextOf } from './requestContext.js';
import { endGently, leaveBodyUnread } from './unreadBody.js';

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

const headers = {
	'content-type': 'application/json; charset=utf-8',
	'cache-control': 'private, no-store',
	'x-content-type-options': 'nosniff',
	connection: 'close',
};

/**
 * Stands between Node's parser and hapi: hapi gets the requests of a connection one at a time, those of a client (`clientOf`) in turn with everybody else's, and
 * nothing of what can't be parsed. What Node refuses before there is a request, such as a bad request line, too many headers or an unknown expectation, gets the
 * same shape as every other refusal.
 */
export function serializeRequests(listener: HttpServer, clientOf: (request: IncomingMessage) => string): void {
	const scheduler = new RequestScheduler();
	listener.on('connection', () => scheduler.accepted());
	const pipelines = new WeakMap<Socket, Pipeline>();
	const pipelineOf = (socket: Socket) => {
		const pipeline = pipelines.get(socket) ?? new Pipeline(socket, writeRefusal);
		pipelines.set(socket, pipeline);
		return pipeline;
	};

	const answerOfHapi = listener.listeners('request') as RequestListener[];
	listener.removeAllListeners('request');
	listener.on('request', (request: IncomingMessage, response: ServerResponse) => {
		const answer = () => {
			// Who has gone while they waited gets no answer.
			if (request.socket.destroyed) return;
			for (const listen of answerOfHapi) listen.call(listener, request, response);
		};
		// What an answer throws is thrown where it belongs to its request, and takes no other request with it.
		const start = () => inContextOf(response, () => queueMicrotask(answer));
		pipelineOf(request.socket).take({ request, response, answer: () => scheduler.add(clientOf(request), start) });
	});

	listener.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
		const answer = () => {
			const refusal = new Failure('expectationFailed', 'The server does not know this expectation.');
			leaveBodyUnread(request, response);
			const body = JSON.stringify(refusalAnswer(refusal));
			response.writeHead(refusal.status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
		};
		pipelineOf(request.socket).take({ request, response, answer });
	});

	// hapi would answer the request under way although its handler still runs, and then twice.
	listener.removeAllListeners('clientError');
	listener.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
		const pipeline = pipelineOf(socket);
		const code = error.code ?? '';
		const isOfParser = code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT';
		if (!isOfParser || (code === 'HPE_INVALID_EOF_STATE' && pipeline.hasOpenBody)) socket.destroy();
		else if (code === 'HPE_CLOSED_CONNECTION') pipeline.dropRest();
		else pipeline.refuse(refusalOf(error));
	});
}

function refusalOf(error: NodeJS.ErrnoException): Failure {
	if (error.code === 'HPE_HEADER_OVERFLOW')
		return new Failure('headersTooLarge', 'The headers of the request are too long.');
	if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Failure('timeout', 'The request took too long to arrive.');
	return new Failure('invalid', 'The request is not valid HTTP.');
}

function writeRefusal(socket: Socket, refusal: Failure): void {
	if (!socket.writable) {
		socket.destroy();
		return;
	}
	const body = JSON.stringify(refusalAnswer(refusal));
	const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) });
	socket.write(
		[
			`HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ''}`,
			...lines.map(([name, value]) => `${name}: ${value}`),
			'',
			body,
		].join('\r\n'),
	);
	endGently(socket);
}
