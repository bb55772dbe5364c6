import type { Socket } from 'node:net';
import { limitAddress, type Peers, siteKey } from '@stowage/core';

const maxWaiting = 1000;

/**
 * Connections that wait to be handed on, round robin by site: one that opens thousands delays another one's by one.
 * Above a bound, one of the site with the most is closed.
 */
export class WaitingConnections {
	/** The sockets of each `siteKey`, sites in round robin order. */
	readonly #bySite = new Map<string, Socket[]>();
	readonly #peers: Pick<Peers, 'addressOf'>;
	#size = 0;

	constructor(peers: Pick<Peers, 'addressOf'>) {
		this.#peers = peers;
	}

	get first(): Socket | undefined {
		for (const [socket] of this.#bySite.values()) return socket;
		return undefined;
	}

	add(socket: Socket): void {
		const site = siteKey(limitAddress(this.#peers.addressOf(socket)));
		const waiting = this.#bySite.get(site) ?? [];
		waiting.push(socket);
		this.#bySite.set(site, waiting);
		if (++this.#size > maxWaiting) this.#closeOne(site);
	}

	/** The site of the first one becomes the last. */
	removeFirst(): void {
		for (const [site, waiting] of this.#bySite) {
			waiting.shift();
			this.#size--;
			this.#bySite.delete(site);
			if (waiting.length > 0) this.#bySite.set(site, waiting);
			return;
		}
	}

	destroyAll(): void {
		for (const waiting of this.#bySite.values()) for (const socket of waiting) socket.destroy();
		this.#bySite.clear();
		this.#size = 0;
	}

	/** The latest one of the site that has the most, which is the given one unless another has more. */
	#closeOne(site: string): void {
		let largest = site;
		let most = this.#bySite.get(site) ?? [];
		for (const [each, waiting] of this.#bySite) if (waiting.length > most.length) [largest, most] = [each, waiting];
		most.pop()?.destroy();
		if (most.length === 0) this.#bySite.delete(largest);
		this.#size--;
	}
}
