import { download } from '@stowage/contract';
import type { Area, Entry, Owner } from '@stowage/rules';
import { endpointUrl } from './client.js';

/** The address from which a file is downloaded by whoever looks at this listing; a folder comes as its ZIP. */
export function downloadUrl(area: Area, entry: Pick<Entry, 'path' | 'owner'>): string {
	return plainAddress(area, entry.path, area === 'public' ? entry.owner : undefined);
}

/** The same of what lies at a path of an owner's tree. */
export function plainAddress(type: Area, path: string, owner: Owner | undefined): string {
	// In a query the empty owner is the ownerless tree.
	const query = owner === undefined ? { type } : { type, owner: owner ?? '' };
	return endpointUrl(download, { query, params: { path } });
}
