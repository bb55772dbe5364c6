import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Request, ShareHead } from '@stowage/plugin-api';
import { cookieNames } from '../accounts/ownCookies.js';
import type { Config } from '../config/schema.js';
import { limitAddress } from '../http/requests/proxy.js';
import { isOver } from '../limits/isOver.js';

/** How long a browser is the same client of a share, and has it open. */
const ttlMs = 7 * 24 * 60 * 60_000;

/** Values of the name that are tried: a header has room for thousands. */
const maxValues = 16;

/**
 * The cookie of a share: which client this is, and that it has opened the share. It is of one share and of its
 * password, and a browser sends it to that share's calls only.
 */
export interface ShareCookies {
	/** Whether the request has the share's cookie, which only who has opened it has. */
	hasOpened(request: Request, share: ShareHead): boolean;
	/** The name by which the caller's downloads are counted: the cookie, or the address where there is none. */
	clientOf(request: Request, share: ShareHead): string;
	/** Sets it with the answer, unless the client has one. Nobody can be made another client by it. */
	give(request: Request, token: string, share: ShareHead): void;
}

export function createShareCookies(config: Pick<Config, 'basePath'>, secret: string, now: () => number): ShareCookies {
	const key = createHash('sha256').update(`share cookies ${secret}`).digest();
	const macOf = ({ id, passwordSecret }: ShareHead, client: string, since: string) =>
		createHmac('sha256', key)
			.update(JSON.stringify([id, passwordSecret, client, since]))
			.digest();

	const provenClient = (value: string, share: ShareHead): string | undefined => {
		const [, client = '', since = '', mac = ''] = /^([\w-]{22})\.([0-9a-z]{1,11})\.([\w-]{43})$/.exec(value) ?? [];
		if (isOver(Number.parseInt(since, 36), ttlMs, now())) return undefined;
		const given = Buffer.from(mac, 'base64url');
		const wanted = macOf(share, client, since);
		return given.length === wanted.length && timingSafeEqual(given, wanted) ? client : undefined;
	};
	const nameFor = ({ client }: Request) => cookieNames(config, client.isHttps).share;
	const clientIn = (request: Request, share: ShareHead): string | undefined => {
		const values = [request.state[nameFor(request)] as unknown].flat().slice(0, maxValues);
		for (const value of values) {
			const client = typeof value === 'string' ? provenClient(value, share) : undefined;
			if (client !== undefined) return client;
		}
		return undefined;
	};

	return {
		hasOpened: (request, share) => clientIn(request, share) !== undefined,
		clientOf: (request, share) => clientIn(request, share) ?? `address ${limitAddress(request.client.address)}`,
		give(request, token, share) {
			if (clientIn(request, share) !== undefined) return;
			const client = randomBytes(16).toString('base64url');
			const since = now().toString(36);
			const value = `${client}.${since}.${macOf(share, client, since).toString('base64url')}`;
			const attributes = [
				...[`Max-Age=${ttlMs / 1000}`, `Path=${config.basePath}/api/share/${token}`, 'HttpOnly', 'SameSite=Lax'],
				...(request.client.isHttps ? ['Secure'] : []),
			];
			// Not by hapi, past which long listings are sent.
			request.raw.res.appendHeader('set-cookie', [`${nameFor(request)}=${value}`, ...attributes].join('; '));
		},
	};
}
