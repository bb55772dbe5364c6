import { contentType } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { queryKeys } from '../../../../api/queryKeys.js';
import type { PreviewFile } from '../previewFile.js';
import { ReadsTooMuch, rangedBlob } from '../rangedBlob.js';
import { hasTooManyTags } from './countTags.js';

/**
 * Whether a song or film has more tags than a browser reads in a moment: its player reads them in a thread that nothing ends but itself.
 * Undefined until that is known.
 */
export function useTooManyTags({ id, url, size, name }: PreviewFile): boolean | undefined {
	const { data } = useQuery({
		queryKey: queryKeys.previews.tooManyTags(id),
		// What can't be fetched is the player's to say.
		queryFn: () =>
			hasTooManyTags(rangedBlob(url, size, contentType(name))).catch((error) => error instanceof ReadsTooMuch),
		retry: false,
		staleTime: 60_000,
		refetchOnWindowFocus: false,
	});
	return data;
}
