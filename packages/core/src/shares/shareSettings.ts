import type { ShareSettings } from '@stowage/plugin-api';
import { Failure } from '@stowage/rules';
import type { Accounts, Caller } from '../accounts/accounts.js';
import type { Config } from '../config/schema.js';

/** What can be chosen for a share; what is left out stays, or is none. */
export type ShareChoices = Partial<Omit<ShareSettings, 'passwordSecret'>> & { password?: string | null };

/** What lies behind it is no date that all programs can write. */
const latestEnd = Date.UTC(10_000, 0) - 1;

interface Dependencies {
	config: Pick<Config, 'shares'>;
	accounts: Pick<Accounts, 'hash'>;
	/** The time of day, milliseconds since the epoch. */
	now(): number;
}

/** What is written of the choices. Throws `invalid` for what can't be chosen, and as hashing a password does. */
export async function settingsOf(
	{ config, accounts, now }: Dependencies,
	{ password, ...choices }: ShareChoices,
	client: Caller,
): Promise<Partial<ShareSettings>> {
	if (choices.expiresAt !== undefined && choices.expiresAt !== null && choices.expiresAt <= now())
		throw new Failure('invalid', 'The end of a share must be in the future.');
	if ((choices.expiresAt ?? 0) > latestEnd)
		throw new Failure('invalid', 'The end of a share is too far away. Leave it out for none.');
	if (password === undefined) return choices;
	if (password !== null) return { ...choices, passwordSecret: await accounts.hash(password, client) };
	if (config.shares.requirePassword) throw new Failure('invalid', 'A share needs a password on this server.');
	return { ...choices, passwordSecret: null };
}
