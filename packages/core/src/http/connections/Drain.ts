import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How long idle connections stay open after the listener closed: a request that its client sends just then is still answered. */
const idleMs = 1000;

/**
 * How the clients of a server that ends leave it: first each answer is the last of its connection and `GET /api/ready` says `draining`, so that a balancer turns to another server; then
 * nothing new is accepted; a second later what remains may be closed.
 */
export class Drain {
	#isDraining = false;
	readonly #responses = new Set<ServerResponse>();

	get isDraining(): boolean {
		return this.#isDraining;
	}

	/** Called for each response before its headers are sent. */
	add(response: ServerResponse): void {
		if (this.#isDraining) response.shouldKeepAlive = false;
		this.#responses.add(response);
		response.once('close', () => this.#responses.delete(response));
	}

	/** Resolves when the idle connections of `listener` may be closed, which accepts none any more once `delayMs` have passed. */
	async begin(listener: Server, delayMs: number): Promise<void> {
		this.#isDraining = true;
		// Of a response whose headers have been sent, the client has been told that more may follow.
		for (const response of this.#responses) if (!response.headersSent) response.shouldKeepAlive = false;
		await delay(delayMs);
		if (!listener.listening) return;
		const closed = once(listener, 'close');
		// HTTP's own would end idle connections, too.
		Server.prototype.close.call(listener);
		await Promise.race([closed, delay(idleMs)]);
	}
}
