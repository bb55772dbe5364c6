import type { Viewer } from '@stowage/rules';
import { limitAddress } from '../http/requests/proxy.js';

/** Identifies a client for limits: a user wherever they are, or a visitor's address (of IPv6 its /64). */
export function clientKey(viewer: Viewer, address: string): string {
	return viewer.kind === 'user' ? `user ${viewer.id}` : limitAddress(address);
}
