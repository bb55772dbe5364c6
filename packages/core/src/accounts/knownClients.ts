import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ResponseToolkit } from '@hapi/hapi';
import type { Request, UserRecord } from '@stowage/plugin-api';
import type { Config } from '../config/schema.js';
import { isOver } from '../limits/isOver.js';
import { cookieAttributes, cookieNames } from './ownCookies.js';

/** How long a client stays known after a sign-in. */
const ttlMs = 180 * 24 * 60 * 60_000;

/** Accounts that know one client, such as a family's on one computer. */
const maxAccounts = 5;

/**
 * Clients that have signed in to an account before. They keep a cookie that proves it and grants nothing: its client only does not have
 * to wait for the guesses of others. It ends with the password under which it was given.
 */
export interface KnownClients {
	/** The random id under which the request's client is known to the user. It takes the same time for an unknown client. */
	idOf(request: Request, user: UserRecord | undefined): string | undefined;
	/** Makes the client known to the user who has just signed in. */
	remember(request: Request, h: ResponseToolkit, user: UserRecord): void;
}

export function createKnownClients(config: Pick<Config, 'basePath'>, secret: string, now: () => number): KnownClients {
	const key = createHash('sha256').update(`known clients ${secret}`).digest();
	const macOf = (user: UserRecord | undefined, id: string, since: number) =>
		createHmac('sha256', key).update(`${user?.id} ${user?.secret} ${id} ${since}`).digest();

	/** The id in a proof that is valid for this user. */
	const provenId = (proof: string, user: UserRecord | undefined): string | undefined => {
		const [, id = '', stamp = '', mac = ''] = /^([\w-]{22})\.([0-9a-z]{1,11})\.([\w-]{43})$/.exec(proof) ?? [];
		const since = Number.parseInt(stamp, 36);
		if (isOver(since, ttlMs, now())) return undefined;
		const given = Buffer.from(mac, 'base64url');
		const wanted = macOf(user, id, since);
		return given.length === wanted.length && timingSafeEqual(given, wanted) && user !== undefined ? id : undefined;
	};
	const nameFor = ({ client }: Request) => cookieNames(config, client.isHttps).device;
	const proofsOf = (request: Request): string[] =>
		[request.state[nameFor(request)] as unknown]
			.flat()
			// Of each, since another host of the domain may have set one, which is sent before the own one.
			.flatMap((cookie) => (typeof cookie === 'string' ? cookie.split('~', maxAccounts) : []));

	return {
		idOf(request, user) {
			const ids = proofsOf(request).map((proof) => provenId(proof, user));
			return ids.find((id) => id !== undefined);
		},
		remember(request, h, user) {
			const others = proofsOf(request).filter((proof) => provenId(proof, user) === undefined);
			const id = randomBytes(16).toString('base64url');
			const since = now();
			const proof = `${id}.${since.toString(36)}.${macOf(user, id, since).toString('base64url')}`;
			h.state(nameFor(request), [proof, ...others].slice(0, maxAccounts).join('~'), {
				ttl: ttlMs,
				...cookieAttributes(config, request.client.isHttps),
				encoding: 'none',
			});
		},
	};
}
