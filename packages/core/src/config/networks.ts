import { isIP } from 'node:net';

export interface Network {
	address: string;
	/** Bits that all its addresses share. */
	length: number;
	family: 'ipv4' | 'ipv6';
}

/** Parses an address or a network such as `10.0.0.0/8`; undefined for anything else. */
export function parseNetwork(text: string): Network | undefined {
	const [address = '', prefix, ...more] = text.split('/');
	const family = isIP(address);
	const longest = family === 6 ? 128 : 32;
	const length = prefix === undefined ? longest : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
	if (more.length > 0 || family === 0 || !(length <= longest)) return undefined;
	return { address, length, family: family === 6 ? 'ipv6' : 'ipv4' };
}
