import { createHash } from 'node:crypto';
import { Yielder } from '@stowage/plugin-api';
import type { SandboxedProgram } from '../../SandboxedProgram.js';
import type { Film, SubtitleTrack } from '../probing/Film.js';
import { source } from '../probing/probe.js';
import { boxesOf, descriptionOf, hasEffect, type SampleDescription } from './effects.js';
import { rowsOf, textOf } from './shownText.js';

/** What the text subtitles of a film show. */
export interface SubtitleLines {
	/** How many lines say where on the screen they are, how they move, or which font they have. */
	placed: number;
	/** The tracks by the index of their streams. */
	tracks: ReadonlyMap<number, TrackLines>;
}

interface TrackLines {
	/** How often it has each row, by a digest of what is to be seen of it. */
	rows: ReadonlyMap<number, number>;
	/** Whether an MP4 says that lines of it are forced, which ffprobe does not say. */
	isForced: boolean;
}

/** What the lines of an output lack. */
export interface LostLines {
	/** How many lines have a place, an effect or a font that the output's lack. */
	unplaced: number;
	/** How many rows of each track are not there in the same words, in the order of the tracks. */
	changed: readonly number[];
	/** Whether a track has forced lines, and is not marked in the output. */
	isUnforced: boolean;
}

/** A line of subtitles has some hundred bytes; one of drawings has more. What is in so many is found at once, in some milliseconds. */
const maxLineBytes = 2 ** 16;
/** Of one line, which fills the screen with some dozens. */
const maxRowsOfLine = 1000;
/**
 * Of a film, however many of them are the same: more than of one that draws its subtitles anew with each picture. As many take some 30 MB,
 * and a second of the processor.
 */
const maxRows = 500_000;
/** Of the styles of a track. */
const maxFonts = 1000;
const digestBytes = 6;

/** A line of a dump such as `00000010: 3938 7d54 6f70 2073 6967 6e  98}Top sign`. */
const dumped = /^[0-9a-f]+: ((?:[0-9a-f]{2,4} )+)/;

type Tracks = Pick<Film, 'subtitleTracks'>;

const none: SubtitleLines = { placed: 0, tracks: new Map() };

/**
 * What the text subtitles of an open film show. It reads all packets, so a film without such subtitles is not read. Undefined if that
 * can't be known.
 */
export async function readLines(
	ffprobe: SandboxedProgram,
	descriptor: number,
	{ subtitleTracks }: Tracks,
	signal: AbortSignal,
): Promise<SubtitleLines | undefined> {
	const texts = subtitleTracks.filter(({ kind }) => !kind.startsWith('pictures'));
	if (texts.length === 0) return none;
	const args = [
		...[...source, '-select_streams', 's', '-show_data', '-show_entries'],
		...['packet=stream_index,flags,data:packet_side_data=side_data_type:stream=index,extradata', '-of', 'default'],
	];
	const excess = new AbortController();
	const lines = subtitleReader(texts, () => excess.abort());
	// The first line may be at the end of the film.
	const run = { files: [descriptor], printsContent: true, silentSeconds: Number.POSITIVE_INFINITY };
	try {
		const ends = AbortSignal.any([signal, excess.signal]);
		const { code } = await ffprobe.run(args, { ...run, signal: ends, onLine: lines.take });
		return code === 0 ? lines.read() : undefined;
	} catch (error) {
		signal.throwIfAborted();
		if (excess.signal.aborted) return undefined;
		throw error;
	}
}

interface ReadTrack extends TrackLines {
	kind: SubtitleTrack['kind'];
	rows: Map<number, number>;
	/** Lines with a place or an effect. */
	placed: number;
	/** Other lines by the fonts of their styles. */
	styled: Map<number, number>;
	/** Other lines with a text. */
	others: number;
}

/**
 * Reads packets of subtitles as ffprobe prints them, those of some tracks, and then what is said of these. Where there is more than of any
 * film it says so by `onExcess`, takes nothing any more, and what it has read is undefined.
 */
export function subtitleReader(
	texts: readonly SubtitleTrack[],
	onExcess: () => void = () => {},
): {
	take(line: string): void;
	read(): SubtitleLines | undefined;
} {
	const tracks = new Map<number, ReadTrack>(
		texts.map(({ index, kind }) => [
			index,
			{ kind, rows: new Map(), isForced: false, placed: 0, styled: new Map(), others: 0 },
		]),
	);
	let track: ReadTrack | undefined;
	let isPlaced = false;
	let isText = false;
	let bytes = 0;
	let parts: Buffer[] = [];
	let rowsLeft = maxRows;
	let isWhole = true;
	const giveUp = () => {
		isWhole = false;
		parts = [];
		tracks.clear();
		onExcess();
	};
	const takePacket = (each: ReadTrack, packet: Buffer) => {
		const text = textOf(each.kind, packet);
		const rows = rowsOf(each.kind, text);
		rowsLeft -= rows.length;
		if (rows.length > maxRowsOfLine || rowsLeft < 0) return giveUp();
		for (const row of rows) addTo(each.rows, createHash('sha1').update(row).digest().readUIntBE(0, digestBytes));
		const boxes = each.kind === 'text of MP4' ? boxesOf(packet) : undefined;
		if (isPlaced || hasEffect(each.kind, text) || boxes?.hasOthers) each.placed++;
		else if (boxes?.fonts.size === 1) for (const font of boxes.fonts) addTo(each.styled, font);
		else if (boxes !== undefined && boxes.fonts.size > 1) each.placed++;
		else if (text !== '') each.others++;
		if (each.styled.size > maxFonts) giveUp();
	};
	const takeDescription = (each: ReadTrack, description: SampleDescription) => {
		each.isForced = description.isForced;
		if (description.isPlaced) each.placed += each.others + sumOf(each.styled.values());
		else for (const [font, lines] of each.styled) if (font !== description.font) each.placed += lines;
	};
	return {
		take(line) {
			if (!isWhole) return;
			if (line === '[PACKET]' || line === '[STREAM]') {
				[track, isPlaced, isText, bytes, parts] = [undefined, false, true, 0, []];
			} else if (line.startsWith('stream_index=')) track = tracks.get(Number(line.slice('stream_index='.length)));
			else if (line.startsWith('index=')) {
				// What is said of other ones is not read, and may be long: that of ASS has all styles, and fonts.
				const described = tracks.get(Number(line.slice('index='.length)));
				track = described?.kind === 'text of MP4' ? described : undefined;
			}
			// An edit list leaves it out.
			else if (/^flags=.*D/.test(line)) track = undefined;
			else if (line === '[SIDE_DATA]') isText = false;
			// A cue of WebVTT has its place beside its text.
			else if (line === 'side_data_type=WebVTT Settings') isPlaced = true;
			else if (track === undefined) return;
			else if (line === '[/PACKET]') takePacket(track, Buffer.concat(parts));
			else if (line === '[/STREAM]') takeDescription(track, descriptionOf(Buffer.concat(parts)));
			else if (isText) {
				const digits = (dumped.exec(line)?.[1] ?? '').replaceAll(' ', '');
				bytes += digits.length / 2;
				if (bytes > maxLineBytes) giveUp();
				else if (digits !== '') parts.push(Buffer.from(digits, 'hex'));
			}
		},
		read: () => (isWhole ? { placed: sumOf([...tracks.values()].map(({ placed }) => placed)), tracks } : undefined),
	};
}

const addTo = (counts: Map<number, number>, key: number) => counts.set(key, (counts.get(key) ?? 0) + 1);

function sumOf(counts: Iterable<number>): number {
	let sum = 0;
	for (const count of counts) sum += count;
	return sum;
}

/** What the lines of an output lack of those of the original, track by track in their order; in turns, for there may be very many. */
export async function lostLines(
	original: { film: Tracks; lines: SubtitleLines },
	output: { film: Pick<Film, 'subtitleTracks' | 'named'>; lines: SubtitleLines },
	signal: AbortSignal,
): Promise<LostLines> {
	const pairs = original.film.subtitleTracks.map(({ index }, n) => ({
		before: original.lines.tracks.get(index),
		after: output.lines.tracks.get(output.film.subtitleTracks[n]?.index ?? -1),
		marks: output.film.named.subtitles[n]?.marks ?? [],
	}));
	const changed: number[] = [];
	for (const { before, after } of pairs) {
		// A missing track is counted as one.
		changed.push(before && after ? await missingRows(before.rows, after.rows, signal) : 0);
	}
	return {
		unplaced: Math.max(0, original.lines.placed - output.lines.placed),
		changed,
		isUnforced: pairs.some(
			({ before, after, marks }) => before?.isForced === true && after?.isForced !== true && !marks.includes('forced'),
		),
	};
}

/** How many rows the output lacks. One of its own may be shown several times, with others that overlap it. */
async function missingRows(
	before: TrackLines['rows'],
	after: TrackLines['rows'],
	signal: AbortSignal,
): Promise<number> {
	const yielder = new Yielder();
	let missing = 0;
	for (const [row, times] of before) {
		if (yielder.shouldYield) await yielder.yield(signal);
		missing += Math.max(0, times - (after.get(row) ?? 0));
	}
	return missing;
}
