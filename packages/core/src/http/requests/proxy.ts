import type { Server as HttpServer, IncomingMessage } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import { isStranger, type Viewer } from '@stowage/rules';
import { parseNetwork } from '../../config/networks.js';
import type { Config } from '../../config/schema.js';
import { trimBlanks } from './trimBlanks.js';

export interface ClientInfo {
	/** The address of the client: the socket's, or the rightmost hop that is no trusted proxy. */
	address: string;
	isHttps: boolean;
	/** Host and port by which the client called. */
	host: string;
}

/** Who connects. */
export interface Peers {
	addressOf(socket: Socket): string;
	/** Whether an address is a proxy's that is believed. */
	isTrusted(address: string): boolean;
}

const thisMachine = '127.0.0.1';

type PeerSettings = Pick<Config, 'listen' | 'host' | 'trustedProxies'>;

/** Who may connect: whom the server believes as a proxy, and the address that others reach it at. */
export interface PossiblePeers {
	trusted: readonly string[];
	/** Undefined at a unix socket: connections have no address there, and its mode admits proxies of this machine only. */
	host: string | undefined;
}

export function peersOf({ listen, host, trustedProxies }: PeerSettings): PossiblePeers {
	if (listen === '') return { trusted: trustedProxies, host };
	return { trusted: [...trustedProxies, thisMachine], host: undefined };
}

export function createPeers(config: PeerSettings): Peers {
	const { trusted, host } = peersOf(config);
	return {
		addressOf: (socket) => (host === undefined ? thisMachine : plainAddress(socket.remoteAddress ?? '')),
		isTrusted: trustedBy(trusted),
	};
}

/** Reads who is at the other end, believing forwarded headers only from trusted proxies. */
export function createClientReader(
	{ addressOf, isTrusted }: Peers,
	publicUrl: string,
): (request: IncomingMessage) => ClientInfo {
	return (request) => {
		const peer = addressOf(request.socket);
		const host = request.headers.host ?? '';
		const isPublicHttps = publicUrl.startsWith('https:');
		if (!isTrusted(peer)) return { address: peer, isHttps: isPublicHttps, host };
		const scheme = lastValue(header(request, 'x-forwarded-proto'));
		return {
			address: clientBehind(peer, header(request, 'x-forwarded-for'), isTrusted),
			isHttps: publicUrl === '' ? scheme === 'https' : isPublicHttps,
			host: lastValue(header(request, 'x-forwarded-host')) || host,
		};
	};
}

/**
 * A proxy that serves us below a path may take that path off and say so by `X-Forwarded-Prefix`. It is restored before any check, so that
 * there is one way to read a URL.
 */
export function restorePrefix(listener: HttpServer, basePath: string, { addressOf, isTrusted }: Peers): void {
	if (basePath === '') return;
	listener.prependListener('request', (request: IncomingMessage) => {
		if (request.headers['x-forwarded-prefix'] !== basePath || !isTrusted(addressOf(request.socket))) return;
		const url = request.url ?? '/';
		// The page itself has no slash at its end.
		request.url = basePath + (/^\/($|\?)/.test(url) ? url.slice(1) : url);
	});
}

/**
 * The rightmost hop that is no trusted proxy. Anything left of it is claimed by the client; so is anything left of a hop that is no
 * address (`unknown`, an obfuscated name), and then the proxy that wrote it is as far as we can see. The package proxy-addr takes such a
 * hop, or one with its port, for the address itself.
 */
function clientBehind(peer: string, forwardedFor: string, isTrusted: (address: string) => boolean): string {
	let seen = peer;
	for (const hop of forwardedFor.split(',').reverse()) {
		const address = addressOfHop(trimBlanks(hop));
		if (address === undefined) return seen;
		if (!isTrusted(address)) return address;
		seen = address;
	}
	return seen;
}

/** The address of a hop, to which some proxies add the port, or which they write in brackets where it is IPv6. */
function addressOfHop(hop: string): string | undefined {
	const [, bracketed, withPort] = /^(?:\[([^\]]*)\](?::\d{1,5})?|(\d+(?:\.\d+){3}):\d{1,5})$/.exec(hop) ?? [];
	const address = plainAddress((bracketed ?? withPort ?? hop).toLowerCase());
	return isIP(address) === 0 || address.includes('%') ? undefined : address;
}

/** Whether an address is one of the trusted proxies', which the configuration has checked. */
function trustedBy(trustedProxies: readonly string[]): (address: string) => boolean {
	const trusted = new BlockList();
	for (const proxy of trustedProxies) {
		const network = parseNetwork(proxy);
		if (network !== undefined) trusted.addSubnet(network.address, network.length, network.family);
	}
	return (address) => {
		const family = isIP(address);
		return family !== 0 && trusted.check(address, family === 6 ? 'ipv6' : 'ipv4');
	};
}

function header(request: IncomingMessage, name: string): string {
	const value = request.headers[name];
	return Array.isArray(value) ? value.join(',') : (value ?? '');
}

function lastValue(text: string): string {
	return trimBlanks(text.split(',').at(-1) ?? '');
}

/** IPv4 addresses arrive as `::ffff:a.b.c.d` on a socket that takes both families. */
function plainAddress(address: string): string {
	return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/** The address that limits count by: an IPv6 customer has a whole /64 of addresses. */
export function limitAddress(address: string): string {
	return isIP(address) === 6 ? networkOf(address, 4) : address;
}

/** The largest network that one customer usually has, with 65,536 times as many addresses; undefined for one of IPv4. */
export function siteOf(address: string): string | undefined {
	return isIP(address) === 6 ? networkOf(address, 3) : undefined;
}

/**
 * The site of a `clientKey`, whose clients are counted as one where they compete for what is left: a /48 of IPv6, one IPv4 address, or an
 * account.
 */
export function siteKey(client: string): string {
	return (client.endsWith('/64') && siteOf(client.slice(0, -3))) || client;
}

/** The network of an IPv6 address that has its first groups. */
function networkOf(address: string, groupCount: number): string {
	const [head = '', tail] = address.split('::');
	const groups = head === '' ? [] : head.split(':');
	if (tail !== undefined) {
		const rest = tail === '' ? [] : tail.split(':');
		while (groups.length + rest.length < 8) groups.push('0');
	}
	return `${groups
		.slice(0, groupCount)
		.map((group) => Number.parseInt(group, 16).toString(16))
		.join(':')}::/${groupCount * 16}`;
}

/** Identifies a client for limits: a user wherever they are, or a visitor's address (of IPv6 its /64). */
export function clientKey(viewer: Viewer, address: string): string {
	return viewer.kind === 'user' && !isStranger(viewer) ? accountKey(viewer.id) : limitAddress(address);
}

/** The network of an address where networks compete: a /48 of IPv6, or one IPv4 address, behind which there may be many people. */
export const networkKey = (address: string): string => siteKey(limitAddress(address));

/** The client of a request and the network that it asks from, for queues: one network may have any number of accounts. */
export function queueClient(viewer: Viewer, address: string): { client: string; network: string } {
	return { client: clientKey(viewer, address), network: networkKey(address) };
}

/** The `clientKey` of an account. */
export const accountKey = (userId: string): string => `${userKey}${userId}`;

const userKey = 'user ';

/** Whether this is the key of somebody who is not signed in: of an address. */
export function isVisitorKey(client: string): boolean {
	return !client.startsWith(userKey);
}
