import type { Area, Entry, Viewer } from '@stowage/rules';
import { publicLink } from './publicLink.js';
import { useCopyUrl } from './useCopyUrl.js';

/** Copies the permanent link of a public item. */
export function useCopyLink(viewer: Viewer, area: Area): (entry: Entry) => Promise<void> {
	const copyUrl = useCopyUrl();
	return (entry) => copyUrl(publicLink(viewer, area, entry, window.location.origin));
}
