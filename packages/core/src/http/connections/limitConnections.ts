import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { Counts } from '../../limits/Counts.js';
import { limitAddress, type Peers, siteKey } from '../requests/proxy.js';

interface Limits {
	perAddress(): number;
	total(): number;
}

/** An open connection that may have to give way. */
interface Open {
	socket: Socket;
	end(): void;
}

/**
 * Closes new connections from one address above its limit. Trusted proxies, whose clients share an address, may have any number. Above the
 * total a newcomer evicts a connection of a site that has more: an idle one of any such site, else the newest of the site with the most.
 * Where no site has more the newcomer is closed.
 */
export function limitConnections(
	listener: HttpServer,
	{ perAddress, total }: Limits,
	{ addressOf, isTrusted }: Peers,
	isIdle: (socket: Socket) => boolean,
): void {
	const openOf = new Counts();
	/** Those of each site, in the order in which they came. */
	const ofSites = new Map<string, Set<Open>>();
	let count = 0;

	/** Closes one of a site that has more than this; false if none has. No request is broken off as long as there is an idle one. */
	const makeRoom = (others: number): boolean => {
		let most: ReadonlySet<Open> = new Set();
		let mostWithIdle = others;
		let idle: Open | undefined;
		for (const ofSite of ofSites.values()) {
			if (ofSite.size > most.size) most = ofSite;
			if (ofSite.size <= mostWithIdle) continue;
			const found = [...ofSite].findLast(({ socket }) => isIdle(socket));
			if (found === undefined) continue;
			mostWithIdle = ofSite.size;
			idle = found;
		}
		const closed = idle ?? (most.size > others ? [...most].at(-1) : undefined);
		closed?.end();
		return closed !== undefined;
	};

	/** Counts a connection in, until it is closed or gives way. */
	const add = (socket: Socket, from: string | undefined) => {
		const leave = () => {
			if (!isOpen) return;
			isOpen = false;
			count--;
			if (from === undefined) return;
			openOf.add(from, -1);
			ofSite.delete(open);
			if (ofSite.size === 0) ofSites.delete(site);
		};
		const end = () => {
			leave();
			socket.destroy();
		};
		const open = { socket, end };
		let isOpen = true;
		const site = siteKey(from ?? '');
		const ofSite = ofSites.get(site) ?? new Set();
		count++;
		if (from !== undefined) {
			openOf.add(from, 1);
			ofSites.set(site, ofSite.add(open));
		}
		socket.once('close', leave);
	};

	listener.on('connection', (socket: Socket) => {
		const address = addressOf(socket);
		const from = isTrusted(address) ? undefined : limitAddress(address);
		const isAbove = from !== undefined && openOf.of(from) >= perAddress();
		const ofSite = from === undefined ? 0 : (ofSites.get(siteKey(from))?.size ?? 0) + 1;
		if (isAbove || (count >= total() && !makeRoom(ofSite))) socket.destroy();
		else add(socket, from);
	});
}
