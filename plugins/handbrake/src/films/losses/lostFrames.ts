import type { DecodedFilm } from '../frames/decodeFilm.js';
import type { FilmPackets, ReadFilm, TrackPackets } from '../packets/countPackets.js';
import { contentSeconds, type Film } from '../probing/Film.js';
import { someOf } from '../texts/names.js';

/** The part of frames, or of sound, that may be missing: the times of a film are rounded, and two frames may have the same one. */
export const tolerance = 0.01;

/** Tracks begin and end at somewhat different times. */
export const slackOf = (seconds: number) => Math.max(1, seconds * tolerance);

/** The encoder gives all pictures the size of the first ones, takes two moments for one, and finds only captions near the beginning. */
export function lostInFrames({ video, matrices }: Film, decoded: DecodedFilm | undefined): string[] {
	if (decoded === undefined) return [];
	const tracks = video.flatMap(({ index }) => decoded.tracks.get(index) ?? []);
	return [
		...(tracks.some(({ changesShape }) => changesShape) ? ['the sizes of its pictures, which change'] : []),
		...(tracks.some(({ frames, interlaced }) => interlaced > frames * tolerance)
			? ['the half pictures of interlaced video']
			: []),
		...(decoded.hasCaptions ? ['closed captions'] : []),
		...(decoded.unread.size > 0
			? [`data in its pictures that no program here reads (${someOf([...decoded.unread])})`]
			: []),
		...([...decoded.matrices].some((each) => !matrices.has(each))
			? ['that it is shown turned or mirrored, which only its pictures say']
			: []),
	];
}

export function lostFrames(original: ReadFilm, output: ReadFilm): string[] {
	const expected = expectedFrames(original);
	const [track] = output.film.video;
	const found = track && output.packets?.tracks.get(track.index)?.count;
	if (expected === undefined || found === undefined) return ['frames (they could not be counted)'];
	return found >= expected * (1 - tolerance) ? [] : [`${expected - found} of ${expected} frames`];
}

/** Other times of pictures: the encoder evens out those of films whose rate changes, as of screens and phones, by seconds. */
export function lostTimes({ audio }: Film, areMoved: boolean | undefined): string[] {
	if (areMoved === undefined) return ['the times of its pictures (they could not be compared)'];
	if (!areMoved) return [];
	const isMute = audio.length === 0;
	return [isMute ? 'the times of its pictures' : 'the times of its pictures, which are at other moments of its sound'];
}

/**
 * The number of frames that the first track of video should have; undefined if it can't be known. The damaged part of a film has no
 * packets, so their number is right only where the film shows that it has no such part: by an index of its frames, or by sound without
 * gaps. Otherwise the number is the duration times the rate, by which a film of a changing rate may seem to lack frames.
 */
function expectedFrames({ film, packets }: ReadFilm): number | undefined {
	const [track] = film.video;
	const pictures = track && packets?.tracks.get(track.index);
	if (track === undefined || packets === undefined || pictures === undefined) return undefined;
	const timed = { seconds: lastingSeconds(film, packets), rate: track.rate };
	const isWhole =
		track.isIndexed || film.audio.some(({ index }) => isGapless(packets.tracks.get(index), pictures, timed));
	if (isWhole) return Math.max(pictures.count, track.announced - track.empty);
	if (timed.rate === 0 || timed.seconds <= 0) return undefined;
	return Math.max(pictures.count, Math.round(timed.rate * timed.seconds) - track.empty);
}

/** Times of Matroska are rounded to so many seconds at most. */
const rounding = 0.01;

/**
 * How long a film lasts from its first packet on. A part of a Matroska film that mkvmerge has split says its own duration, and may have the
 * times of the whole: packets are then behind the end that it says.
 */
function lastingSeconds(film: Film, { tracks }: FilmPackets): number {
	const hasBehind = [...tracks.values()].some(({ end = 0 }) => end > film.seconds + rounding);
	return hasBehind ? film.seconds : contentSeconds(film);
}

/** Whether there is sound at each moment of a film or, where it has not begun or has ended, one frame after the other. */
function isGapless(
	sound: TrackPackets | undefined,
	pictures: TrackPackets,
	{ seconds, rate }: { seconds: number; rate: number },
): boolean {
	if (sound === undefined || seconds <= 0 || sound.pauses > seconds * tolerance) return false;
	const slack = slackOf(seconds);
	const { begin = 0, end = 0 } = sound;
	if (end - begin >= seconds - slack) return true;
	const { begin: first = 0, end: last = 0, count } = pictures;
	const isDense = rate > 0 && count >= rate * (last - first) * (1 - tolerance);
	const areAdjacent = begin <= last + slack && first <= end + slack;
	return isDense && areAdjacent && Math.max(end, last) - Math.min(begin, first) >= seconds - slack;
}
