import { type Area, type Entry, extensionOf, hasThumbnail } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { capabilitiesQuery } from '../api/capabilities.js';
import { thumbnailUrl } from '../api/downloads.js';

/** The URL of an entry's thumbnail in the grid; undefined for an entry of which this server makes none. */
export function useThumbnailUrl(area: Area): (entry: Entry) => string | undefined {
	const { data: capabilities } = useQuery(capabilitiesQuery);
	return useCallback(
		(entry) => {
			if (entry.type !== 'file' || !capabilities?.thumbnails) return undefined;
			const { thumbnailExtensions } = capabilities;
			const isOffered = hasThumbnail(entry.name) || thumbnailExtensions.includes(extensionOf(entry.name));
			return isOffered ? thumbnailUrl(area, entry, 256) : undefined;
		},
		[area, capabilities],
	);
}
