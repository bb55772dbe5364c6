import { Failure, isFailure } from '@stowage/rules';
import type { Mount } from '../storage/Mounts.js';

/** Throws `unavailable` with the name of the root where its disk is away. */
export async function assertUsable({ name, storage }: Mount): Promise<void> {
	try {
		await storage.check();
	} catch (error) {
		if (!isFailure(error, 'unavailable')) throw error;
		throw new Failure('unavailable', `The storage root ${name} can’t be used: ${error.message}`, { cause: error });
	}
}
