import type { LimitStore } from '@stowage/plugin-api';
import { limitAddress } from '../http/proxy.js';
import { rateLimited } from '../limits/rateLimited.js';

const windowMs = 60 * 60_000;

/** Counts one try to register from an address, whether it succeeds or not: each costs a hash and tells whether a name is taken. Throws `rateLimited`. */
export async function countRegistration(
	limits: LimitStore,
	address: string,
	mostPerHour: number,
	now: number,
): Promise<void> {
	const { count, endsAt } = await limits.hit(`register:${limitAddress(address)}`, windowMs, now);
	if (count > mostPerHour) {
		throw rateLimited('Too many people have registered from here. Please try again later.', endsAt, now);
	}
}
