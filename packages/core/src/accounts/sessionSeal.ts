import { createHash } from 'node:crypto';
import { defaults, seal, unseal } from '@hapi/iron';
import { secretHash } from '../secretHash.js';

/** The most remembered cookies; each takes about half a kilobyte. */
const maxRemembered = 1000;

/** What is in the cookie of a session. */
interface SealedSession {
	idHash: string;
	/** The name under which it was given; earlier versions noted none. */
	name: string | undefined;
}

export interface SessionSeal {
	/** The value of the cookie of a session, under that name. */
	seal(id: string, name: string): Promise<string>;
	/** What is in a value that was opened before, if it is remembered. */
	opened(value: string): SealedSession | undefined;
	/** What is in a value; undefined for one that was not sealed here. */
	open(value: string): Promise<SealedSession | undefined>;
}

/**
 * Seals the ids of sessions for their cookies. What a value contains never changes, so the last ones are remembered: opening one costs
 * more than all else about a session. Whether the session is valid is asked for each request.
 */
export function createSessionSeal(secret: string): SessionSeal {
	// From a text the encryption would derive two keys anew for each value.
	const key = createHash('sha256').update(`cookies ${secret}`).digest();
	const remembered = new Map<string, SealedSession>();
	return {
		seal: (id, name) => seal({ id, name }, key, defaults),
		opened: (value) => remembered.get(value),
		async open(value) {
			// iron refuses what it did not seal with an error of its own; a client that sends such a cookie is signed out.
			const opened: unknown = await unseal(value, key, defaults).catch(() => undefined);
			if (!isCookie(opened)) return undefined;
			const session = { idHash: secretHash(opened.id), name: opened.name };
			if (remembered.size >= maxRemembered) remembered.clear();
			remembered.set(value, session);
			return session;
		},
	};
}

function isCookie(cookie: unknown): cookie is { id: string; name?: string } {
	return typeof cookie === 'object' && cookie !== null && 'id' in cookie && typeof cookie.id === 'string';
}
