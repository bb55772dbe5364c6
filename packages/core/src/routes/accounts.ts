import * as contract from '@stowage/contract';
import type { Request, UserRecord } from '@stowage/plugin-api';
import { route } from '@stowage/plugin-api';
import { Failure, isFailure, signedIn } from '@stowage/rules';
import type { Caller, SignedIn, SignInClient } from '../accounts/accounts.js';
import { secondFactorNeeded } from '../accounts/secondFactors.js';
import type { SessionOwner } from '../accounts/sessions.js';
import { clientGone } from '../http/connections/clientGone.js';
import { clientKey } from '../http/requests/proxy.js';
import type { Services } from '../services.js';
import { listed } from './queued.js';

/** A page that opens does not wait longer until a home has been measured for the first time. */
const quotaWaitMs = 1_000;

/** Accounts: sign up, sign in and out, and the settings of a user. */
export function accountRoutes(services: Services) {
	const { config, accounts, secondFactors, sessions, knownClients, database, quotas, audit, log } = services;
	const callerOf = (request: Request): Caller => ({
		address: request.client.address,
		client: clientKey(request.viewer, request.client.address),
		signal: clientGone(request),
	});
	const clientOf = (request: Request): SignInClient => ({
		...callerOf(request),
		knownClientId: (user) => knownClients.idOf(request, user),
	});
	/**
	 * Confirms the user before changes that a thief of an open session must not make. Throws `passwordRequired`, and as
	 * `confirmPassword` does.
	 */
	const assertOwner = async (request: Request, user: SessionOwner, password: string | undefined): Promise<void> => {
		if (password !== undefined) await accounts.confirmPassword(user, password, clientOf(request));
		else if (!sessions.isRecent(request)) throw new Failure('passwordRequired', 'Please enter your password.');
	};
	/** Begins the session of a user who has just signed in. */
	const beginSession = async (request: Request, { user, accepted }: SignedIn): Promise<void> => {
		try {
			await sessions.begin(request, user);
		} catch (error) {
			if (!isFailure(error, 'conflict')) throw error;
			// Its sessions were ended meanwhile, which does not affect a new one, except after a change of the password or where a second
			// factor was turned on.
			const now = await database.users.get(user.id);
			if (now?.secret !== user.secret || now.isDisabled) throw error;
			if (!(await secondFactors.isMet(now, accepted))) throw secondFactorNeeded();
			await sessions.begin(request, now);
		}
	};
	const sessionOf = (request: Request): string => {
		const key = sessions.keyOf(request);
		if (key === undefined) throw notSignedIn();
		return key;
	};
	/**
	 * The account of the request's session, for what gives that client a new session. Throws `notSignedIn` if its sessions have been ended
	 * since; what is done then compares the generation once more.
	 */
	const accountOf = async (request: Request): Promise<UserRecord> => {
		const user = await database.users.get(signedIn(request.viewer).id);
		if (user === undefined || user.generation !== sessions.generationOf(request)) throw notSignedIn();
		return user;
	};
	const answer = async (user: UserRecord) => ({
		username: user.username,
		settings: await database.users.settings(user.id),
	});
	return [
		route(contract.checkLoginStatus, async ({ viewer }) => {
			if (viewer.kind !== 'user') return { isLoggedIn: false, username: null, settings: null, quota: null };
			const usage = await quotas.usage(viewer, quotaWaitMs);
			return {
				isLoggedIn: true,
				username: viewer.username,
				settings: await database.users.settings(viewer.id),
				quota:
					usage !== undefined && usage.quota.bytes > 0 ? { bytes: usage.quota.bytes, used: usage.used.bytes } : null,
			};
		}),

		route(contract.register, async ({ payload, request, h }) => {
			if (config.registration === 'closed') throw new Failure('forbidden', 'Registration is closed.');
			if (payload.password !== payload.passwordConfirm) throw new Failure('invalid', 'Passwords do not match');
			const user = await accounts.signUp(payload.username, payload.password, callerOf(request));
			await beginSession(request, { user, accepted: { by: 'nothing' } });
			knownClients.remember(request, h, user);
			return answer(user);
		}),

		route(contract.login, async ({ payload, request, h }) => {
			const code = codeOf(payload.code);
			const proved = await accounts
				.signIn(payload.username, payload.password, clientOf(request), code)
				.catch((error: unknown) => {
					// Read by config/fail2ban. Without the name: people type passwords there. A missing code is no failed attempt.
					const isWrongCode = isFailure(error, 'secondFactor') && code !== undefined;
					if (isFailure(error, 'badCredentials') || isWrongCode)
						log.warn({ event: 'signInFailed', address: request.client.address }, 'sign-in failed');
					throw error;
				});
			await beginSession(request, proved).catch((error: unknown) => {
				// The password was changed since it was proved.
				throw isFailure(error, 'conflict') ? new Failure('badCredentials', 'Invalid username or password') : error;
			});
			knownClients.remember(request, h, proved.user);
			return answer(proved.user);
		}),

		route(contract.logout, async ({ request }) => {
			await sessions.end(request);
			return { message: 'You are signed out.' };
		}),

		route(contract.changeSettings, async ({ viewer, payload }) => {
			const { id } = signedIn(viewer);
			const before = JSON.stringify(await database.users.settings(id));
			const settings = await audit.recorded(
				{ action: 'settings' },
				() => database.users.changeSettings(id, payload.settings),
				(after) => (JSON.stringify(after) === before ? undefined : {}),
			);
			return { settings };
		}),

		route(contract.sessions, async ({ viewer, request }) => {
			const current = sessions.keyOf(request);
			const found = await listed(services, viewer, request, () => sessions.list(signedIn(viewer).id));
			return found.map(({ key, ...session }) => ({ ...session, current: key === current }));
		}),

		route(contract.endSession, async ({ viewer, params }) => {
			await sessions.endOne(signedIn(viewer), params.id ?? '');
			return { message: 'The session has ended.' };
		}),

		route(contract.endOtherSessions, async ({ viewer, request }) => {
			await sessions.endOthers(request, signedIn(viewer));
			return { message: 'All other sessions have ended.' };
		}),

		route(contract.changePassword, async ({ payload, request, h }) => {
			const { currentPassword, newPassword, newPasswordConfirm } = payload;
			if (newPassword !== newPasswordConfirm) throw new Failure('invalid', 'Passwords do not match');
			const account = await accountOf(request);
			const user = await accounts.changePassword(account, currentPassword, newPassword, clientOf(request));
			await beginSession(request, { user, accepted: { by: 'nothing' } });
			knownClients.remember(request, h, user);
			return { message: 'Your password was changed.' };
		}),

		route(contract.totp, ({ viewer }) => secondFactors.state(signedIn(viewer).id)),

		route(contract.startTotp, async ({ viewer, payload, request }) => {
			const user = signedIn(viewer);
			await assertOwner(request, user, payload?.currentPassword);
			return secondFactors.begin(user, sessionOf(request));
		}),

		route(contract.confirmTotp, async ({ payload, request }) => {
			const user = await accountOf(request);
			const knownClientId = knownClients.idOf(request, user);
			const generation = await secondFactors.confirm(user, sessionOf(request), payload.code, knownClientId);
			await sessions.begin(request, { ...user, generation });
			return { message: 'Two-factor sign-in is on.' };
		}),

		route(contract.removeTotp, async ({ payload, request }) => {
			const user = await accountOf(request);
			await assertOwner(request, user, payload?.currentPassword);
			await secondFactors.turnOff(user, codeOf(payload?.code), knownClients.idOf(request, user));
			return { message: 'Two-factor sign-in is off.' };
		}),
	];
}

function notSignedIn(): Failure {
	return new Failure('notSignedIn', 'Please sign in first.');
}

/** An empty field of a form is a missing code. */
function codeOf(entered: string | undefined): string | undefined {
	return entered?.trim() || undefined;
}
