import { formatQueueSize } from '@stowage/rules';
import type { Contents } from './containers/reading/scanner.js';
import type { FilmPackets, TrackPackets } from './countPackets.js';
import type { DecodedFilm } from './decodeFilm.js';
import type { HiddenPart } from './hiddenParts.js';
import { areSameColours, isSameShape } from './look.js';
import { isNameOfProgram } from './namesOfPrograms.js';
import { camerasIn, placesIn } from './phoneTags.js';
import { contentSeconds, type Film, type NamedTrack, type SubtitleTrack, type Trait } from './probe.js';
import type { LostLines } from './subtitles/lines.js';
import { missingTexts } from './texts.js';

/** A film and its packets; undefined where they could not be read. */
export interface ReadFilm {
	film: Film;
	packets: FilmPackets | undefined;
}

interface Comparison {
	original: ReadFilm;
	/** The size of its file. */
	originalBytes: number;
	output: ReadFilm;
	/** The frames of the original; undefined where it was not decoded: then nothing is said of them. */
	decoded: DecodedFilm | undefined;
	/** How many errors the decoders had; undefined if that is not known. */
	decoderErrors: number | undefined;
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

const maxNames = 10;
const maxName = 50;

/** The part of frames that may be missing: the times of a film are rounded, and two frames may have the same one. */
const tolerance = 0.01;

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

function lostTracks(original: Film, output: Film): string[] {
	const amounts = [
		['video tracks', original.video.length, output.video.length],
		['audio tracks', original.audio.length, output.audio.length],
		['subtitles', original.subtitles, output.subtitles],
		['cover pictures', original.pictures, output.pictures],
		['attachments', original.attachments, output.attachments],
		['data tracks', original.data, output.data],
		['chapters', original.chapters.length, output.chapters.length],
	] as const;
	return amounts.flatMap(([what, before, after]) => (after < before ? [`${before - after} of ${before} ${what}`] : []));
}

/** Seconds between the beginnings of chapters, which encoders move to frames. */
const chapterTolerance = 1;

/** The encoder makes each chapter begin where the one before ends, and the first with the film. */
function lostChapters(original: Film, output: Film): string[] {
	// They are counted as lost.
	if (output.chapters.length < original.chapters.length) return [];
	const pairs = original.chapters.map((before, n) => [before, output.chapters[n] ?? before] as const);
	// The time before the first packet is kept, or left out.
	const lead = original.lead - output.lead;
	const isMoved = ([before, after]: (typeof pairs)[number]) =>
		Math.min(...[0, lead].map((less) => Math.abs(before.begin - less - after.begin))) > chapterTolerance;
	const isRenamed = ([{ title }, after]: (typeof pairs)[number]) =>
		title.trim() !== '' && nameOf(title) !== nameOf(after.title);
	return [
		...(pairs.some(isMoved) ? ['the times of chapters'] : []),
		...(pairs.some(isRenamed) ? ['the names of chapters'] : []),
	];
}

/** The name of a chapter; programs number those without one, some with noughts before the number, and HandBrake without. */
const nameOf = (title: string) => title.trim().replace(/^Chapter 0{1,3}(?=\d{1,4}$)/, 'Chapter ');

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

function lostTraits(original: Film, output: Film, decoded: DecodedFilm | undefined): string[] {
	const traits = new Set<Trait>([
		...original.traits,
		...(decoded?.isStereo ? (['the view of a panorama or in 3D'] as const) : []),
		...(decoded?.hasDolbyVision || decoded?.hasWideRange ? (['high dynamic range'] as const) : []),
		...(decoded?.hasTimecode ? (['its timecode'] as const) : []),
	]);
	const isKept = (trait: Trait) => {
		if (trait === 'the time of filming') return isSameTime(original.madeAt, output.madeAt);
		const tags = taggedTraits.get(trait)?.(original.phoneTags) ?? [];
		return output.traits.includes(trait) && tags.every(([name, value]) => output.phoneTags.get(name) === value);
	};
	return [...traits].filter((trait) => !isKept(trait));
}

/** How its pictures are shown. */
function lostLook({ video: [before] }: Film, { video: [after] }: Film): string[] {
	// It is counted as a lost track.
	if (before === undefined || after === undefined) return [];
	return [
		...(isSameShape(before.look.shape, after.look.shape) ? [] : ['the shape of its pictures']),
		...(areSameColours(before.look, after.look) ? [] : ['its colours']),
	];
}

/** Of which a film may have a part only. */
const taggedTraits: ReadonlyMap<Trait, typeof placesIn> = new Map([
	['the place where it was filmed', placesIn],
	['the camera', camerasIn],
]);

/** Containers have whole seconds. */
const isSameTime = (a = Number.NaN, b = Number.NaN) => Math.abs(a - b) <= 1000;

/** What tells tracks apart, and what the film says of itself. */
function lostNames(original: Film, output: Film): string[] {
	const kinds = [
		[original.named.audio, output.named.audio],
		[original.named.subtitles, output.named.subtitles],
	] as const;
	// One that is missing is counted as a lost track.
	const pairs = kinds.flatMap(([before, after]) =>
		namesOf(before).flatMap(({ name, ...track }, n) => (after[n] ? [{ name, track, converted: after[n] }] : [])),
	);
	const isRenamed = ({ name, converted }: (typeof pairs)[number]) =>
		name !== '' && ![converted.title, converted.handler].includes(name);
	const isOfAnother = ({ track, converted }: (typeof pairs)[number]) =>
		track.language !== '' && track.language !== converted.language;
	const marks = new Set(
		pairs.flatMap(({ track, converted }) => track.marks.filter((mark) => !converted.marks.includes(mark))),
	);
	const texts = missingTexts(original.texts, output.texts);
	const looks = original.styledSubtitles - output.styledSubtitles;
	return [
		...(pairs.some(isRenamed) ? ['names of tracks'] : []),
		...(pairs.some(isOfAnother) ? ['languages of tracks'] : []),
		...(marks.size > 0 ? [`which tracks are ${[...marks].join(' or ')}`] : []),
		...(looks > 0 ? [`fonts, colours and places of ${looks} subtitles`] : []),
		...(texts.length > 0 ? [`what the file says of it (${someOf(texts)})`] : []),
	];
}

/** Tracks of a kind with the names by which people tell them apart; empty where these are none. */
function namesOf(tracks: readonly NamedTrack[]): (NamedTrack & { name: string })[] {
	// A name of all of them is that of a program.
	const areAlike = new Set(tracks.map(({ handler }) => handler)).size < 2;
	return tracks.map((track) => {
		const handler = areAlike || isNameOfProgram(track.handler) ? '' : track.handler;
		// The name of an only track tells it from no other one.
		return { ...track, name: tracks.length === 1 ? '' : track.title || handler };
	});
}

/** Whoever made the film chose how many and how long they are. */
function someOf(names: readonly string[]): string {
	const some = names.slice(0, maxNames).map((name) => (name.length > maxName ? `${name.slice(0, maxName)}…` : name));
	return `${some.join(', ')}${names.length > maxNames ? ` and ${names.length - maxNames} more` : ''}`;
}

/** The encoder gives all pictures the size of the first ones, takes two moments for one, and finds only captions near the beginning. */
function lostInFrames({ video, matrices }: Film, decoded: DecodedFilm | undefined): string[] {
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

function lostFrames(original: ReadFilm, output: ReadFilm): string[] {
	const expected = expectedFrames(original);
	const [track] = output.film.video;
	const found = track && output.packets?.tracks.get(track.index)?.count;
	if (expected === undefined || found === undefined) return ['frames (they could not be counted)'];
	return found >= expected * (1 - tolerance) ? [] : [`${expected - found} of ${expected} frames`];
}

/** Other times of pictures: the encoder evens out those of films whose rate changes, as of screens and phones, by seconds. */
function lostTimes({ audio }: Film, areMoved: boolean | undefined): string[] {
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

function soundSeconds({ begin = 0, end = 0, gaps = 0 }: Partial<TrackPackets> = {}): number {
	return end - begin - gaps;
}

/** Tracks begin and end at somewhat different times. */
const slackOf = (seconds: number) => Math.max(1, seconds * tolerance);

/**
 * The layouts of which each channel was heard in the output; of others the encoder mixes several into one, and leaves others silent, in a
 * layout of as many. Where none is said, it takes the usual one of their number.
 */
const keptLayouts =
	/^(?:mono|stereo|3\.1|4\.[01]|quad|quad\(side\)|5\.[01]|5\.[01]\(side\)|6\.[01]|7\.[01]|unknown|[1-8] channels)$/;
const unknownLayout = /^(?:unknown|\d+ channels)$/;
/** Numbers of channels whose usual layout has one for low frequencies (LFE, of 5.1 and 7.1), of which the encoder keeps no others. */
const withLfe: ReadonlySet<number> = new Set([6, 8]);

function lostSound(original: ReadFilm, output: ReadFilm, decoded: DecodedFilm | undefined): string[] {
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
			...(isUnknown
				? [`high tones of a channel of audio track ${n + 1} (its file does not say which is for low ones)`]
				: []),
		];
	});
}

/**
 * The lines of subtitles that are missing: of two that begin at the same moment, as of two speakers, the encoder leaves one out, and of
 * PGS the line that is shown in the moment in which the one before is cleared.
 */
function missingLines(original: ReadFilm, output: ReadFilm): string[] {
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
function changedLines(original: ReadFilm, output: ReadFilm, lost: LostLines | undefined): string[] {
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
