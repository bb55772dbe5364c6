import { changePassword as changePasswordEndpoint, confirmTotp, type PayloadInput } from '@stowage/contract';
import { call } from '../client/client.js';

let pending: Promise<unknown> | undefined;

/** Changes the password of the signed-in user. The page's session is replaced by a new one, and all others end. */
export function changePassword(payload: PayloadInput<typeof changePasswordEndpoint>): Promise<unknown> {
	return replacing(call(changePasswordEndpoint, { payload }));
}

/** Turns two-factor sign-in on. The page's session is replaced by a new one, and all others end. */
export function confirmTwoFactor(code: string): Promise<unknown> {
	return replacing(call(confirmTotp, { payload: { code } }));
}

/**
 * Resolves once no call that replaces the session is under way. The server ends the old session, and with it the event
 * stream, before the cookie of the new one has arrived: a check in between would find no user signed in.
 */
export async function sessionSettled(): Promise<void> {
	await pending?.catch(() => {});
}

async function replacing(change: Promise<unknown>): Promise<unknown> {
	pending = change;
	try {
		return await change;
	} finally {
		if (pending === change) pending = undefined;
	}
}
