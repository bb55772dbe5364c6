import type { UserRecord } from './users.js';

/** The signed-in user, without credentials. */
export type SessionUser = Omit<UserRecord, 'secret'>;

export interface SessionRecord {
	userId: string;
	createdAt: number;
	lastSeenAt: number;
}

/** The client and the time of a sign-in. */
export interface SessionClient {
	userAgent: string | null;
	address: string | null;
}

export interface ListedSession extends SessionRecord, SessionClient {
	idHash: string;
}

/** Sessions by the hash of their id: the id itself is never stored. */
export interface SessionStore {
	/**
	 * Adds a session for the user as they were when their password was verified: throws `conflict` if their generation
	 * is another by now, or they were disabled. A user has at most 100 sessions: one more ends the one that was unused
	 * for longest.
	 */
	add(idHash: string, user: Pick<UserRecord, 'id' | 'generation'>, client?: SessionClient): Promise<void>;
	/** The session with its user in one look-up; undefined for an unknown or ended one, one of another generation, or a disabled user's. */
	find(idHash: string, now: number): Promise<{ session: SessionRecord; user: SessionUser } | undefined>;
	/** The hashes, among these, of the sessions that `find` would find, in one query for some hundred of them. */
	findValid(idHashes: readonly string[], now: number): Promise<Set<string>>;
	/** The valid sessions of a user, the most recently used first. */
	list(userId: string, now: number): Promise<ListedSession[]>;
	touch(idHash: string, now: number): Promise<void>;
	remove(idHash: string): Promise<void>;
	/** Ends all sessions of a user, except the one that is named, and those that begin meanwhile, all or nothing. Resolves to how many. */
	removeOf(userId: string, except?: string): Promise<number>;
	/** Removes expired sessions. Resolves to how many. */
	sweep(now: number): Promise<number>;
}
