import { formatQueueSize } from '@stowage/rules';
import type { Contents } from '../containers/reading/scanner.js';
import type { DecodedFilm } from '../frames/decodeFilm.js';
import type { ReadFilm } from '../packets/countPackets.js';
import type { HiddenPart } from '../packets/hiddenParts.js';
import type { Film } from '../probing/Film.js';
import type { LostLines } from '../subtitles/lines.js';
import { someOf } from '../texts/names.js';
import { lostFrames, lostInFrames, lostTimes, slackOf } from './lostFrames.js';
import { changedLines, missingLines } from './lostLines.js';
import { lostSound, lostToOverlaps } from './lostSound.js';
import { lostChapters, lostLook, lostNames, lostTracks, lostTraits } from './lostTracks.js';

interface Comparison {
	original: ReadFilm;
	/** The size of its file. */
	originalBytes: number;
	output: ReadFilm;
	/** The frames of the original; undefined where it was not decoded: then nothing is said of them. */
	decoded: DecodedFilm | undefined;
	/** How many errors the decoders had; undefined if that is not known. */
	decoderErrors: number | undefined;
	/** Seconds of a track of sound that the encoder has left out, as it says. */
	droppedSound: number;
	/** Whether its pictures are at other times than in the output, seen from its sound; undefined if that is not known. */
	areMoved: boolean | undefined;
	/** How many seconds some of its tracks begin later than others in a way that no program reads; undefined if that is not known. */
	unreadDelay: number | undefined;
	/** How many of its tracks lack the end that its container marks; undefined if that is not known. */
	unended: number | undefined;
	/** What edit lists leave out of its tracks, by the index of their streams; undefined if that is not known. */
	hidden: ReadonlyMap<number, HiddenPart> | undefined;
	/** Whether its pictures have a second layer; undefined if that is not known. */
	isLayered: boolean | undefined;
	/** The files that are attached to it, as its container has them; undefined if that is not known. */
	attached: Contents['attached'] | undefined;
	/** How many messages in its pictures are of no known encoder; undefined if that is not known. */
	foreignMessages: number | undefined;
	/** What the lines of its subtitles lack in the output; undefined if that is not known. */
	lostLines: LostLines | undefined;
}

/**
 * What the original has and the output lacks, in words for people. Only where this is empty may the original be deleted, so what is
 * unknown counts as missing.
 */
export function lossesOf({
	original,
	originalBytes,
	output,
	decoded,
	decoderErrors,
	droppedSound,
	areMoved,
	unreadDelay,
	unended,
	hidden,
	isLayered,
	attached = { count: 0, bytes: 0 },
	foreignMessages,
	lostLines,
}: Comparison): string[] {
	const lost = [
		...lostTracks(original.film, output.film),
		...lostChapters(original.film, output.film),
		...original.film.unread,
		...lateTracks(original),
		...lostDelay(unreadDelay),
		...lostEnds(unended),
		...lostTraits(original.film, output.film, decoded),
		...lostLook(original.film, output.film),
		...lostNames(original.film, output.film),
		...lostInFrames(original.film, decoded),
		...lostFrames(original, output),
		...lostTimes(original.film, areMoved),
		...lostSound(original, output, decoded),
		...lostToOverlaps(original, droppedSound),
		...missingLines(original, output),
		...changedLines(original, output, lostLines),
		...lostToEdits(original.film, hidden),
		...lostLayers(isLayered, decoded),
		...lostMessages(foreignMessages),
		...lostAttachments(original.film, attached),
		...lostBytes(original, originalBytes - keptBytes(original.film, output.film, attached)),
		...(decoderErrors === 0 ? [] : [`what could not be decoded${errorsOf(decoderErrors)}`]),
	];
	// The file and its frames may both say that it is interlaced.
	return [...new Set(lost)];
}

function errorsOf(count: number | undefined): string {
	if (count === undefined) return ' (the errors were not counted)';
	return count === 1 ? ' (1 error)' : ` (${count} errors)`;
}

/** What its container has that no program here reads; undefined if that is not known. */
export function unreadParts(contents: Contents | undefined): string[] {
	if (contents === undefined) return ['parts of it that could not be read'];
	const names = [...contents.unread];
	return names.length === 0 ? [] : [`data that no program here reads (${someOf(names)})`];
}

/** Tracks of a stream without a table, which begin where neither ffprobe nor HandBrake looks for them. */
function lateTracks({ film, packets }: ReadFilm): string[] {
	const late = (packets?.streams ?? 0) - film.streams;
	if (late <= 0) return [];
	return [late === 1 ? '1 track that begins later' : `${late} tracks that begin later`];
}

function lostDelay(seconds: number | undefined): string[] {
	if (seconds === undefined) return ['delays of tracks (they could not be read)'];
	return seconds === 0 ? [] : [`a delay of ${Math.round(seconds * 100) / 100} s between tracks`];
}

/** No encoder here reads another layer than the first one, and no decoder says that there is one. */
function lostLayers(isLayered: boolean | undefined, decoded: DecodedFilm | undefined): string[] {
	// The parameters of its pictures may say it, and these themselves.
	const said = [isLayered, decoded === undefined ? false : decoded.hasLayers];
	if (said.includes(true)) return ['the second layer of its pictures (the view of the other eye, or transparency)'];
	return said.includes(undefined) ? ['further layers of its pictures (they could not be looked for)'] : [];
}

/** Messages in pictures, in which cameras write their positions. */
function lostMessages(count: number | undefined): string[] {
	if (count === undefined) return ['messages in its pictures (they could not be read)'];
	if (count === 0) return [];
	return [`${count === 1 ? '1 message' : `${count} messages`} in its pictures that no program here reads`];
}

/** Tracks without an end: where a file was cut off whose container says no duration, what was behind that can't be counted. */
function lostEnds(tracks: number | undefined): string[] {
	if (tracks === undefined) return ['ends of tracks (they could not be found)'];
	if (tracks === 0) return [];
	return [
		tracks === 1
			? 'the end of 1 track, which is missing in the file'
			: `the ends of ${tracks} tracks, which are missing in the file`,
	];
}

/** What an editor writes that cuts a film without encoding it again: it begins with a picture that needs no other one. */
const longestLead = 2;

/** Parts of tracks that are in the file, and were cut out by its edit list only: no program shows or converts them. */
function lostToEdits({ video, audio, subtitleTracks }: Film, hidden: Comparison['hidden']): string[] {
	if (hidden === undefined) return ['hidden parts of tracks (they could not be read)'];
	const kinds = [
		['video track', video],
		['audio track', audio],
		['subtitles', subtitleTracks],
	] as const;
	return kinds.flatMap(([what, tracks]) =>
		tracks.flatMap(({ index }, n) => {
			const { before, later, seconds } = hidden.get(index) ?? { before: 0, later: 0, seconds: 0 };
			const isLead = before <= Math.min(longestLead, seconds / 4);
			const lost = later + (isLead ? 0 : before);
			return lost > slackOf(seconds) ? [`${Math.round(lost)} s of ${what} ${n + 1} that are hidden`] : [];
		}),
	);
}

/** Files that ffprobe leaves out. */
function lostAttachments({ attachments, pictures }: Film, { count }: Contents['attached']): string[] {
	const lost = count - attachments - pictures;
	return lost > 0 ? [`${lost} of ${count} attachments`] : [];
}

/** The bytes of attachments of which the output has as many: they have no packets, as covers have. */
function keptBytes(original: Film, output: Film, { count, bytes }: Contents['attached']): number {
	return original.attachments === count && output.attachments >= count ? bytes : 0;
}

/**
 * Bytes of the file beyond its packets and what a container takes to list them: a second film behind the first one, what somebody has
 * appended, what was cut out and could be brought back, what is so damaged that no reader finds it.
 */
function lostBytes({ film, packets }: ReadFilm, bytes: number): string[] {
	const tracks = [...(packets?.tracks.values() ?? [])];
	const rest = tracks.reduce((sum, track) => sum - track.bytes, bytes);
	const count = tracks.reduce((sum, track) => sum + track.count, 0);
	const overhead = bytes / 10 + count * (film.container === 'mpegts' ? 256 : 64) + 2 ** 16;
	return packets === undefined || rest <= overhead ? [] : [`${formatQueueSize(rest)} that are part of no track`];
}
