import type { DecodedFilm } from '../frames/decodeFilm.js';
import type { ReadFilm, TrackPackets } from '../packets/countPackets.js';
import type { AudioTrack } from '../probing/Film.js';
import { someOf } from '../texts/names.js';
import { slackOf, tolerance } from './lostFrames.js';
import { longestRest } from './movedPictures.js';

/**
 * The layouts of which each channel was heard in the output; of others the encoder mixes several into one, and leaves others silent, in a
 * layout of as many. Where none is said, it takes the usual one of their number.
 */
const keptLayouts =
	/^(?:mono|stereo|3\.1|4\.[01]|quad|quad\(side\)|5\.[01]|5\.[01]\(side\)|6\.[01]|7\.[01]|unknown|[1-8] channels)$/;
const unknownLayout = /^(?:unknown|\d+ channels)$/;
/** In Opus the encoder gives seven channels in another order: who speaks in the middle is heard from behind. */
const isMixedUp = ({ codec, channels }: AudioTrack) => codec === 'opus' && channels === 7;
/** Numbers of channels whose usual layout has one for low frequencies (LFE, of 5.1 and 7.1), of which the encoder keeps no others. */
const withLfe: ReadonlySet<number> = new Set([6, 8]);

export function lostSound(original: ReadFilm, output: ReadFilm, decoded: DecodedFilm | undefined): string[] {
	return original.film.audio.flatMap(({ index, announced, ...track }, n) => {
		const converted = output.film.audio[n];
		// It is counted as a lost track.
		if (converted === undefined) return [];
		// An AVI delays its sound by empty packets, which are counted in it and read by no decoder.
		const before = Math.max(soundSeconds(original.packets?.tracks.get(index)), announced);
		const lost = before - soundSeconds(output.packets?.tracks.get(converted.index));
		// A recording of television may begin with fewer.
		const sound = decoded?.tracks.get(index);
		const channels = Math.max(track.channels, sound?.channels ?? 0);
		const layouts = [...(sound?.layouts ?? [])];
		const mixed = layouts.filter((layout) => !keptLayouts.test(layout));
		const isUnknown = withLfe.has(channels) && layouts.some((layout) => unknownLayout.test(layout));
		return [
			...(lost > slackOf(before) ? [`${Math.round(lost)} s of audio track ${n + 1}`] : []),
			...(converted.channels < channels
				? [`${channels - converted.channels} of ${channels} channels of audio track ${n + 1}`]
				: mixed.map((layout) => `channels of audio track ${n + 1} that become one (${someOf([layout])})`)),
			...(isMixedUp(converted) ? [`where the channels of audio track ${n + 1} are heard`] : []),
			...(isUnknown
				? [`high tones of a channel of audio track ${n + 1} (its file does not say which is for low ones)`]
				: []),
		];
	});
}

/** Seconds of sound that may be left out of a clip, however short that is: some packets. */
const shortestDropped = 0.1;

/**
 * Sound in which the encoder leaves out packets here and there, since their times overlap: it is as long as before. That of a recording that
 * was joined to others may overlap the next one's, which begins with its pictures.
 */
export function lostToOverlaps({ film, packets }: ReadFilm, dropped: number): string[] {
	// Of the shortest track: which one it was is not known.
	const lengths = film.audio.map(({ index }) => soundSeconds(packets?.tracks.get(index))).filter((each) => each > 0);
	const seconds = lengths.length === 0 ? 0 : Math.min(...lengths);
	const ofJoins = (packets?.pictures.joins.length ?? 0) * longestRest;
	if (dropped <= Math.max(shortestDropped, seconds * tolerance) + ofJoins) return [];
	return [`${Math.round(dropped * 10) / 10} s of sound whose times overlap`];
}

function soundSeconds({ begin = 0, end = 0, gaps = 0 }: Partial<TrackPackets> = {}): number {
	return end - begin - gaps;
}
