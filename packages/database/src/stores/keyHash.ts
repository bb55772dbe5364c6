import { createHash } from 'node:crypto';

/** A key as it is stored: keys are of any length, may be secrets, and hold what people typed and where they are. */
export function keyHash(key: string): string {
	return createHash('sha256').update(key).digest('hex');
}
