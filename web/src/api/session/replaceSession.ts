import { changePassword as changePasswordEndpoint, confirmTotp, type PayloadInput } from '@stowage/contract';
import { basePath } from '../client/basePath.js';
import { browserStorage } from '../client/browserStorage.js';
import { call } from '../client/client.js';

let pending: Promise<unknown> | undefined;

/** The key of the time since when a page of this browser replaces its session, in milliseconds since the epoch. */
const replacingKey = `stowage.replacingSession ${basePath}`;

/** A page that was closed meanwhile holds up others for no longer. */
const longestMs = 10_000;
const pollMs = 100;

/** Changes the password of the signed-in user. The page's session is replaced by a new one, and all others end. */
export function changePassword(payload: PayloadInput<typeof changePasswordEndpoint>): Promise<unknown> {
	return replacing(call(changePasswordEndpoint, { payload }));
}

/** Turns two-factor sign-in on. The page's session is replaced by a new one, and all others end. */
export function confirmTwoFactor(code: string): Promise<unknown> {
	return replacing(call(confirmTotp, { payload: { code } }));
}

/**
 * Resolves once no page of this browser replaces the session, which all of them share. The server ends the old session,
 * and with it the event streams, before the cookie of the new one has arrived: a check in between would find no user
 * signed in.
 */
export async function sessionSettled(): Promise<void> {
	await pending?.catch(() => {});
	while (isReplacedElsewhere()) await new Promise((resolve) => setTimeout(resolve, pollMs));
}

function isReplacedElsewhere(): boolean {
	const began = browserStorage()?.getItem(replacingKey) ?? null;
	return began !== null && Math.abs(Date.now() - Number(began)) < longestMs;
}

async function replacing(change: Promise<unknown>): Promise<unknown> {
	pending = change;
	const began = String(Date.now());
	const storage = browserStorage();
	try {
		storage?.setItem(replacingKey, began);
	} catch {
		// It is full: another page may show for a moment that nobody is signed in.
	}
	try {
		return await change;
	} finally {
		if (pending === change) pending = undefined;
		if (storage?.getItem(replacingKey) === began) storage.removeItem(replacingKey);
	}
}
