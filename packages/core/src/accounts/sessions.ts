import { createHash, randomBytes } from 'node:crypto';
import hapiCookie from '@hapi/cookie';
import type { Request, Server, SessionClient, SessionStore, UserRecord } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import type { Config } from '../config/schema.js';
import { visitorOf } from '../config/strangers.js';
import type { Log } from '../log.js';
import { secretHash } from '../secretHash.js';
import { cookieAttributes, cookieNames, keepOwnCookies } from './ownCookies.js';
import { SessionSubscriptions } from './SessionSubscriptions.js';

/** The time of the last use is written at most this often, so that reading is not writing. */
const touchMs = 5 * 60_000;

/** How long a browser keeps the cookie; the server ends idle sessions earlier. */
const cookieTtlMs = 30 * 24 * 60 * 60_000;

/** For how long a sign-in also confirms changes of the second factor. */
const recentMs = 10 * 60_000;

interface CookieAuth {
	set(session: { id: string }): void;
	clear(): void;
}

declare module '@hapi/hapi' {
	interface Request {
		secureCookie: CookieAuth;
		plainCookie: CookieAuth;
	}
}

export interface SessionInfo extends SessionClient {
	id: string;
	/** The value of `keyOf` for its requests. */
	key: string;
	createdAt: number;
	lastSeenAt: number;
}

export type SessionOwner = Pick<UserRecord, 'id' | 'username'>;

export interface Sessions {
	/**
	 * Begins a session with a new id and ends the client's former one. Throws `conflict` if the user's sessions were ended since the user
	 * was read.
	 */
	begin(request: Request, user: UserRecord): Promise<void>;
	/** The user's active sessions, the most recently used first. Their ids identify them and grant no access. */
	list(userId: string): Promise<SessionInfo[]>;
	/** Ends one of the user's sessions. Throws `notFound`. */
	endOne(user: SessionOwner, id: string): Promise<void>;
	/** Ends all sessions of the request's user but its own. Resolves to how many. */
	endOthers(request: Request, user: SessionOwner): Promise<number>;
	/** Ends the request's own session, also while nothing can be written. */
	end(request: Request): Promise<void>;
	/** Identifies the request's session while it is valid, and grants no access. Undefined for visitors. */
	keyOf(request: Request): string | undefined;
	/** Whether the request's session began within the last ten minutes: its user has just proved to know the password. */
	isRecent(request: Request): boolean;
	/** Whether the session with that key is still valid. */
	isValid(key: string): Promise<boolean>;
	/** Calls `onEnd` soon after the session of that key has ended, wherever that was, until the returned function is called. */
	subscribe(key: string, onEnd: () => void): () => void;
	/** How many wait for the end of one. */
	subscribers(): number;
}

function isCookie(cookie: unknown): cookie is { id: string } {
	return typeof cookie === 'object' && cookie !== null && 'id' in cookie && typeof cookie.id === 'string';
}

/** Identifies a session for its user and for the administrator: a part of the hash, from which the id can't be computed. */
function publicSessionId(idHash: string): string {
	return idHash.slice(0, 16);
}

/**
 * Sessions live in the database under the hash of their id; the browser holds the id, sealed. https is taken from `publicUrl`, else what
 * a trusted proxy reports.
 */
export async function registerSessions(
	server: Server,
	store: SessionStore,
	config: Config,
	secret: string,
	log: Log,
	clock: () => number,
): Promise<Sessions> {
	await server.register(hapiCookie);
	// From a text the encryption would derive two keys anew for each request, which costs more than the rest of the session together.
	const key = createHash('sha256').update(`cookies ${secret}`).digest();

	const ended = createEndedSessions(store, (error) =>
		log.error({ err: error }, 'an ended session could not be deleted'),
	);
	server.ext('onPostStop', () => ended.close());

	const find = async (idHash: string, now: number) => (ended.has(idHash) ? undefined : await store.find(idHash, now));
	const validate = async (request: Request, cookies: unknown, isForHttps: boolean) => {
		if (request.client.isHttps !== isForHttps) return { isValid: false };
		// A cookie of a parent path may be sent beside the server's own: any known value is accepted.
		const idHashes = [cookies].flat().flatMap((cookie) => (isCookie(cookie) ? [secretHash(cookie.id)] : []));
		const now = clock();
		for (const idHash of idHashes) {
			const found = await find(idHash, now);
			if (found === undefined) continue;
			if (now - found.session.lastSeenAt > touchMs) await touch(idHash, now);
			const user = { id: found.user.id, username: found.user.username };
			const { createdAt } = found.session;
			return { isValid: true, credentials: { user, idHash, idHashes, createdAt } };
		}
		return { isValid: false };
	};
	const touch = async (idHash: string, now: number) => {
		try {
			await store.touch(idHash, now);
		} catch (error) {
			// Requests are still served if nothing can be written: the next one tries again.
			if (!isFailure(error)) throw error;
		}
	};
	const strategy = (name: string, isSecure: boolean, decorator: 'secureCookie' | 'plainCookie') =>
		server.auth.strategy(name, 'cookie', {
			cookie: {
				name: cookieNames(config, isSecure).session,
				password: key,
				...cookieAttributes(config, isSecure),
				ttl: cookieTtlMs,
				// A value that does not match may be another program's, or be sent beside a valid one.
				clearInvalid: false,
			},
			requestDecoratorName: decorator,
			validate: (request: Request, cookies: unknown) => validate(request, cookies, isSecure),
		});
	strategy('https', true, 'secureCookie');
	strategy('http', false, 'plainCookie');
	server.ext('onRequest', (request, h) => {
		keepOwnCookies(request.raw.req.headers, cookieNames(config, request.client.isHttps));
		return h.continue;
	});
	// The likelier one first, since a failure costs an error.
	const strategies = config.publicUrl.startsWith('https:') ? ['https', 'http'] : ['http', 'https'];
	server.auth.default({ strategies, mode: 'try' });

	const visitor = visitorOf(config);
	server.decorate('request', 'viewer', visitor);
	// Before the body: a caller who may not call is refused at once.
	server.ext('onCredentials', (request, h) => {
		// While the database is not available a signed-in user must not become a visitor.
		const cause = (request.auth.error as { data?: unknown } | null)?.data;
		if (cause instanceof Error) throw cause;
		if (request.auth.isAuthenticated) {
			const { id, username } = (request.auth.credentials as { user: { id: string; username: string } }).user;
			(request as { viewer: Request['viewer'] }).viewer = { kind: 'user', id, username };
		} else {
			const endpoint = request.route.settings.app?.endpoint?.();
			if (endpoint?.audience === 'user') throw new Failure('notSignedIn', endpoint.signInMessage);
			(request as { viewer: Request['viewer'] }).viewer = visitor;
		}
		return h.continue;
	});

	const cookieOf = (request: Request) => (request.client.isHttps ? request.secureCookie : request.plainCookie);
	const isValid = async (idHash: string) => (await find(idHash, clock())) !== undefined;
	const subscriptions = new SessionSubscriptions((idHashes) =>
		store.findValid(
			idHashes.filter((idHash) => !ended.has(idHash)),
			clock(),
		),
	);
	const keyOf: Sessions['keyOf'] = (request) => ((request.auth.credentials ?? {}) as { idHash?: string }).idHash;
	const isRecent: Sessions['isRecent'] = (request) => {
		const { createdAt = Number.NaN } = (request.auth.credentials ?? {}) as { createdAt?: number };
		const age = clock() - createdAt;
		// A session of the future began while the clock was wrong.
		return age >= 0 && age <= recentMs;
	};
	const list: Sessions['list'] = async (userId) => {
		const found = await store.list(userId, clock());
		return found
			.filter(({ idHash }) => !ended.has(idHash))
			.map(({ idHash, createdAt, lastSeenAt, userAgent, address }) => ({
				id: publicSessionId(idHash),
				key: idHash,
				createdAt,
				lastSeenAt,
				userAgent,
				address,
			}));
	};
	const endCurrent = async (request: Request) => {
		const { idHashes = [] } = (request.auth.credentials ?? {}) as { idHashes?: string[] };
		for (const idHash of idHashes) await ended.end(idHash);
	};
	return {
		async begin(request, user) {
			await endCurrent(request);
			const id = randomBytes(32).toString('base64url');
			const userAgent = request.raw.req.headers['user-agent'] ?? null;
			await store.add(secretHash(id), user, { userAgent, address: request.client.address });
			cookieOf(request).set({ id });
		},
		async end(request) {
			await endCurrent(request);
			cookieOf(request).clear();
		},
		list,
		async endOne(user, id) {
			const found = (await list(user.id)).find((session) => session.id === id);
			if (found === undefined) throw new Failure('notFound', 'There is no such session.');
			await ended.end(found.key);
		},
		endOthers: (request, user) => store.removeOf(user.id, keyOf(request)),
		keyOf,
		isRecent,
		isValid,
		subscribe: (key, onEnd) => subscriptions.subscribe(key, onEnd),
		subscribers: () => subscriptions.count,
	};
}

const retryMs = 10_000;

/** Ends sessions for certain: one whose row can't be deleted right now is refused until it can. */
export interface EndedSessions {
	has(idHash: string): boolean;
	/** Ends the session at once, and deletes its row as soon as the database accepts that. A restart before that loses this refusal. */
	end(idHash: string): Promise<void>;
	/** Tries once more to delete the remaining rows. */
	close(): Promise<void>;
}

/** `onError` is called with errors that no caller waits for. */
export function createEndedSessions(
	store: Pick<SessionStore, 'remove'>,
	onError: (error: unknown) => void,
): EndedSessions {
	const ended = new Set<string>();
	let timer: NodeJS.Timeout | undefined;

	const remove = async (idHash: string): Promise<void> => {
		try {
			await store.remove(idHash);
			ended.delete(idHash);
		} catch (error) {
			// On a full or read-only disk sessions can still be read, so this refusal is the only one.
			if (!isFailure(error, 'storageFull') && !isFailure(error, 'unavailable')) throw error;
		}
	};
	const retry = async (): Promise<void> => {
		for (const idHash of [...ended]) await remove(idHash);
	};
	const retryLater = (): void => {
		if (ended.size === 0) return;
		timer ??= setTimeout(() => {
			timer = undefined;
			retry().catch(onError).finally(retryLater);
		}, retryMs).unref();
	};
	return {
		has: (idHash) => ended.has(idHash),
		async end(idHash) {
			ended.add(idHash);
			try {
				await remove(idHash);
			} finally {
				retryLater();
			}
		},
		async close() {
			clearTimeout(timer);
			await retry();
		},
	};
}
