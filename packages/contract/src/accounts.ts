import { z } from 'zod';
import { endpoint } from './define.js';
import { message, settings } from './schemas.js';

// Passwords are bounded here only against floods; whether one is good enough is the rule's to say, with its sentence.
const password = z.string().max(4096);
const signedIn = z.object({ username: z.string(), settings });

export const checkLoginStatus = endpoint({
	method: 'GET',
	path: '/api/checkLoginStatus',
	result: z.object({
		isLoggedIn: z.boolean(),
		username: z.string().nullable(),
		settings: settings.nullable(),
		/** The user's limit and current use, in bytes; null without a limit. */
		quota: z.object({ bytes: z.number(), used: z.number() }).nullable(),
	}),
});

export const login = endpoint({
	method: 'POST',
	path: '/api/login',
	payload: z.strictObject({ username: z.string().max(256), password }),
	result: signedIn,
});

export const register = endpoint({
	method: 'POST',
	path: '/api/register',
	payload: z.strictObject({ username: z.string().max(256), password, passwordConfirm: password }),
	result: signedIn,
});

export const logout = endpoint({ method: 'GET', path: '/api/logout', result: message, changesState: true });

export const changeSettings = endpoint({
	method: 'PUT',
	path: '/api/settings',
	audience: 'user',
	payload: z.strictObject({ settings: settings.partial() }),
	result: z.object({ settings }),
});

/** A session of the caller's. Times are milliseconds since the epoch. */
const session = z.object({
	id: z.string(),
	/** The session of this request. */
	current: z.boolean(),
	createdAt: z.number(),
	/** A few minutes may be missing: the last use of a session is recorded at intervals. */
	lastSeenAt: z.number(),
	/** The client that signed in; null if unknown. */
	userAgent: z.string().nullable(),
	address: z.string().nullable(),
});

/** The caller's sessions, the one used last first. */
export const sessions = endpoint({
	method: 'GET',
	path: '/api/sessions',
	audience: 'user',
	result: z.array(session),
});

export const endSession = endpoint({ method: 'DELETE', path: '/api/sessions/{id}', audience: 'user', result: message });

/** Ends all sessions of the caller's except the one of this request. */
export const endOtherSessions = endpoint({
	method: 'DELETE',
	path: '/api/sessions',
	audience: 'user',
	result: message,
});

/** The session gets a new id; every other one of the user ends in the same step. */
export const changePassword = endpoint({
	method: 'POST',
	path: '/api/password',
	audience: 'user',
	payload: z.strictObject({ currentPassword: password, newPassword: password, newPasswordConfirm: password }),
	result: message,
});
