import { previewLimits, sniffedBytes } from '@stowage/rules';
import { queryOptions } from '@tanstack/react-query';
import { type FilePart, readPart } from '../../../../api/previews.js';
import { queryKeys } from '../../../../api/queryKeys.js';
import { mayTakeLong } from '../images/decodingCost.js';
import { isSizeFurther } from '../images/imageFormat.js';
import type { Picture } from '../images/picture.js';
import { readPicture } from '../images/readPicture.js';
import type { PreviewFile } from './previewFile.js';
import { keptAsRead } from './previewQuery.js';

/** How many bytes of a picture are read to find its size at the second and third try: it may come behind a thumbnail, or much else. */
const furtherBytes = [128 * 1024, 2 * 1024 * 1024];

export interface FirstBytes extends FilePart {
	/** What these bytes say of it as a picture, or all of them where they don't say it. */
	picture: Picture;
}

/**
 * The first bytes of a file, its current size on the server, and what it is as a picture: for that as many are read as name
 * its size, or all of one that may have many frames or scans. None but the first are left.
 */
export function firstBytesQuery(file: PreviewFile) {
	return queryOptions({
		queryKey: queryKeys.previews.firstBytes(file.id),
		queryFn: async ({ signal }): Promise<FirstBytes> => {
			let part = await readPart(file.url, 0, sniffedBytes, signal);
			for (const end of furtherBytes) {
				if (part.bytes.length >= part.size || !isSizeFurther(part.bytes)) break;
				part = await readPart(file.url, 0, end, signal);
			}
			const isMore = part.bytes.length < part.size && part.size <= previewLimits.image;
			if (isMore && mayTakeLong(part.bytes)) part = await readPart(file.url, 0, part.size, signal);
			const picture = await readPicture(part.bytes, signal);
			return { bytes: part.bytes.slice(0, sniffedBytes), size: part.size, picture };
		},
		retry: false,
		staleTime: 60_000,
		gcTime: 60_000,
		...keptAsRead,
	});
}
