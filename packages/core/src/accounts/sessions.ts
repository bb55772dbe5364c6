import { randomBytes } from 'node:crypto';
import type { ResponseToolkit, ServerStateCookieOptions } from '@hapi/hapi';
import type { Request, Server, SessionClient, SessionStore, UserRecord } from '@stowage/plugin-api';
import { Failure, isFailure } from '@stowage/rules';
import { accountFields } from '../audit/auditLine.js';
import type { Audit } from '../audit/createAudit.js';
import type { Config } from '../config/schema.js';
import { visitorOf } from '../config/strangers.js';
import { EndSubscriptions } from '../events/EndSubscriptions.js';
import type { SiblingEvents } from '../events/SiblingEvents.js';
import { addStep } from '../http/requests/addStep.js';
import type { Log } from '../log.js';
import { secretHash } from '../secretHash.js';
import { cookieAttributes, cookieNames, keepOwnCookies } from './ownCookies.js';
import { createSessionSeal } from './sessionSeal.js';

/** The time of the last use is written at most this often, so that reading is not writing. */
const touchMs = 5 * 60_000;

/** How long a browser keeps the cookie; the server ends idle sessions earlier. */
const cookieTtlMs = 30 * 24 * 60 * 60_000;

/** For how long a sign-in also confirms changes of the second factor. */
const recentMs = 10 * 60_000;

/** How often the sessions of open streams are looked up. */
const pollMs = 1000;

/** What is known of a request once its session was looked up. */
interface Visit {
	/** The toolkit that its cookies are set with. */
	h: ResponseToolkit;
	/** The hashes of the session ids in all of its cookies that this server has sealed. */
	idHashes: readonly string[];
	/** The valid one. */
	session: { user: SessionOwner; generation: number; idHash: string; createdAt: number } | undefined;
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
	/** The generation of the user that the request's session has: what ends it raises the user's. Undefined for visitors. */
	generationOf(request: Request): number | undefined;
	/** Whether the request's session began within the last ten minutes: its user has just proved to know the password. */
	isRecent(request: Request): boolean;
	/** Whether the session with that key is still valid. */
	isValid(key: string): Promise<boolean>;
	/** Calls `onEnd` soon after the session of that key has ended, wherever that was, until the returned function is called. */
	subscribe(key: string, onEnd: () => void): () => void;
	/** How many wait for the end of one. */
	subscribers(): number;
}

/** Identifies a session for its user and for the administrator: a part of the hash, from which the id can't be computed. */
function publicSessionId(idHash: string): string {
	return idHash.slice(0, 16);
}

/** What a cookie says of the session that its host has begun. It grants nothing. */
function bindingOf(idHash: string): string {
	return secretHash(`binding ${idHash}`);
}

function valuesOf(request: Request, name: string): string[] {
	return [request.state[name] as unknown].flat().filter((value) => typeof value === 'string');
}

interface Dependencies {
	store: SessionStore;
	config: Config;
	/** The key that seals cookies. */
	secret: string;
	siblings: Ending;
	log: Log;
	audit: Pick<Audit, 'recorded'>;
	now(): number;
}

/**
 * Sessions live in the database under the hash of their id; the browser holds the id, sealed. https is taken from `publicUrl`, else what
 * a trusted proxy reports. `serve` has each request of a server know its session.
 */
export function createSessions({ store, config, secret, siblings, log, audit, now: clock }: Dependencies): {
	sessions: Sessions;
	serve(server: Server): void;
	close(): Promise<void>;
} {
	const seal = createSessionSeal(secret);
	const visits = new WeakMap<Request, Visit>();

	const ended = createEndedSessions(store, siblings, (error) =>
		log.error({ err: error }, 'an ended session could not be deleted'),
	);
	const find = async (idHash: string, now: number) => (ended.has(idHash) ? undefined : await store.find(idHash, now));
	/** Those of the request's cookies that this server has sealed, and whether the browser says, too, that this host has set them. */
	const cookiesOf = async (request: Request) => {
		const names = cookieNames(config, request.client.isHttps);
		const bindings = new Set(names.binding === undefined ? [] : valuesOf(request, names.binding));
		const found: { idHash: string; isOwn: boolean }[] = [];
		for (const value of valuesOf(request, names.session)) {
			const { idHash, name } = seal.opened(value) ?? (await seal.open(value)) ?? {};
			if (idHash === undefined) continue;
			const isBound = names.binding === undefined || bindings.has(bindingOf(idHash));
			// Of an earlier version there are sessions without either, for 30 days.
			found.push({ idHash, isOwn: name === undefined || (name === names.session && isBound) });
		}
		return found;
	};
	const lookUp = async (request: Request, h: ResponseToolkit): Promise<Visit> => {
		const cookies = await cookiesOf(request);
		const idHashes = cookies.map(({ idHash }) => idHash);
		const now = clock();
		const valid = [];
		// A cookie of a parent path may be sent beside the server's own: any known value is accepted.
		for (const { idHash } of cookies.filter(({ isOwn }) => isOwn)) {
			const found = await find(idHash, now);
			if (found !== undefined) valid.push({ idHash, ...found });
		}
		const [first] = valid;
		if (first === undefined) return { h, idHashes, session: undefined };
		if (valid.some(({ user }) => user.id !== first.user.id)) {
			await endAll(valid);
			return { h, idHashes, session: undefined };
		}
		const { idHash, user, session } = first;
		if (now - session.lastSeenAt > touchMs) await touch(idHash, now);
		const { id, username, generation } = user;
		return { h, idHashes, session: { user: { id, username }, generation, idHash, createdAt: session.createdAt } };
	};
	/**
	 * Ends the sessions of several users that one request has the cookies of. Another host of the domain may have set one of them, so that
	 * what its user does is done in another's account: which one can't be told. Once they have ended a sign-in is all it takes, whatever
	 * cookies remain.
	 */
	const endAll = async (valid: readonly { idHash: string; user: SessionOwner }[]) => {
		const users = valid.map(({ user }) => user.username);
		log.warn({ users }, 'a request had the cookies of sessions of several users: the sessions were ended');
		for (const { idHash, user } of valid) {
			const event = { action: 'endSessions', ...accountFields(user), entries: 1, detail: 'several users' } as const;
			await audit.recorded(event, () => ended.end(idHash));
		}
	};
	const touch = async (idHash: string, now: number) => {
		try {
			await store.touch(idHash, now);
		} catch (error) {
			// Requests are still served if nothing can be written: the next one tries again.
			if (!isFailure(error)) throw error;
		}
	};
	const isValid = async (idHash: string) => (await find(idHash, clock())) !== undefined;
	const subscriptions = new EndSubscriptions(pollMs, async (idHashes) => {
		const valid = await store.findValid(idHashes, clock());
		return new Set(idHashes.filter((idHash) => ended.has(idHash) || !valid.has(idHash)));
	});
	const sessionOf = (request: Request) => visits.get(request)?.session;
	const keyOf: Sessions['keyOf'] = (request) => sessionOf(request)?.idHash;
	const isRecent: Sessions['isRecent'] = (request) => {
		const age = clock() - (sessionOf(request)?.createdAt ?? Number.NaN);
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
	const visitOf = (request: Request): Visit => {
		const visit = visits.get(request);
		if (visit === undefined) throw new Error('The session of this request was not looked up.');
		return visit;
	};
	const endCurrent = async (request: Request) => {
		const { session, idHashes } = visitOf(request);
		if (session !== undefined) for (const idHash of idHashes) await ended.end(idHash);
	};
	const serve = (server: Server) => {
		for (const isSecure of [true, false]) {
			const { session, binding } = cookieNames(config, isSecure);
			const options: ServerStateCookieOptions = {
				...cookieAttributes(config, isSecure),
				ttl: cookieTtlMs,
				// It is sealed here.
				encoding: 'none',
				// A value that does not match may be another program's, or be sent beside a valid one.
				clearInvalid: false,
			};
			server.state(session, options);
			if (binding !== undefined) server.state(binding, { ...options, path: '/' });
		}
		addStep(server, 'onRequest', (request) =>
			keepOwnCookies(request.raw.req.headers, cookieNames(config, request.client.isHttps)),
		);
		const visitor = visitorOf(config);
		server.decorate('request', 'viewer', visitor);
		// Before the body: a caller who may not call is refused at once. While the database is not available this throws, since
		// a signed-in user must not become a visitor.
		server.ext('onPostAuth', async (request, h) => {
			const { app, auth } = request.route.settings;
			if ((auth as unknown) === false) return h.continue;
			const visit = await lookUp(request, h);
			visits.set(request, visit);
			if (visit.session === undefined) {
				const endpoint = app?.endpoint?.();
				if (endpoint?.audience === 'user') throw new Failure('notSignedIn', endpoint.signInMessage);
			}
			const viewer = visit.session === undefined ? visitor : ({ kind: 'user', ...visit.session.user } as const);
			(request as { viewer: Request['viewer'] }).viewer = viewer;
			return h.continue;
		});
	};
	const sessions: Sessions = {
		async begin(request, user) {
			await endCurrent(request);
			const id = randomBytes(32).toString('base64url');
			const userAgent = request.raw.req.headers['user-agent'] ?? null;
			await store.add(secretHash(id), user, { userAgent, address: request.client.address });
			const { session, binding } = cookieNames(config, request.client.isHttps);
			const { h } = visitOf(request);
			h.state(session, await seal.seal(id, session));
			if (binding !== undefined) h.state(binding, bindingOf(secretHash(id)));
		},
		async end(request) {
			await endCurrent(request);
			const { session, binding } = cookieNames(config, request.client.isHttps);
			const { h } = visitOf(request);
			h.unstate(session);
			if (binding !== undefined) h.unstate(binding);
		},
		list,
		async endOne(user, id) {
			const found = (await list(user.id)).find((session) => session.id === id);
			if (found === undefined) throw new Failure('notFound', 'There is no such session.');
			await ended.end(found.key);
		},
		endOthers: (request, user) => store.removeOf(user.id, keyOf(request)),
		keyOf,
		generationOf: (request) => sessionOf(request)?.generation,
		isRecent,
		isValid,
		subscribe: (key, onEnd) => subscriptions.subscribe(key, onEnd),
		subscribers: () => subscriptions.count,
	};
	return { sessions, serve, close: () => ended.close() };
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

type Ending = Pick<SiblingEvents, 'on' | 'onJoined' | 'sendSafely' | 'sendTo'>;

const siblingKind = 'endedSession';

/**
 * The processes behind one primary process tell each other of such sessions. `onError` is called with errors that no
 * caller waits for.
 */
export function createEndedSessions(
	store: Pick<SessionStore, 'remove'>,
	siblings: Ending,
	onError: (error: unknown) => void,
): EndedSessions {
	const ended = new Set<string>();
	siblings.on(siblingKind, ({ idHash }) => {
		ended.add(idHash as string);
		retryLater();
	});
	siblings.onJoined((name) =>
		siblings.sendTo(
			name,
			[...ended].map((idHash) => ({ kind: siblingKind, idHash })),
		),
	);
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
			if (ended.has(idHash)) await siblings.sendSafely({ kind: siblingKind, idHash });
		},
		async close() {
			clearTimeout(timer);
			await retry();
		},
	};
}
