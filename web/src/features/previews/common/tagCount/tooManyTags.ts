import { contentType } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { queryKeys } from '../../../../api/queryKeys.js';
import type { PreviewFile } from '../bytes/previewFile.js';
import { keptAsRead } from '../bytes/previewQuery.js';
import { rangedBlob } from '../bytes/rangedBlob.js';
import { hasTooManyTags } from './countTags.js';

/** A film in thousands of fragments is looked at in each of them. */
const blockBytes = 8 * 1024;

/**
 * Whether a song or film has more tags or samples than a browser reads in a moment. A film in fragments has data before
 * all of them are read, which may turn out to be wrong. Nothing is read any more once nobody wants to know.
 */
export function tooManyTagsQuery({ id, url, size, name }: Pick<PreviewFile, 'id' | 'url' | 'size' | 'name'>) {
	const queryKey = queryKeys.previews.tooManyTags(id);
	return queryOptions({
		queryKey,
		queryFn: async ({ client, signal }) => {
			const blob = rangedBlob(url, size, contentType(name), { blockBytes, signal });
			try {
				return await hasTooManyTags(blob, () => !signal.aborted && client.setQueryData(queryKey, false));
			} catch {
				signal.throwIfAborted();
				// What can't be fetched is the player's to say.
				return false;
			}
		},
		retry: false,
		staleTime: 60_000,
		...keptAsRead,
	});
}
