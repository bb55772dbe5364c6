import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { Counts } from '../../limits/Counts.js';
import { limitAddress, type Peers } from '../requests/proxy.js';

/** Closes new connections from one address above `limit()`. Trusted proxies, whose clients share an address, may have any number. */
export function limitConnections(listener: HttpServer, limit: () => number, { addressOf, isTrusted }: Peers): void {
	const open = new Counts();
	listener.on('connection', (socket: Socket) => {
		const address = addressOf(socket);
		if (isTrusted(address)) return;
		const from = limitAddress(address);
		if (open.of(from) >= limit()) {
			socket.destroy();
			return;
		}
		open.add(from, 1);
		socket.once('close', () => open.add(from, -1));
	});
}
