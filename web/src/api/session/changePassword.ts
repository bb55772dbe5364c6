import { changePassword as endpoint, type PayloadInput } from '@stowage/contract';
import { call } from '../client/client.js';

let pending: Promise<unknown> | undefined;

/** Changes the password of the signed-in user. The page's session is replaced by a new one, and all others end. */
export async function changePassword(payload: PayloadInput<typeof endpoint>): Promise<void> {
	const change = call(endpoint, { payload });
	pending = change;
	try {
		await change;
	} finally {
		if (pending === change) pending = undefined;
	}
}

/**
 * Resolves once no change of the password is under way. The server ends the old session, and with it the event stream, before the cookie of the new one has arrived: a check in between would find
 * no user signed in.
 */
export async function passwordChangeSettled(): Promise<void> {
	await pending?.catch(() => {});
}
