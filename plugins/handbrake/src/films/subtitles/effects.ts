import type { SubtitleTrack } from '../probing/Film.js';
import { lengthBytes } from './shownText.js';

/** Overrides that encoders keep in each format, or that say nothing: bold, italic, underlined, a colour, the place where all lines are. */
const kept = /^(?:[biu]\d*|1?c(?:&.*)?|1a(?:&.*)?|r|an?2|fe\d+)$/;

/** Whether the markup of a text has any other one: what moves it, has it fade or turn, or gives it a font. */
export function hasEffect(kind: SubtitleTrack['kind'], text: string): boolean {
	for (let begin = text.indexOf('{'); begin >= 0; ) {
		const end = text.indexOf('}', begin);
		if (end < 0) break;
		const [, ...overrides] = text.slice(begin, end).split('\\');
		if (overrides.some((each) => !kept.test(each.trim()))) return true;
		begin = text.indexOf('{', end);
	}
	return kind === 'text' && hasFont(text);
}

/** Whether a text has a tag of SubRip that MP4 has no way to say here. */
function hasFont(text: string): boolean {
	for (const [, name = '', attributes = ''] of text.matchAll(/<(font|s)\b([^<>]*)>/gi))
		if (name.length === 1 || /\b(?:face|size)\b/i.test(attributes)) return true;
	return false;
}

/** Boxes behind the text of a sample of MP4 that an encoder writes anew: its styles, and how it is encoded. */
const keptBoxes: ReadonlySet<string> = new Set(['styl', 'encd']);

const bytesOfStyle = 12;

/** What the boxes of a sample of MP4 say. */
export interface SampleBoxes {
	/** Whether there are others than its styles, such as its place on the screen. */
	hasOthers: boolean;
	/** The fonts of its styles, with their sizes. */
	fonts: ReadonlySet<number>;
}

export function boxesOf(sample: Buffer): SampleBoxes {
	const fonts = new Set<number>();
	let hasOthers = false;
	let at = sample.length < lengthBytes ? sample.length : lengthBytes + sample.readUInt16BE();
	while (at + 8 <= sample.length) {
		const length = sample.readUInt32BE(at);
		const name = sample.toString('latin1', at + 4, at + 8);
		if (length < 8) break;
		hasOthers ||= !keptBoxes.has(name);
		const end = Math.min(sample.length, at + length);
		if (name === 'styl')
			for (let style = at + 10; style + bytesOfStyle <= end; style += bytesOfStyle) fonts.add(fontOf(sample, style));
		at += length;
	}
	return { hasOthers, fonts };
}

/** What the description of the samples of a track of MP4 says. */
export interface SampleDescription {
	/** Whether some or all lines are shown also by who has subtitles turned off. */
	isForced: boolean;
	/** Whether they are elsewhere than below, in the middle. */
	isPlaced: boolean;
	/** The font of text without a style. */
	font: number | undefined;
}

const forcedFlags = 0xc0000000;
const styleAt = 18;
/** In the middle and below; and zeros of programs that say nothing. */
const usualPlaces: ReadonlySet<number> = new Set([0x01ff, 0]);

export function descriptionOf(bytes: Buffer): SampleDescription {
	if (bytes.length < styleAt + bytesOfStyle) return { isForced: false, isPlaced: false, font: undefined };
	return {
		isForced: (bytes.readUInt32BE() & forcedFlags) !== 0,
		isPlaced: !usualPlaces.has(bytes.readUInt16BE(4)),
		font: fontOf(bytes, styleAt),
	};
}

/** The number of its font, and its size. */
const fontOf = (bytes: Buffer, style: number) => 256 * bytes.readUInt16BE(style + 4) + bytes.readUInt8(style + 7);
