import { createHash } from 'node:crypto';

/** The stored form of a key: keys are of any length, may be secrets, and contain user input and addresses. */
export function keyHash(key: string): string {
	return createHash('sha256').update(key).digest('hex');
}
