import { createHash } from 'node:crypto';

/** The hash under which a secret that its holder sends is stored: the id of a session or an upload, the token of a link or a ticket. */
export function secretHash(secret: string): string {
	return createHash('sha256').update(secret).digest('hex');
}
