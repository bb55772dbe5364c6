import { isIP } from 'node:net';
import { Failure } from '@stowage/rules';

/**
 * Names that can't be pointed at an intranet by public DNS: `localhost` and `test` (RFC 6761), `local` (RFC 6762), `home.arpa` (RFC
 * 8375), `internal`, which is reserved for private use, and `home` and `lan`, which routers give out and which are not delegated.
 */
const privateDomains = ['localhost', 'test', 'local', 'home.arpa', 'internal', 'home', 'lan'];

interface Host {
	name: string;
	/** Empty if there is none. */
	port: string;
}

/** Parses `host`, `host:port`, an address, or IPv6 in brackets; undefined for anything else. */
function parseHost(text: string): Host | undefined {
	if (!/^(\[[\da-f:.]+\]|[^\s:/?#@*\\[\]]+)(:\d{0,5})?$/i.test(text) || !URL.canParse(`http://${text}`))
		return undefined;
	// The scheme's own port is left out by URL, and 80 must not be taken for any.
	const { hostname } = new URL(`http://${text}`);
	return { name: hostname.replace(/\.$/, ''), port: /:(\d+)$/.exec(text)?.[1] ?? '' };
}

/** Whether a text is valid in `allowedHosts`: a host with or without its port, or `*.` and a domain. */
export function isHostPattern(text: string): boolean {
	return parseHost(text.replace(/^\*\./, '')) !== undefined;
}

/**
 * Throws `misdirected` for a request whose host is not this server's: a page of another site whose name was pointed at this server (DNS
 * rebinding) would count as same-origin. Everything is allowed until `publicUrl` or `allowedHosts` says which names are the server's;
 * addresses and names that public DNS doesn't know always are.
 */
export function createHostCheck({
	publicUrl,
	allowedHosts,
}: {
	publicUrl: string;
	allowedHosts: readonly string[];
}): (host: string) => void {
	const own = publicUrl === '' ? allowedHosts : [...allowedHosts, new URL(publicUrl).hostname];
	const names = own.flatMap((text) => {
		const host = parseHost(text.replace(/^\*\./, ''));
		return host === undefined ? [] : [{ ...host, isDomain: text.startsWith('*.') }];
	});
	return (text) => {
		// Only HTTP/1.0 names no host, and no browser speaks it.
		if (names.length === 0 || text === '') return;
		const host = parseHost(text);
		if (host === undefined)
			throw new Failure('misdirected', 'This is not the name of a host. See the setting allowedHosts.');
		const isOwn = names.some(
			({ name, port, isDomain }) =>
				(isDomain ? host.name.endsWith(`.${name}`) : host.name === name) && (port === '' || port === host.port),
		);
		if (isOwn || isPrivate(host.name)) return;
		throw new Failure(
			'misdirected',
			`${host.name} is not a name of this server. Its administrator can add it to the setting allowedHosts.`,
		);
	};
}

function isPrivate(name: string): boolean {
	if (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || !name.includes('.')) return true;
	return privateDomains.some((domain) => name.endsWith(`.${domain}`));
}
