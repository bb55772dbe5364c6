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
		/** What the person may keep and keeps, in bytes; null without a limit. */
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
