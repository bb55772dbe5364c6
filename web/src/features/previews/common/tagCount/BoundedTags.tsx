import { contentType } from '@stowage/rules';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { queryKeys } from '../../../../api/queryKeys.js';
import { previewMessages as messages } from '../../messages.js';
import type { PreviewFile } from '../bytes/previewFile.js';
import { asRead } from '../bytes/previewQuery.js';
import { rangedBlob } from '../bytes/rangedBlob.js';
import { ViewerError } from '../viewer/ViewerError.js';
import { ViewerLoading } from '../viewer/ViewerLoading.js';
import { hasTooManyTags } from './countTags.js';

/** A film in thousands of fragments is looked at in each of them. */
const blockBytes = 8 * 1024;

interface BoundedTagsProps {
	file: PreviewFile;
	/** The title of the error, where there are too many. */
	title: string;
	/** The player. */
	children: ReactNode;
}

/** The player of a song or film, unless that has tags or samples that a browser reads without end, or without a bound on its memory. */
export function BoundedTags({ file, title, children }: BoundedTagsProps) {
	const isRefused = useTooManyTags(file);
	if (isRefused === undefined) return <ViewerLoading />;
	return isRefused ? <ViewerError file={file} title={title} text={messages.tooManyTags} /> : children;
}

/**
 * Whether a song or film has more tags or samples than a browser reads in a moment: its player reads them in a thread
 * that nothing ends but itself. Undefined until that is known. A film in fragments is played meanwhile, until it turns
 * out to have too many.
 */
function useTooManyTags({ id, url, size, name }: PreviewFile): boolean | undefined {
	const client = useQueryClient();
	const queryKey = queryKeys.previews.tooManyTags(id);
	const { data } = useQuery({
		queryKey,
		queryFn: () => {
			const blob = rangedBlob(url, size, contentType(name), blockBytes);
			// What can't be fetched is the player's to say.
			return hasTooManyTags(blob, () => client.setQueryData(queryKey, false)).catch(() => false);
		},
		retry: false,
		staleTime: 60_000,
		...asRead,
	});
	return data;
}
