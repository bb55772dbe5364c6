import {
	type Area,
	type Entry,
	isWithin,
	parsePath,
	publicFolderName,
	relativePath,
	type Viewer,
} from '@stowage/rules';
import { plainAddress } from '../../api/downloads.js';

/**
 * The address at which anyone can read a public file, or a public folder as its ZIP, as it stands in either area; absolute, to be handed on. Below
 * `Public` in a home it is the item's place in the user's public tree.
 */
export function publicLink(viewer: Viewer, area: Area, entry: Pick<Entry, 'path' | 'owner'>, origin: string): string {
	const { path, owner } = publicPlace(viewer, area, entry);
	return `${origin}${plainAddress('public', path, owner)}`;
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
