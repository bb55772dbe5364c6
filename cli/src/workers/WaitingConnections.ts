import type { Socket } from 'node:net';
import { limitAddress, type Peers } from '@stowage/core';

const maxWaiting = 1000;

/**
 * Connections that wait to be handed on, round robin by address: one that opens thousands delays another one's by one.
 * Above a bound, one of the address with the most is closed.
 */
export class WaitingConnections {
	/** The sockets of each address, addresses in round robin order. */
	readonly #byAddress = new Map<string, Socket[]>();
	readonly #peers: Pick<Peers, 'addressOf'>;
	#size = 0;

	constructor(peers: Pick<Peers, 'addressOf'>) {
		this.#peers = peers;
	}

	get first(): Socket | undefined {
		for (const [socket] of this.#byAddress.values()) return socket;
		return undefined;
	}

	add(socket: Socket): void {
		const address = limitAddress(this.#peers.addressOf(socket));
		const waiting = this.#byAddress.get(address);
		if (waiting === undefined) this.#byAddress.set(address, [socket]);
		else waiting.push(socket);
		if (++this.#size > maxWaiting) this.#closeOne();
	}

	/** The address of the first one becomes the last. */
	removeFirst(): void {
		for (const [address, waiting] of this.#byAddress) {
			waiting.shift();
			this.#size--;
			this.#byAddress.delete(address);
			if (waiting.length > 0) this.#byAddress.set(address, waiting);
			return;
		}
	}

	destroyAll(): void {
		for (const waiting of this.#byAddress.values()) for (const socket of waiting) socket.destroy();
		this.#byAddress.clear();
		this.#size = 0;
	}

	/** The latest one of the address that has the most. */
	#closeOne(): void {
		let most: Socket[] = [];
		for (const waiting of this.#byAddress.values()) if (waiting.length > most.length) most = waiting;
		most.pop()?.destroy();
		this.#size--;
	}
}
