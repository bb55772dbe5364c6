import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';

/** How long idle connections stay open after the last one was accepted: a request that its client sends just then is still answered. */
const idleMs = 1000;

/**
 * How the clients of a server that ends leave it: first each answer is the last of its connection and `GET /api/ready`
 * says `draining`, so that a balancer turns to another server; then nothing new is accepted; a second later what
 * remains may be closed.
 */
export class Drain {
	#isDraining = false;
	/**
	 * The open connections, with the responses that are not complete. They go with their connection: a response that
	 * never got its turn does not say that it is closed.
	 */
	readonly #open = new Map<Socket, Set<ServerResponse>>();
	#onEmpty = () => {};

	/** Connections that are open. */
	get connections(): number {
		return this.#open.size;
	}

	/** Whether no response of the connection is awaited. */
	isIdle(socket: Socket): boolean {
		return (this.#open.get(socket)?.size ?? 0) === 0;
	}

	get isDraining(): boolean {
		return this.#isDraining;
	}

	/** Notes the connections of a server, before any of them. */
	watch(listener: Server): void {
		listener.on('connection', (socket: Socket) => {
			this.#open.set(socket, new Set());
			socket.once('close', () => {
				this.#open.delete(socket);
				if (this.#open.size === 0) this.#onEmpty();
			});
		});
	}

	/** Called for each response before its headers are sent. */
	add({ socket }: IncomingMessage, response: ServerResponse): void {
		if (this.#isDraining) response.shouldKeepAlive = false;
		const responses = this.#open.get(socket);
		responses?.add(response);
		response.once('close', () => responses?.delete(response));
	}

	/** Resolves when idle connections may be closed. `stopAccepting` is called after `delayMs`, and awaited. */
	async begin(delayMs: number, stopAccepting: () => Promise<void>): Promise<void> {
		this.#isDraining = true;
		// Of a response whose headers have been sent, the client has been told that more may follow.
		for (const responses of this.#open.values())
			for (const response of responses) if (!response.headersSent) response.shouldKeepAlive = false;
		await delay(delayMs);
		await stopAccepting();
		await new Promise<void>((resolve) => {
			const elapsed = setTimeout(resolve, idleMs);
			void this.whenEmpty().then(() => {
				// It would keep a process alive that has nothing else to do.
				clearTimeout(elapsed);
				resolve();
			});
		});
		// Timers come before what has arrived: where the process was held up, that are requests on connections which seem to be idle.
		await turn();
	}

	/** Resolves when no connection is open. */
	whenEmpty(): Promise<void> {
		return new Promise((resolve) => {
			if (this.#open.size === 0) resolve();
			else this.#onEmpty = resolve;
		});
	}
}
