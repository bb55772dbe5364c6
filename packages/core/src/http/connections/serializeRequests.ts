import { type Server as HttpServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { Failure } from '@stowage/rules';
import { runInContext } from '../../context.js';
import { Counts } from '../../limits/Counts.js';
import { failureAnswer } from '../errors.js';
import { lacksHeaders } from '../requests/checkHeaders.js';
import { originForm } from '../requests/rawPath.js';
import type { Drain } from './Drain.js';
import { PacedRequest } from './pacedRequest.js';
import { RequestScheduler } from './RequestScheduler.js';
import { closeGracefully, leaveBodyUnread, waitsForClient } from './unreadBody.js';

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

const headers = {
	'content-type': 'application/json; charset=utf-8',
	'cache-control': 'private, no-store',
	'x-content-type-options': 'nosniff',
	connection: 'close',
};

/**
 * Stands between Node's parser and hapi: hapi gets the requests of a connection one at a time, scheduled fairly by
 * client (`clientOf`) and at most `maxAtOnce()` under way, each with the path and query of its address, and never one
 * that can't be parsed. A refusal by Node before there is a request, such as a bad request line, too many headers or an
 * unknown expectation, gets the same shape as every other refusal.
 */
export function serializeRequests(
	listener: HttpServer,
	clientOf: (request: IncomingMessage) => string,
	maxAtOnce: () => number,
	drain: Drain,
): void {
	const scheduler = new RequestScheduler();
	/** The numbers of requests under way, by client. */
	const underWay = new Counts();
	listener.on('connection', () => scheduler.onConnection());
	const pipelines = new WeakMap<Socket, Pipeline>();
	const pipelineOf = (socket: Socket) => {
		const pipeline = pipelines.get(socket) ?? new Pipeline(socket);
		pipelines.set(socket, pipeline);
		return pipeline;
	};

	const answerOfHapi = listener.listeners('request') as RequestListener[];
	listener.removeAllListeners('request');
	listener.on('request', (request: IncomingMessage, response: ServerResponse) => {
		drain.add(request, response);
		const isRefused = lacksHeaders(request);
		if (request instanceof PacedRequest && !isRefused) request.client = clientOf(request);
		const answer = () => {
			// A client that has disconnected while it waited gets no response.
			if (request.socket.destroyed) return;
			for (const listen of answerOfHapi) listen.call(listener, request, response);
		};
		// An error of a response is thrown in the context of its request, and affects no other request.
		const start = () => runInContext({ socket: request.socket, response }, () => queueMicrotask(answer));
		const begin = () => {
			// Before anything is counted by an address that its client may have made up.
			if (isRefused) {
				answerFailure(request, response, new Failure('headersTooLarge', 'The request has too many headers.'));
				return;
			}
			const target = originForm(request.url ?? '/');
			if (target === undefined) {
				answerFailure(request, response, new Failure('invalid', 'The request line has no path.'));
				return;
			}
			request.url = target;
			const client = clientOf(request);
			if (underWay.of(client) >= maxAtOnce()) {
				answerFailure(request, response, tooManyRequests());
				return;
			}
			underWay.add(client, 1);
			response.once('close', () => {
				underWay.add(client, -1);
				ended();
			});
			const ended = scheduler.add(client, start, () => waitsForClient(request, response));
		};
		pipelineOf(request.socket).add({ request, response, handle: begin });
	});

	listener.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
		const handle = () => {
			answerFailure(request, response, new Failure('expectationFailed', 'The server does not know this expectation.'));
		};
		pipelineOf(request.socket).add({ request, response, handle });
	});

	// hapi would send an error for the request under way although its handler still runs, and then respond twice.
	listener.removeAllListeners('clientError');
	listener.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
		const pipeline = pipelineOf(socket);
		const code = error.code ?? '';
		const isOfParser = code.startsWith('HPE_') || code === 'ERR_HTTP_REQUEST_TIMEOUT';
		if (!isOfParser || (code === 'HPE_INVALID_EOF_STATE' && pipeline.hasOpenBody)) socket.destroy();
		else if (code === 'HPE_CLOSED_CONNECTION') pipeline.stopReading();
		else pipeline.refuse(failureOf(error));
	});
}

/** A proxy has one connection for many clients: the requests of each of them are counted. */
function tooManyRequests(): Failure {
	return new Failure('rateLimited', 'Too many requests are under way. Please try again in a moment.', {
		retryAfter: 1,
	});
}

/** Answers a request that hapi never gets. */
function answerFailure(request: IncomingMessage, response: ServerResponse, failure: Failure): void {
	leaveBodyUnread(request, response);
	const body = JSON.stringify(failureAnswer(failure));
	if (failure.retryAfter !== undefined) response.setHeader('retry-after', failure.retryAfter);
	response.writeHead(failure.status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

function failureOf(error: NodeJS.ErrnoException): Failure {
	if (error.code === 'HPE_HEADER_OVERFLOW')
		return new Failure('headersTooLarge', 'The headers of the request are too long.');
	if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Failure('timeout', 'The request took too long to arrive.');
	return new Failure('invalid', 'The request is not valid HTTP.');
}

function writeFailure(socket: Socket, failure: Failure): void {
	if (!socket.writable) {
		socket.destroy();
		return;
	}
	const body = JSON.stringify(failureAnswer(failure));
	const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body) });
	socket.write(
		[
			`HTTP/1.1 ${failure.status} ${STATUS_CODES[failure.status] ?? ''}`,
			...lines.map(([name, value]) => `${name}: ${value}`),
			'',
			body,
		].join('\r\n'),
	);
	closeGracefully(socket);
}

interface Exchange {
	request: IncomingMessage;
	response: ServerResponse;
	/** Begins to answer; called once everything before it has been sent. */
	handle(): void;
}

/**
 * The requests of one connection, one after another: each begins when the answer before it has been sent. Node would begin all of a
 * packet at once and keep their answers in memory. One may wait; those behind it are dropped, and its answer says `Connection: close`: a
 * client repeats unanswered requests (RFC 9112, section 9.3.2).
 */
class Pipeline {
	readonly #socket: Socket;
	#current: Exchange | undefined;
	#waiting: Exchange | undefined;
	#latest: IncomingMessage | undefined;
	/** No more requests are taken; the one that waits is still answered. */
	#isEnding = false;
	#isPaused = false;
	/** The last response of the connection, after a request that could not be parsed. */
	#failure: Failure | undefined;

	constructor(socket: Socket) {
		this.#socket = socket;
		// Reading the rest of a body resumes the socket.
		socket.on('resume', () => {
			if (this.#isPaused) socket.pause();
		});
		socket.once('close', () => {
			this.#waiting = undefined;
		});
	}

	add(exchange: Exchange): void {
		if (this.#isEnding) {
			this.#pause();
			return;
		}
		this.#latest = exchange.request;
		if (this.#current === undefined) this.#begin(exchange);
		else {
			this.#waiting = exchange;
			this.stopReading();
		}
	}

	/** Takes no further request from the connection, which ends after the responses to earlier ones. */
	stopReading(): void {
		this.#isEnding = true;
		this.#pause();
		this.#socket.destroySoon = () => closeGracefully(this.#socket);
	}

	/** Ends the connection after a parse error, in the body of the latest request or behind it. The responses before it are sent first. */
	refuse(failure: Failure): void {
		const latest = this.#latest?.complete ? undefined : this.#latest;
		if (this.#isEnding && (latest === undefined || this.#current === undefined)) return;
		this.stopReading();
		if (this.#current === undefined) writeFailure(this.#socket, failure);
		else if (latest === this.#current.request) failBody(latest, failure);
		else {
			if (latest !== undefined) this.#waiting = undefined;
			this.#failure = failure;
		}
	}

	/** Whether the body of a request has not arrived yet. */
	get hasOpenBody(): boolean {
		return this.#current !== undefined && this.#latest?.complete === false;
	}

	#begin(exchange: Exchange): void {
		this.#current = exchange;
		exchange.response.once('close', () => this.#next(exchange.response));
		if (this.#isEnding && this.#failure === undefined) exchange.response.setHeader('connection', 'close');
		exchange.handle();
	}

	#next(answered: ServerResponse): void {
		this.#current = undefined;
		const next = this.#waiting;
		this.#waiting = undefined;
		const isLast = !answered.shouldKeepAlive || /close/i.test(String(answered.getHeader('connection')));
		// Node ends the connection, or has.
		if (isLast || this.#socket.writableEnded || this.#socket.destroyed) this.#isEnding = true;
		else if (next !== undefined) {
			if (!next.request.complete) this.#resume();
			this.#begin(next);
		} else if (this.#failure !== undefined) writeFailure(this.#socket, this.#failure);
		else if (this.#isEnding) closeGracefully(this.#socket);
	}

	#pause(): void {
		this.#isPaused = true;
		this.#socket.pause();
	}

	#resume(): void {
		this.#isPaused = false;
		this.#socket.resume();
	}
}

/**
 * The reader of the body gets the failure, and responds with it. The connection stays open for that response; Node would destroy it
 * together with the request.
 */
function failBody(request: IncomingMessage, failure: Failure): void {
	request._destroy = (error, callback) => callback(request.listenerCount('error') > 0 ? error : null);
	request.destroy(failure);
}
