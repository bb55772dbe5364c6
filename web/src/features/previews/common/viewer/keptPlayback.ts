/** How loud and how fast the last film or song was played. */
const kept = { volume: 1, muted: false, rate: 1 };

/** What an element of the page says of itself. */
export type PlayedElement = Pick<
	HTMLMediaElement,
	'volume' | 'muted' | 'playbackRate' | 'defaultPlaybackRate' | 'addEventListener' | 'removeEventListener'
>;

/**
 * Plays a film or song as loud and as fast as the one before it, until the page is left. What is changed until the
 * returned function is called holds for those after it.
 */
export function keepPlayback(media: PlayedElement): () => void {
	const keep = () => {
		kept.volume = media.volume;
		kept.muted = media.muted;
		kept.rate = media.playbackRate;
		// An element that fetches its file again begins with the default.
		media.defaultPlaybackRate = kept.rate;
	};
	media.volume = kept.volume;
	media.muted = kept.muted;
	media.playbackRate = kept.rate;
	media.defaultPlaybackRate = kept.rate;
	media.addEventListener('volumechange', keep);
	media.addEventListener('ratechange', keep);
	return () => {
		media.removeEventListener('volumechange', keep);
		media.removeEventListener('ratechange', keep);
	};
}
