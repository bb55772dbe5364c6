import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { limitAddress, type Peers } from '../requests/proxy.js';

/** Closes new connections from one address above `limit()`. Trusted proxies, whose clients share an address, may have any number. */
export function limitConnections(listener: HttpServer, limit: () => number, { addressOf, isTrusted }: Peers): void {
	const open = new Map<string, number>();
	listener.on('connection', (socket: Socket) => {
		const address = addressOf(socket);
		if (isTrusted(address)) return;
		const from = limitAddress(address);
		const count = (open.get(from) ?? 0) + 1;
		if (count > limit()) {
			socket.destroy();
			return;
		}
		open.set(from, count);
		socket.once('close', () => {
			const left = (open.get(from) ?? 1) - 1;
			if (left === 0) open.delete(from);
			else open.set(from, left);
		});
	});
}
