import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { previewMessages as messages } from '../../messages.js';
import type { PreviewFile } from '../bytes/previewFile.js';
import { ViewerError } from '../viewer/ViewerError.js';
import { ViewerLoading } from '../viewer/ViewerLoading.js';
import { tooManyTagsQuery } from './tooManyTags.js';

interface BoundedTagsProps {
	file: PreviewFile;
	/** The title of the error, where there are too many. */
	title: string;
	/** The player. */
	children: ReactNode;
}

/**
 * The player of a song or film, unless that has tags or samples that a browser reads without end, or without a bound on its
 * memory: it reads them in a thread that nothing ends but itself.
 */
export function BoundedTags({ file, title, children }: BoundedTagsProps) {
	const { data: isRefused } = useQuery(tooManyTagsQuery(file));
	if (isRefused === undefined) return <ViewerLoading />;
	return isRefused ? <ViewerError file={file} title={title} text={messages.tooManyTags} /> : children;
}
