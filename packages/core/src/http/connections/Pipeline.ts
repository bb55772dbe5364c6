import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Failure } from '@stowage/rules';
import { closeGracefully } from './unreadBody.js';

/**
 * Requests that may wait behind the one under way. A single packet can carry a thousand, and Node parses all of them at once. Those behind these are dropped,
 * and the last answer says `Connection: close`: a client repeats unanswered requests (RFC 9112, section 9.3.2).
 */
const maxWaiting = 16;

interface Exchange {
	request: IncomingMessage;
	response: ServerResponse;
	/** Begins to answer; called once everything before it has been sent. */
	handle(): void;
}

/**
 * The requests of one connection, one after another: each begins when the answer before it has been sent, so a connection has never more than one at work. Node would
 * begin all of them at once and keep their answers in memory.
 */
export class Pipeline {
	readonly #socket: Socket;
	readonly #writeRefusal: (socket: Socket, refusal: Failure) => void;
	readonly #waiting: Exchange[] = [];
	#current: Exchange | undefined;
	#latest: IncomingMessage | undefined;
	/** No more requests are taken; those that wait are still answered. */
	#isEnding = false;
	#isPaused = false;
	/** The last response of the connection, after a request that could not be parsed. */
	#refusal: Failure | undefined;

	constructor(socket: Socket, writeRefusal: (socket: Socket, refusal: Failure) => void) {
		this.#socket = socket;
		this.#writeRefusal = writeRefusal;
		// Reading the rest of a body resumes the socket.
		socket.on('resume', () => {
			if (this.#isPaused) socket.pause();
		});
		socket.once('close', () => {
			this.#waiting.length = 0;
		});
	}

	add(exchange: Exchange): void {
		if (this.#isEnding) return;
		this.#latest = exchange.request;
		if (this.#current === undefined) this.#begin(exchange);
		else if (this.#waiting.length === maxWaiting) this.stopReading();
		else {
			this.#waiting.push(exchange);
			this.#pause();
		}
	}

	/** Reads no more from the connection, which ends after the responses to earlier requests. */
	stopReading(): void {
		this.#isEnding = true;
		this.#pause();
		this.#socket.destroySoon = () => closeGracefully(this.#socket);
	}

	/** Ends the connection after a parse error, in the body of the latest request or behind it. The responses before it are sent first. */
	refuse(refusal: Failure): void {
		if (this.#isEnding) return;
		this.stopReading();
		const latest = this.#latest;
		if (this.#current === undefined) this.#writeRefusal(this.#socket, refusal);
		else if (latest?.complete) this.#refusal = refusal;
		else if (latest === this.#current.request) failBody(latest, refusal);
		else {
			this.#waiting.pop();
			this.#refusal = refusal;
		}
	}

	/** Whether the body of a request has not arrived yet. */
	get hasOpenBody(): boolean {
		return this.#current !== undefined && this.#latest?.complete === false;
	}

	#begin(exchange: Exchange): void {
		this.#current = exchange;
		exchange.response.once('close', () => this.#next(exchange.response));
		if (this.#isEnding && this.#waiting.length === 0 && this.#refusal === undefined)
			exchange.response.setHeader('connection', 'close');
		exchange.handle();
	}

	#next(answered: ServerResponse): void {
		this.#current = undefined;
		const isLast = !answered.shouldKeepAlive || /close/i.test(String(answered.getHeader('connection')));
		if (isLast || this.#socket.writableEnded || this.#socket.destroyed) {
			// Node ends the connection, or has.
			this.#isEnding = true;
			this.#waiting.length = 0;
			return;
		}
		const next = this.#waiting.shift();
		if (next === undefined && this.#refusal !== undefined) this.#writeRefusal(this.#socket, this.#refusal);
		else if (next === undefined && this.#isEnding) closeGracefully(this.#socket);
		else {
			if (this.#waiting.length === 0 && !this.#isEnding) this.#resume();
			if (next !== undefined) this.#begin(next);
		}
	}

	#pause(): void {
		this.#isPaused = true;
		this.#socket.pause();
	}

	#resume(): void {
		if (!this.#isPaused) return;
		this.#isPaused = false;
		this.#socket.resume();
	}
}

/** The reader of the body gets the failure, and responds with it. The connection stays open for that response; Node would destroy it together with the request. */
function failBody(request: IncomingMessage, failure: Failure): void {
	request._destroy = (error, callback) => callback(request.listenerCount('error') > 0 ? error : null);
	request.destroy(failure);
}
