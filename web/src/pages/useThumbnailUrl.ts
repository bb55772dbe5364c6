import { type Entry, extensionOf, hasThumbnail } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { capabilitiesQuery } from '../api/capabilities.js';
import { useFileSource } from '../api/sources/FileSource.js';

/** The URL of an entry's thumbnail in the grid; undefined for an entry of which this server makes none. */
export function useThumbnailUrl(): (entry: Entry) => string | undefined {
	const source = useFileSource();
	const { data: capabilities } = useQuery(capabilitiesQuery);
	return useCallback(
		(entry) => {
			if (entry.type !== 'file' || !capabilities?.thumbnails) return undefined;
			const { thumbnailExtensions } = capabilities;
			const isOffered = hasThumbnail(entry.name) || thumbnailExtensions.includes(extensionOf(entry.name));
			return isOffered ? source.thumbnailUrl(entry, 256) : undefined;
		},
		[source, capabilities],
	);
}
