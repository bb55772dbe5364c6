import { useCallback, useEffect, useState } from 'react';
import { thumbnails } from '../../../../api/ThumbnailLoader.js';

export interface ShownThumbnail {
	/** The object URL of the picture, once it is there. */
	picture: string | undefined;
	/** The browser could not draw it. */
	fail: () => void;
}

/** Fetches the thumbnail of an entry for as long as it is rendered; `url` is undefined for one that has none. */
export function useThumbnail(url: string | undefined): ShownThumbnail {
	const [fetched, setFetched] = useState<{ of: string; picture: string | undefined }>();
	const kept = url === undefined ? undefined : thumbnails.peek(url);
	const isKnown = url === undefined || kept !== undefined || fetched?.of === url;

	useEffect(() => {
		if (isKnown) return;
		const controller = new AbortController();
		thumbnails.load(url, controller.signal).then(
			(thumbnail) => setFetched({ of: url, picture: thumbnail?.kind === 'picture' ? thumbnail.url : undefined }),
			(error: unknown) => {
				// It was scrolled away.
				if (!controller.signal.aborted) throw error;
			},
		);
		return () => controller.abort();
	}, [url, isKnown]);

	const fail = useCallback(() => url !== undefined && setFetched({ of: url, picture: undefined }), [url]);
	if (url !== undefined && fetched?.of === url) return { picture: fetched.picture, fail };
	return { picture: kept?.kind === 'picture' ? kept.url : undefined, fail };
}
