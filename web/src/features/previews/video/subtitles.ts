import { type Entry, splitName } from '@stowage/rules';

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

/** Converts either format to WebVTT, which browsers play, without what they could not lay out in time. SubRip has commas in its times and no header. */
export function toVtt(text: string): string {
	const lines = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n');
	if (lines.startsWith('WEBVTT')) return bounded(lines);
	const times = /^(\d{1,2}:\d{2}:\d{2})[,.](\d{3})[ \t]*-->[ \t]*(\d{1,2}:\d{2}:\d{2})[,.](\d{3}).*$/gm;
	const padded = (time: string) => time.padStart(8, '0');
	const cues = lines.replaceAll(
		times,
		(_, from, fromMs, to, toMs) => `${padded(from)}.${fromMs} --> ${padded(to)}.${toMs}`,
	);
	// Of its marks WebVTT knows bold, italic and underlined only.
	return bounded(`WEBVTT\n\n${cues.replaceAll(/<\/?font[^<>]*>|\{\\an?\d\}/gi, '')}`);
}

function bounded(vtt: string): string {
	const blocks = vtt.split('\n\n', maxCues + 1);
	return blocks.map((block) => block.slice(0, maxCue)).join('\n\n');
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
