import { type Entry, splitName } from '@stowage/rules';
import { plainStyles } from './cueStyles.js';

export interface SubtitleFile {
	entry: Entry;
	/** The part between the film's name and the extension, such as `en`. */
	label: string;
}

/** More is no subtitles. */
export const maxSubtitleBytes = 2 * 1024 * 1024;

/** More files of them are no choice. */
const maxFiles = 30;
/** A long film has some thousands, of a few lines each. */
const maxCues = 10_000;
const maxCue = 1_000;
/** A film shows a few at a time, with the texts of signs. */
const maxAtOnce = 12;
/** Styles and regions, which come first. */
const maxOthers = 20;
/** Of one cue: each word of karaoke has three. Within each other, as `<ruby>`, they take a browser the square of their number. */
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

/**
 * Converts either format to WebVTT, which browsers play, without what they could not lay out in time. SubRip has
 * commas in its times and no header.
 */
export function toVtt(text: string): string {
	const lines = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
	if (lines.startsWith('WEBVTT')) return bounded(lines.slice(lines.indexOf('\n') + 1).trimStart());
	const times = /^(\d{1,2}:\d{2}:\d{2})[,.](\d{3})[ \t]*-->[ \t]*(\d{1,2}:\d{2}:\d{2})[,.](\d{3}).*$/gm;
	const padded = (time: string) => time.padStart(8, '0');
	const cues = lines.replaceAll(
		times,
		(_, from, fromMs, to, toMs) => `${padded(from)}.${fromMs} --> ${padded(to)}.${toMs}`,
	);
	// Of its marks WebVTT knows bold, italic and underlined only.
	return bounded(cues.replaceAll(/<\/?font[^<>]*>|\{\\an?\d\}/gi, ''));
}

/** Without the cues that would be shown beside too many others: the browser lays all of them out anew for each one. */
function bounded(text: string): string {
	const cues: Cue[] = [];
	const others: string[] = [];
	for (const block of text.split('\n\n', maxCues)) {
		const lines = block.slice(0, maxCue).split('\n');
		const at = lines.findIndex((line) => line.includes('-->'));
		if (at === -1) {
			if (/^STYLE\b/.test(block)) others.push(plainStyles(lines.join('\n')));
			// Browsers read styles behind its name, too.
			else if (/^REGION\b/.test(block)) others.push(['REGION', ...lines.slice(1).filter(isSetting)].join('\n'));
		} else {
			const cue = readCue(lines, at);
			if (cue) cues.push(cue);
		}
	}
	let ends: number[] = [];
	const shown = cues
		.sort((one, other) => one.start - other.start)
		.filter(({ start, end }) => {
			ends = ends.filter((each) => each > start);
			return ends.length < maxAtOnce && ends.push(end) > 0;
		});
	return ['WEBVTT', ...others.filter((each) => each !== '').slice(0, maxOthers), ...shown.map(({ text }) => text)].join(
		'\n\n',
	);
}

const isSetting = (line: string) => /^[a-z]+:[^\s:]/i.test(line);

interface Cue {
	/** Milliseconds. */
	start: number;
	end: number;
	text: string;
}

/** A cue whose times are in the line `at`, up to where another one begins; undefined for one that no browser shows. */
function readCue(lines: readonly string[], at: number): Cue | undefined {
	const [from = '', to = ''] = (lines[at] ?? '').split('-->');
	const start = readTime(from);
	const end = readTime(to);
	if (start === undefined || end === undefined) return undefined;
	const next = lines.findIndex((line, index) => index > at && line.includes('-->'));
	const times = `${from}--> ${withoutFarLines(to)}`;
	const shown = lines.slice(at + 1, next === -1 ? undefined : next).join('\n');
	// One line before the times is its name; more would be styles.
	return { start, end, text: [...lines.slice(Math.max(0, at - 1), at), times, withoutManyTags(shown)].join('\n') };
}

/** The end of a cue with its settings. */
function withoutFarLines(settings: string): string {
	// No space need be between them.
	const [time = ''] = /^\s*[\d:]{1,20}\.\d{3}/.exec(settings) ?? [];
	const words = settings.slice(time.length).trim().split(/\s+/);
	return [time.trim(), ...words.filter((word) => !word.startsWith('line:') || place.test(word))].join(' ').trimEnd();
}

function withoutManyTags(text: string): string {
	return text.split('<', maxTags + 2).length <= maxTags + 1
		? text
		: text.replaceAll(/<[^<>]*>/g, '').replaceAll('<', '');
}

function readTime(text: string): number | undefined {
	const [, hours = '0', minutes = '', seconds = '', ms = ''] =
		/^\s*(?:(\d{1,6}):)?(\d{2}):(\d{2})\.(\d{3})/.exec(text) ?? [];
	return ms === '' ? undefined : ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(ms);
}

/** UTF-8 if it is valid, else the encoding of most old subtitles. */
export function decodeSubtitles(bytes: Uint8Array): string {
	if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		return new TextDecoder('windows-1252').decode(bytes);
	}
}
