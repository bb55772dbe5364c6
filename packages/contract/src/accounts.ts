import { z } from 'zod';
import { endpoint } from './define.js';
import { message, settings } from './schemas.js';

// Passwords are bounded here only against floods; whether one is good enough is the rule's to say, with its sentence.
const password = z.string().max(4096);
/** A code of an authenticator app or a recovery code, as it was entered: white space, dashes and case don't matter. */
const code = z.string().max(64);
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

/**
 * Refused with `secondFactor` after the right password of a user with two-factor sign-in if the code is missing, wrong or used up. Other
 * users' codes are ignored.
 */
export const login = endpoint({
	method: 'POST',
	path: '/api/login',
	payload: z.strictObject({ username: z.string().max(256), password, code: code.optional() }),
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

/** Whether the caller signs in with a second factor. */
export const totp = endpoint({
	method: 'GET',
	path: '/api/totp',
	audience: 'user',
	result: z.object({
		isEnabled: z.boolean(),
		/** 0 while it is off. */
		recoveryCodesLeft: z.number(),
	}),
});

/** Unless the session began within the last 10 minutes, a missing password is refused with `passwordRequired`. */
const confirmedByPassword = z.strictObject({ currentPassword: password.optional() }).optional();

/**
 * Begins to set up two-factor sign-in, which is off until it is confirmed in the same session. Replaces one that was begun before;
 * `conflict` while it is on.
 */
export const startTotp = endpoint({
	method: 'POST',
	path: '/api/totp',
	audience: 'user',
	payload: confirmedByPassword,
	result: z.object({
		/** Base32, for entering it by hand. */
		secret: z.string(),
		/** The secret as an `otpauth:` URI, for a QR code. */
		uri: z.string(),
		/** Each replaces a code once. They can't be read again. */
		recoveryCodes: z.array(z.string()),
	}),
});

/**
 * Turns it on. `secondFactor` for a wrong code, `conflict` if nothing was begun in this session. The session gets a new id; every other
 * one of the user ends in the same step.
 */
export const confirmTotp = endpoint({
	method: 'POST',
	path: '/api/totp/confirm',
	audience: 'user',
	payload: z.strictObject({ code: code.regex(/\S/, 'The code is empty.') }),
	result: message,
});

/**
 * Turns it off, and discards one that was begun. Succeeds also if there is none. While it is on, a missing or wrong code is refused with
 * `secondFactor`.
 */
export const removeTotp = endpoint({
	method: 'DELETE',
	path: '/api/totp',
	audience: 'user',
	payload: confirmedByPassword.unwrap().extend({ code: code.optional() }).optional(),
	result: message,
});
