import type { IncomingHttpHeaders } from 'node:http';
import type { Request } from '@stowage/plugin-api';
import type { Config } from '../config/schema.js';
import { trimBlanks } from '../http/requests/trimBlanks.js';
import { Counts } from '../limits/Counts.js';
import { secretHash } from '../secretHash.js';

type Site = Pick<Config, 'basePath'>;

export interface CookieNames {
	/** Who is signed in. */
	session: string;
	/** Which session this host has begun, where the name of that cookie does not say that this host has set it. */
	binding: string | undefined;
	/** Which accounts this client has signed in to before. */
	device: string;
	/** Which client of a share this is. */
	share: string;
}

/**
 * Over https the session's cookie is one that no other host or plain page can set (`__Host-`), which permits no path. Below a base path
 * other hosts of the domain could set it, so it counts only with a second one that they can't set, under a name of the path. Over plain
 * http both are ordinary ones.
 */
export function cookieNames({ basePath }: Site, isHttps: boolean): CookieNames {
	const prefix = isHttps ? (basePath === '' ? '__Host-' : '__Secure-') : '';
	return {
		...{ session: `${prefix}sid`, device: `${prefix}device` },
		binding: isHttps && basePath !== '' ? `__Host-sid-${secretHash(basePath).slice(0, 8)}` : undefined,
		// It has a path of its own, which the strictest prefix does not permit.
		share: `${isHttps ? '__Secure-' : ''}share`,
	};
}

/** The attributes of every cookie of the server. */
export function cookieAttributes({ basePath }: Site, isSecure: boolean) {
	return { path: basePath === '' ? '/' : basePath, isSecure, isHttpOnly: true, isSameSite: 'Lax' } as const;
}

/** Whether the client sends the cookie of a session, which may have expired: then it considers itself signed in. */
export function hasSessionCookie({ raw: { req } }: Request): boolean {
	return /(^|;[ \t]*)(__Host-|__Secure-)?sid=Fe26\.2\*/.test(req.headers.cookie ?? '');
}

/** The format of our values; anything else under the same name is another program's. */
const sealed = /^Fe26\.2\*[\w*~-]+$/;
const proofs = /^[\w.~-]+$/;

/** Values of one name that are tried. Each is decrypted, and a header has room for thousands. */
const maxValues = 16;

/**
 * Removes values from the header that can't be the server's cookies under these names. Another program on the host, or one that knew the
 * host before us, may have set a cookie of the same name or one that can't be parsed: neither may keep a person's own from being seen.
 * Several may remain, but not thousands. A name counts byte by byte, as for a browser, which lets other hosts set all but ours.
 */
export function keepOwnCookies(headers: IncomingHttpHeaders, names: CookieNames): void {
	if (headers.cookie === undefined) return;
	const { session, device, share, binding } = names;
	const proofNames = [device, share, ...(binding === undefined ? [] : [binding])];
	const found = new Counts();
	const isOwn = (pair: string) => {
		const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
		const mayBe = (name === session && sealed.test(value)) || (proofNames.includes(name) && proofs.test(value));
		if (mayBe) found.add(name, 1);
		return mayBe && found.of(name) <= maxValues;
	};
	const own = headers.cookie.split(';').map(trimBlanks).filter(isOwn);
	headers.cookie = own.join('; ');
}
