import { type Entry, splitName } from '@stowage/rules';
import { plainStyles } from './cueStyles.js';

export interface SubtitleFile {
	entry: Entry;
	/** The part between the film's name and the extension, such as `en`. */
	label: string;
}

/** A larger file is no subtitles. */
export const maxSubtitleBytes = 2 * 1024 * 1024;

/** More files are no choice. */
const maxFiles = 30;
/** A long film has some thousands, of a few lines each. */
const maxCues = 10_000;
const maxCue = 1_000;
/** Characters behind its times. */
const maxSettings = 300;
/** A film shows a few at a time, with the texts of signs. */
const maxAtOnce = 12;
/** Styles and regions, which come first. */
const maxOthers = 20;
/** Tags of one cue: each word of karaoke has three. Nested ones, as `<ruby>`, take a browser the square of their number. */
const maxTags = 50;
/** Where a cue stands: to find the line of one that stands further away, a browser goes there line by line. */
const place = /^line:(?:-?\d{1,2}|\d{1,3}(?:\.\d{1,6})?%)(?:,[a-z]+)?$/;

/** The subtitles of a film: `.srt` and `.vtt` files beside it that are named after it. */
export function subtitlesOf(film: Entry, entries: readonly Entry[]): SubtitleFile[] {
	const { base } = splitName(film.name);
	const folder = film.path.slice(0, -film.name.length);
	const found = entries.flatMap((entry): SubtitleFile[] => {
		const { base: name, extension } = splitName(entry.name);
		const isSubtitles = /^\.(srt|vtt)$/i.test(extension) && entry.type === 'file' && entry.size <= maxSubtitleBytes;
		const isBeside = entry.path === folder + entry.name && entry.owner === film.owner;
		if (!isSubtitles || !isBeside) return [];
		if (name === base) return [{ entry, label: '' }];
		return name.startsWith(`${base}.`) ? [{ entry, label: name.slice(base.length + 1) }] : [];
	});
	// The one that is named just as the film is shown at first.
	return found.sort((a, b) => Number(a.label !== '') - Number(b.label !== '')).slice(0, maxFiles);
}

/** Converts either format to WebVTT, which browsers play, without what they could not lay out in time. */
export function toVtt(text: string): string {
	// Some editors end a line with two CR.
	const lines = text.replace(/^\uFEFF/, '').replaceAll(/\r\r\n|\r\n?/g, '\n');
	if (lines.startsWith('WEBVTT')) return bounded(lines.slice(lines.indexOf('\n') + 1).trimStart(), false);
	// Of the marks of SubRip WebVTT knows bold, italic and underlined only.
	return bounded(lines.replaceAll(/<\/?font[^<>]*>|\{\\an?\d\}/gi, ''), true);
}

/** Leaves out cues that would be shown beside too many others: the browser lays all of them out anew for each one. */
function bounded(text: string, isSubRip: boolean): string {
	const { cues, blocks } = readLines(text.split('\n'), isSubRip);
	const others = blocks.map((lines) => {
		if (lines[0]?.startsWith('STYLE')) return plainStyles(lines.join('\n'));
		// Browsers read styles behind its name, too.
		return ['REGION', ...lines.slice(1).filter(isSetting)].join('\n');
	});
	let ends: number[] = [];
	const shown = cues
		.sort((one, other) => one.start - other.start)
		.filter(({ start, end }) => {
			ends = ends.filter((each) => each > start);
			return ends.length < maxAtOnce && ends.push(end) > 0;
		});
	return ['WEBVTT', ...others.filter((each) => each !== '').slice(0, maxOthers), ...shown.map(textOf)].join('\n\n');
}

const isSetting = (line: string) => /^[a-z]+:[^\s:]/i.test(line);

interface Cue {
	/** Milliseconds. */
	start: number;
	end: number;
	/** The line before the times. */
	name: string;
	/** The line of times in WebVTT, with the settings. */
	times: string;
	lines: string[];
}

/**
 * The cues, each of which begins at a line of times, and the blocks of styles and regions. A cue of WebVTT ends at an empty line, or at
 * any arrow. One of SubRip ends where the next begins: the lines between them may hold blanks or be missing, and a text may have some.
 */
function readLines(lines: readonly string[], isSubRip: boolean): { cues: Cue[]; blocks: string[][] } {
	const cues: Cue[] = [];
	const blocks: string[][] = [];
	let cue: Cue | undefined;
	/** Lines outside a cue; undefined behind a broken one. */
	let block: string[] | undefined = [];
	let length = 0;
	let before = '';
	const endBlock = () => {
		if (!isSubRip && /^(?:STYLE|REGION)\b/.test(block?.[0] ?? '') && blocks.length < maxCues) blocks.push(block ?? []);
		block = [];
		length = 0;
	};
	for (const whole of lines) {
		const line = whole.slice(0, maxCue);
		const next = line.includes('-->') ? readTimes(line, isSubRip) : undefined;
		if (next) {
			if (cues.length === maxCues) break;
			const name: string = cue ? takeNumber(cue, before) : (block?.at(-1) ?? '').trim();
			cue = { ...next, name, lines: [] };
			cues.push(cue);
			block = [];
			length = 0;
		} else if (!isSubRip && line.includes('-->')) {
			cue = undefined;
			block = undefined;
		} else if (line === '' && !isSubRip) {
			cue = undefined;
			endBlock();
		} else if (length < maxCue && (line.trim() !== '' || !isSubRip)) {
			(cue ? cue.lines : block)?.push(line.slice(0, maxCue - length).replaceAll('-->', '--&gt;'));
			length += line.length + 1;
		}
		before = line;
	}
	if (!cue) endBlock();
	return { cues, blocks };
}

/** The number of the next cue, if it is the last line of this one. It stands right before the times, or goes on from this one's. */
function takeNumber(cue: Cue, before: string): string {
	const last = cue.lines.findLast((line) => line.trim() !== '')?.trim() ?? '';
	if (!/^\d{1,6}$/.test(last) || (before.trim() !== last && Number(last) !== Number(cue.name) + 1)) return '';
	cue.lines.splice(cue.lines.findLastIndex((line) => line.trim() !== ''));
	return last;
}

function textOf({ name, times, lines }: Cue): string {
	const text = withoutManyTags(lines.join('\n').trimEnd().slice(0, maxCue));
	return [...(name === '' ? [] : [name]), times, ...(text === '' ? [] : [text])].join('\n');
}

const arrow =
	/^[ \t]*([\d:]{4,12})(?:[ \t]*[,.][ \t]*(\d{1,9}))?[ \t]*-->[ \t]*([\d:]{4,12})(?:[ \t]*[,.][ \t]*(\d{1,9}))?/;

/** A line of times, which SubRip has with commas, and programs with fewer digits or more blanks than browsers read. */
function readTimes(line: string, isSubRip: boolean): Pick<Cue, 'start' | 'end' | 'times'> | undefined {
	const [found = '', from = '', fromFraction, to = '', toFraction] = arrow.exec(line) ?? [];
	const start = readTime(from, fromFraction);
	const end = readTime(to, toFraction);
	if (start === undefined || end === undefined) return undefined;
	const words = isSubRip ? [] : withoutFarLines(line.slice(found.length));
	return { start: start.ms, end: end.ms, times: [`${start.text} --> ${end.text}`, ...words].join(' ') };
}

/** The settings of a cue. No space need be between them and the time. */
function withoutFarLines(settings: string): string[] {
	const words = settings.slice(0, maxSettings).trim().split(/\s+/);
	return words.filter((word) => word !== '' && (!word.startsWith('line:') || place.test(word)));
}

function withoutManyTags(text: string): string {
	return text.split('<', maxTags + 2).length <= maxTags + 1
		? text
		: text.replaceAll(/<[^<>]*>/g, '').replaceAll('<', '');
}

function readTime(clock: string, fraction = '0'): { ms: number; text: string } | undefined {
	const [, hours, minutes = '', seconds = ''] = /^(?:(\d{1,6}):)?(\d{1,2}):(\d{2})$/.exec(clock) ?? [];
	if (seconds === '') return undefined;
	const ms = fraction.slice(0, 3).padEnd(3, '0');
	const text = [...(hours === undefined ? [] : [hours.padStart(2, '0')]), minutes.padStart(2, '0'), seconds].join(':');
	return {
		ms: ((Number(hours ?? 0) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(ms),
		text: `${text}.${ms}`,
	};
}
