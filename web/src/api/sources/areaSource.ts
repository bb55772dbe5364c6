import { browse, browsePublic } from '@stowage/contract';
import type { Area } from '@stowage/rules';
import { fetchResponse } from '../client/client.js';
import { createTicket, downloadUrl, thumbnailUrl } from '../downloads.js';
import { createViewerLink } from '../previews.js';
import type { FileSource } from './FileSource.js';

/** The files of an area. `isSignedIn` is undefined until the session was checked. */
export function areaSource(area: Area, isSignedIn: boolean | undefined): FileSource {
	return {
		place: area,
		reader: isSignedIn === undefined ? undefined : isSignedIn ? 'user' : 'visitor',
		events: isSignedIn === undefined ? undefined : { area, isSignedIn },
		ticketEvents: undefined,
		browse: (query, signal) =>
			isSignedIn
				? fetchResponse(browse, { query: { ...query, type: area }, signal })
				: fetchResponse(browsePublic, { query, signal }),
		downloadUrl: (entry) => downloadUrl(area, entry),
		viewUrl: (entry) => downloadUrl(area, entry),
		tabUrl: (entry) => `${downloadUrl(area, entry)}&inline=1`,
		thumbnailUrl: (entry, size) => thumbnailUrl(area, entry, size),
		createTicket: (directory, entries, signal) => createTicket({ area, directory, entries }, signal),
		// Members share nothing onwards.
		viewerLink: area === 'shared' ? undefined : (entry) => createViewerLink(area, entry),
	};
}
