import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Server as HapiServer } from '@hapi/hapi';
import type { Config } from '../../config/schema.js';
import type { Drain } from './Drain.js';
import { listen } from './unixSocket.js';

/** Another process that listens, and hands its connections to this one. */
export interface ConnectionSource {
	/** Where it listens, such as `http://127.0.0.1:7420`. */
	address: string;
	/** Calls `accept` with each connection from now on, paused. */
	begin(accept: (socket: Socket) => void): void;
	/** Asks for no further one. Resolves when the last one has come. */
	end(): Promise<void>;
}

/** How connections come to the server, from a port or socket of its own or from another process. */
export interface Accepting {
	/** Resolves to the address. */
	begin(): Promise<string>;
	/** Resolves when no connection comes any more. */
	end(): Promise<void>;
}

export function createAccepting(
	server: HapiServer,
	config: Config,
	drain: Drain,
	source: ConnectionSource | undefined,
): Accepting {
	const { listener } = server;
	drain.watch(listener);
	if (source === undefined)
		return {
			begin: () => listen(server, config),
			// HTTP's own would end idle connections, too.
			async end() {
				if (listener.listening) NetServer.prototype.close.call(listener);
			},
		};
	closeWhenEmpty(listener, drain);
	return {
		async begin() {
			await server.start();
			actAsListening(listener);
			source.begin((socket) => {
				// As Node's server makes its own.
				socket.allowHalfOpen = true;
				socket.setNoDelay(true);
				listener.emit('connection', socket);
				socket.resume();
			});
			return source.address;
		},
		end: () => source.end(),
	};
}

/**
 * hapi knows the connections that come from now on, which it needs to end them when it stops: idle ones at once, others
 * after a while.
 */
function actAsListening(listener: Server): void {
	listener.address = () => ({ address: '', family: '', port: 0 });
	listener.emit('listening');
}

/** hapi waits for the end of connections through its listener, which counts only those that it accepted itself. */
function closeWhenEmpty(listener: Server, drain: Drain): void {
	listener.close = (callback?: (error?: Error) => void) => {
		void drain.whenEmpty().then(() => callback?.());
		return listener;
	};
}
