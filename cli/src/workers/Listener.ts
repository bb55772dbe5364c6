import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type Config, freeSocket, openSocket, socketPathOf } from '@stowage/core';

/** Takes a connection, or says that it can't. */
export interface Acceptor {
	accept(socket: Socket): boolean;
}

/** Connections that wait while no process takes any, as while the only one is replaced. */
const maxWaiting = 1000;

/**
 * Listens at the configured port or socket, and hands each connection on to the next of those who accept. In place of node:cluster, whose primary process keeps a connection open and
 * unanswered for ever when the worker dies to which it is on its way.
 */
export class Listener {
	readonly #server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => this.#handOn(socket));
	readonly #acceptors: Acceptor[] = [];
	readonly #waiting: Socket[] = [];
	#isEnding = false;

	/** Resolves to the address, such as `http://127.0.0.1:7420`. */
	async listen(config: Config): Promise<string> {
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
		for (const socket of this.#waiting.splice(0)) this.#handOn(socket);
	}

	remove(acceptor: Acceptor): void {
		const at = this.#acceptors.indexOf(acceptor);
		if (at !== -1) this.#acceptors.splice(at, 1);
		if (this.#isEnding) this.end();
	}

	/** Connections are refused once nobody accepts any, instead of waiting. */
	end(): void {
		this.#isEnding = true;
		if (this.#acceptors.length > 0) return;
		this.#server.close();
		for (const socket of this.#waiting.splice(0)) socket.destroy();
	}

	#handOn(socket: Socket): void {
		// It fails while it waits when its client has gone.
		socket.on('error', () => socket.destroy());
		for (const _ of this.#acceptors) {
			const next = this.#acceptors.shift() as Acceptor;
			this.#acceptors.push(next);
			if (next.accept(socket)) return;
		}
		if (this.#waiting.length < maxWaiting) this.#waiting.push(socket);
		else socket.destroy();
	}
}
