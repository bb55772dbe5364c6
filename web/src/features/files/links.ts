import { download } from '@stowage/contract';
import {
	type Area,
	type Entry,
	isWithin,
	type Owner,
	parsePath,
	publicFolderName,
	relativePath,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
import { endpointUrl } from '../../api/client.js';

/** The address from which a file is downloaded by whoever looks at this listing. */
export function downloadUrl(area: Area, entry: Pick<Entry, 'path' | 'owner'>): string {
	return addressOf(area, entry.path, area === 'public' ? entry.owner : undefined);
}

/**
 * The address at which anyone can read a public file, as it stands in either area; absolute, to be handed on. Below
 * `Public` in a home it is the file's place in the user's public tree.
 */
export function publicLink(viewer: Viewer, area: Area, entry: Pick<Entry, 'path' | 'owner'>, origin: string): string {
	const { path, owner } = publicPlace(viewer, area, entry);
	return `${origin}${addressOf('public', path, owner)}`;
}

function publicPlace(viewer: Viewer, area: Area, entry: Pick<Entry, 'path' | 'owner'>) {
	const path = parsePath(entry.path);
	const publicFolder = parsePath(publicFolderName);
	if (area === 'public' || !isWithin(path, publicFolder)) return { path, owner: entry.owner };
	return {
		path: relativePath(path, publicFolder),
		owner: viewer.kind === 'user' ? viewer.username : undefined,
	};
}

function addressOf(type: Area, path: StoragePath | string, owner: Owner | undefined): string {
	// In a query the empty owner is the ownerless tree.
	const query = owner === undefined ? { type } : { type, owner: owner ?? '' };
	return endpointUrl(download, { query, params: { path } });
}
