import type { ReadFilm } from '../packets/countPackets.js';
import type { SubtitleTrack } from '../probing/Film.js';
import type { LostLines } from '../subtitles/lines.js';

/**
 * The lines of subtitles that are missing: of two that begin at the same moment, as of two speakers, the encoder leaves one out, and of
 * PGS the line that is shown in the moment in which the one before is cleared.
 */
export function missingLines(original: ReadFilm, output: ReadFilm): string[] {
	return original.film.subtitleTracks.flatMap((track, n) => {
		const { before, missing } = missingOf(track, n, original, output);
		return missing === 0 ? [] : [`${missing} of ${before} lines of subtitles ${n + 1}`];
	});
}

function missingOf(track: SubtitleTrack, n: number, original: ReadFilm, output: ReadFilm) {
	const converted = output.film.subtitleTracks[n];
	const { lines: before, packets } = linesOf(original, track);
	// It is counted as a lost track.
	if (converted === undefined) return { before, missing: 0 };
	const after = linesOf(output, converted);
	const missing = Math.max(0, before - after.lines);
	// What clears the screen is needed only where no other line does so; in a transport stream each part of a picture is a packet.
	const isEnough = track.kind !== 'pictures of PGS or DVB' || after.packets >= packets / 2;
	return missing > 0 || isEnough ? { before, missing } : { before: packets, missing: packets - after.packets };
}

/** Encoders take some words for markup; texts of SubRip and WebVTT may say where on the screen they are, and those of MP4 here not. */
export function changedLines(original: ReadFilm, output: ReadFilm, lost: LostLines | undefined): string[] {
	if (lost === undefined) return ['words and places of subtitles (they could not be read)'];
	const { unplaced, changed, isUnforced } = lost;
	const words = original.film.subtitleTracks.flatMap((track, n) => {
		const lines = changed[n] ?? 0;
		// Missing lines lack their words, too.
		if (lines === 0 || missingOf(track, n, original, output).missing > 0) return [];
		return [`words of ${lines === 1 ? '1 line' : `${lines} lines`} of subtitles ${n + 1}`];
	});
	return [
		...words,
		...(isUnforced ? ['which tracks are forced'] : []),
		...(unplaced === 1 ? ['the place of 1 line of subtitles'] : []),
		...(unplaced > 1 ? [`the places of ${unplaced} lines of subtitles`] : []),
	];
}

function linesOf({ packets }: ReadFilm, { index, kind }: SubtitleTrack) {
	const { count = 0, filled = 0, showing = 0 } = packets?.tracks.get(index) ?? {};
	const shown = kind === 'text of MP4' ? filled : count;
	return { lines: kind === 'pictures of PGS or DVB' ? showing : shown, packets: count };
}
