import type { DecodedFilm } from '../frames/decodeFilm.js';
import type { Film, NamedTrack, Trait } from '../probing/Film.js';
import { areSameColours, isSameShape } from '../probing/look.js';
import { someOf } from '../texts/names.js';
import { isNameOfProgram } from '../texts/namesOfPrograms.js';
import { camerasIn, placesIn } from '../texts/phoneTags.js';
import { missingTexts } from '../texts/texts.js';

export function lostTracks(original: Film, output: Film): string[] {
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
export function lostChapters(original: Film, output: Film): string[] {
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

export function lostTraits(original: Film, output: Film, decoded: DecodedFilm | undefined): string[] {
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
export function lostLook({ video: [before] }: Film, { video: [after] }: Film): string[] {
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
export function lostNames(original: Film, output: Film): string[] {
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
