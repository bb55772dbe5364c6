import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Config, createPeers, freeSocket, openSocket, socketPathOf } from '@stowage/core';
import { WaitingConnections } from './WaitingConnections.js';

/** Takes a connection, or says that it can't. */
export interface Acceptor {
	accept(socket: Socket): boolean;
}

/**
 * Listens at the configured port or socket, and hands each connection on to the next of those who accept. In place of
 * node:cluster, whose primary process keeps a connection open and unanswered for ever when the worker dies to which it
 * is on its way.
 */
export class Listener {
	readonly #server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => this.#handOn(socket));
	readonly #acceptors: Acceptor[] = [];
	/** Connections that no process takes yet: the only one is being replaced, or each has as many on their way as it may. */
	readonly #waiting: WaitingConnections;
	readonly #config: Config;
	#isEnding = false;

	constructor(config: Config) {
		this.#config = config;
		this.#waiting = new WaitingConnections(createPeers(config));
	}

	/** Resolves to the address, such as `http://127.0.0.1:7420`. */
	async listen(): Promise<string> {
		const config = this.#config;
		const path = socketPathOf(config);
		if (path === undefined) {
			this.#server.listen({ host: config.host, port: config.port });
			await once(this.#server, 'listening');
			const { port } = this.#server.address() as AddressInfo;
			const host = config.host.includes(':') ? `[${config.host}]` : config.host;
			return `http://${host}:${port}${config.basePath}`;
		}
		await freeSocket(config);
		// Nobody else can connect until it has its mode. Node binds within the call.
		const umask = process.umask(0o177);
		this.#server.listen(path);
		process.umask(umask);
		await once(this.#server, 'listening');
		await openSocket(config);
		return config.listen;
	}

	add(acceptor: Acceptor): void {
		this.#acceptors.push(acceptor);
		this.handOnWaiting();
	}

	remove(acceptor: Acceptor): void {
		const at = this.#acceptors.indexOf(acceptor);
		if (at !== -1) this.#acceptors.splice(at, 1);
		if (this.#isEnding) this.end();
	}

	/** Hands on waiting connections. Called when an acceptor may have room again. */
	handOnWaiting(): void {
		for (let socket = this.#waiting.first; socket !== undefined; socket = this.#waiting.first) {
			if (!this.#isAccepted(socket)) return;
			this.#waiting.removeFirst();
		}
	}

	/** Connections are refused once nobody accepts any, instead of waiting. */
	end(): void {
		this.#isEnding = true;
		if (this.#acceptors.length > 0) return;
		this.#server.close();
		this.#waiting.destroyAll();
	}

	#handOn(socket: Socket): void {
		// It fails while it waits when its client has gone.
		socket.on('error', () => socket.destroy());
		this.#waiting.add(socket);
		this.handOnWaiting();
	}

	#isAccepted(socket: Socket): boolean {
		for (const _ of this.#acceptors) {
			const next = this.#acceptors.shift() as Acceptor;
			this.#acceptors.push(next);
			if (next.accept(socket)) return true;
		}
		return false;
	}
}
