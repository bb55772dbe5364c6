import { rest, stepsOfTurn } from '../containers/reading/rest.js';
import type { ReadFilm } from '../packets/countPackets.js';

/** Seconds by which pictures may be away from their sound before people see it (ITU-R BT.1359: 90 ms before it, 185 behind it). */
const seen = 0.15;
/** Seconds by which no picture may be away, however few these are. */
const far = 0.5;
/** The part of pictures that may be seen to be away: times of damaged films are guesses. */
const tolerance = 0.01;
/** How far ranks may move beyond the missing pictures: for one that the encoder leaves out, and one that it repeats instead. */
const spareSteps = 2;
/** Seconds by which sound may end later or sooner than pictures where a recording ends: the encoder begins the next one there. */
export const longestRest = 1;

/**
 * Whether pictures of an output are at other times than those of the original, seen from their sound; undefined if that is not known.
 * Each is compared with the one of the same rank, but for those that are missing or repeated, which are counted elsewhere. A recording
 * that was joined to others may begin somewhat sooner or later, as its sound does.
 */
export async function areMoved(
	original: ReadFilm,
	output: ReadFilm,
	signal: AbortSignal,
): Promise<boolean | undefined> {
	// That they could not be counted is said.
	if (original.packets === undefined || output.packets === undefined) return false;
	const [before, after] = [original.packets.pictures.all(), output.packets.pictures.all()];
	if (before === undefined || after === undefined) return undefined;
	for (const shift of new Set(shiftsOf(original, output))) {
		if (!(await areAway({ before, joins: original.packets.pictures.joins, after }, shift, signal))) return false;
	}
	// A film without times has a rate only.
	return before.length > 0;
}

/** The numbers of seconds by which all of a film, or its sound, may be later in the output. */
function shiftsOf(original: ReadFilm, output: ReadFilm): number[] {
	const begins = [original, output].map(({ film, packets }) => {
		const found = [...film.video.slice(0, 1), ...film.audio].flatMap(
			({ index }) => packets?.tracks.get(index)?.begin ?? [],
		);
		return Math.min(...found);
	});
	const [from = 0, to = 0] = begins;
	const [first, converted] = [original, output].map(
		({ film: { audio }, packets }) => audio[0] && packets?.tracks.get(audio[0].index),
	);
	const ofSound =
		first && converted ? [(converted.begin ?? 0) - (first.begin ?? 0), (converted.end ?? 0) - (first.end ?? 0)] : [];
	return [0, to - from, ...ofSound];
}

interface ComparedTimes {
	before: Float64Array;
	joins: readonly number[];
	after: Float64Array;
}

async function areAway({ before, joins, after }: ComparedTimes, shift: number, signal: AbortSignal): Promise<boolean> {
	const others = Math.abs(before.length - after.length);
	const allowed = others + before.length * tolerance;
	let [rank, steps, countSeen, countFar] = [0, others + spareSteps, 0, 0];
	let [join, later] = [0, shift];
	// Where pictures are close together a rank may be too high by one, and does not show it before the end.
	const last = after.length - 1;
	for (let n = 0; n < before.length; n++) {
		if (n % stepsOfTurn === stepsOfTurn - 1) await rest(signal);
		if (n === joins[join]) {
			join++;
			const gap = (after[n + rank] ?? Number.POSITIVE_INFINITY) - (before[n] ?? 0) - later;
			if (Math.abs(gap) <= longestRest) later += gap;
		}
		const time = (before[n] ?? 0) + later;
		const distance = (at: number) => Math.abs((after[Math.min(at, last)] ?? Number.POSITIVE_INFINITY) - time);
		let away = distance(n + rank);
		for (const step of [1, -1]) {
			if (away <= seen || steps === 0 || distance(n + rank + step) >= away) continue;
			rank += step;
			steps--;
			away = distance(n + rank);
		}
		if (away > seen) countSeen++;
		if (away > far) countFar++;
		if (countSeen > allowed || countFar > others) return true;
	}
	return false;
}
