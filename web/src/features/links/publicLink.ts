import {
	type Area,
	type Entry,
	isWithin,
	parsePath,
	publicFolderName,
	relativePath,
	type Viewer,
} from '@stowage/rules';
import { plainUrl } from '../../api/downloads.js';

/**
 * The absolute URL at which anyone can download a public file, or a public folder as a ZIP. An item below `Public` in
 * a home has the URL of its place in the user's public tree.
 */
export function publicLink(viewer: Viewer, area: Area, entry: Pick<Entry, 'path' | 'owner'>, origin: string): string {
	const { path, owner } = publicPlace(viewer, area, entry);
	return `${origin}${plainUrl('public', path, owner)}`;
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
