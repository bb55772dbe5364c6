import { diffArrays } from 'diff';
import { characterCosts } from '../../common/markup/characterCosts.js';
import type { Encoding } from '../../text/encodings.js';
import { type Encoded, encode, TableEncoder } from './encode.js';

type Bytes = Uint8Array<ArrayBuffer>;

/** A text as it was read, with all that is needed to write the same bytes again wherever it is not changed. */
export interface ReadText {
	encoding: Encoding;
	/** The text without a byte order mark; every line ends in `\n`, whatever its own end is. */
	text: string;
	/** The byte order mark, or nothing. */
	mark: Bytes;
	lines: readonly string[];
	/** The end of each line: '\n', '\r', '\r\n', or '' of the last one. */
	ends: readonly string[];
	/** The end of a line that is added. */
	usualEnd: string;
	/**
	 * The bytes, without its end, of each line that has others than `encode` makes of it: some encodings have several
	 * codes for a character.
	 */
	ownBytes: OwnBytes;
}

interface OwnBytes {
	/** Of how many lines they are. */
	readonly size: number;
	/** Adds those of a line; returns false if it has none. */
	addTo(encoder: TableEncoder, line: number): boolean;
}

const noOwnBytes: OwnBytes = { size: 0, addTo: () => false };

/** The text of a file; undefined if bytes have no meaning in this encoding, so that they would be lost when it is written. */
export function readText(bytes: Bytes, encoding: Encoding): ReadText | undefined {
	const mark = markOf(bytes, encoding);
	const body = bytes.subarray(mark.length);
	const decoded = decodeWhole(body, encoding);
	if (decoded === undefined) return undefined;
	const [lines, ends] = splitText(decoded);
	const ownBytes = ownBytesOf(body, encoding, lines, decoded);
	return ownBytes && { encoding, text: lines.join('\n'), mark, lines, ends, usualEnd: mostFrequent(ends), ownBytes };
}

/** A part of a text that was replaced, as offsets into it (`A`) and into what it has become (`B`). */
export interface Replacement {
	fromA: number;
	toA: number;
	fromB: number;
	toB: number;
}

/**
 * The bytes of a changed text: lines that were not changed keep their bytes and ends. Without `replacements`, in
 * ascending order, which of several equal lines were removed is guessed.
 */
export function writeText(read: ReadText, text: string, replacements?: readonly Replacement[]): Encoded {
	const { encoding, mark, ownBytes } = read;
	const lines = text.split('\n');
	const origins = originsOf(read, lines, text, replacements);
	// Only the encodings that browsers don't write have lines with bytes of their own.
	const encoder = ownBytes.size === 0 ? undefined : new TableEncoder(encoding);
	const parts: string[] = [];
	let lastEnd = '';
	for (const [index, line] of lines.entries()) {
		const origin = origins[index] ?? -1;
		const ownEnd = index === lines.length - 1 ? '' : (read.ends[origin] ?? '') || read.usualEnd;
		// Together they would be one end.
		const end: string = ownEnd === '\n' && line === '' && lastEnd === '\r' ? '\r' : ownEnd;
		lastEnd = end;
		parts.push(line, end);
		if (!encoder) continue;
		const isOwn = read.lines[origin] === line && ownBytes.addTo(encoder, origin);
		const lacking = isOwn ? undefined : encoder.add(line);
		if (lacking !== undefined) return { kind: 'lacks', character: lacking };
		encoder.add(end);
	}
	const whole = parts.join('');
	const encoded: Encoded = encoder ? { kind: 'bytes', bytes: encoder.bytes } : encode(whole, encoding);
	if (encoded.kind === 'lacks') return encoded;
	const bytes = concatenated([mark, encoded.bytes]);
	// Nothing is saved that would not be read as it was written.
	return decodeWhole(bytes.subarray(mark.length), encoding) === whole
		? { kind: 'bytes', bytes }
		: { kind: 'lacks', character: '' };
}

/** The text in UTF-8, with its ends of lines. */
export function asUtf8(read: ReadText): ReadText {
	return { ...read, encoding: 'UTF-8', mark: new Uint8Array(), ownBytes: noOwnBytes };
}

/** Letters of a line that join or combine: the browser lays all of them out anew for each character that is typed. */
const maxJoining = 5000;

/**
 * Tabs, controls and consecutive blanks of a line: the browser takes the square of their number to find where they
 * wrap, and the editor draws up to a third of a line before it knows how high that is.
 */
const maxBlank = 20_000;
const blank = /\p{Cc}|\p{Zs}(?=\p{Zs})/gu;

/** Script runs of a line, each of which a browser lays out by itself: 320,000 take it half a minute. */
const maxRuns = 40_000;
/** Characters of a line that the font around them may lack: each may be a run of its own, and the text behind it another. */
const maxUncommon = 30_000;

/** Whether a browser shows each of its lines in a moment. */
export function canBeShown({ lines }: ReadText): boolean {
	return lines.every((line) => {
		if (line.length <= maxJoining) return true;
		const { joining, costly, uncommon } = characterCosts().add(line);
		if (joining > maxJoining || costly - joining > maxRuns || uncommon > maxUncommon) return false;
		return (line.match(blank)?.length ?? 0) <= maxBlank;
	});
}

export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
	return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

const marks: Partial<Record<Encoding, readonly number[]>> = {
	'UTF-8': [0xef, 0xbb, 0xbf],
	'UTF-16LE': [0xff, 0xfe],
	'UTF-16BE': [0xfe, 0xff],
};

function markOf(bytes: Bytes, encoding: Encoding): Bytes {
	const mark = marks[encoding] ?? [];
	return mark.every((byte, index) => bytes[index] === byte) ? bytes.slice(0, mark.length) : new Uint8Array();
}

function decodeWhole(bytes: Uint8Array, encoding: Encoding): string | undefined {
	try {
		// Only these have a mark. Asked for others, Node.js 20 leaves out a first `ÿ` of windows-1252.
		const ignoreBOM = encoding in marks;
		return new TextDecoder(encoding, { fatal: true, ignoreBOM }).decode(bytes);
	} catch {
		return undefined;
	}
}

/** The bytes of each line; undefined if a line can't be told from the others, as where an escape sequence holds on to the next one. */
function ownBytesOf(body: Bytes, encoding: Encoding, lines: readonly string[], decoded: string): OwnBytes | undefined {
	const whole = encode(decoded, encoding);
	if (whole.kind === 'bytes' && areEqual(whole.bytes, body)) return noOwnBytes;
	const bounds = boundsOfLines(body);
	if (encoding in marks || bounds.length !== 2 * lines.length) return undefined;
	const own = new OwnLines(body, bounds);
	const encoder = new TableEncoder(encoding);
	for (let index = 0; index < lines.length; index++) {
		const lacks = encoder.add(lines[index] ?? '') !== undefined;
		if (!encoder.takeIfEqual(body, bounds[2 * index] ?? 0, bounds[2 * index + 1] ?? 0) || lacks) own.add(index);
	}
	return own.areDecodedAs(lines, encoding) ? own : undefined;
}

/** A text may have one for each two of its bytes: nothing is made for each. */
class OwnLines implements OwnBytes {
	size = 0;
	readonly #isOwn: Uint8Array;

	constructor(
		readonly body: Bytes,
		/** Where each line begins and ends, one number behind the other. */
		readonly bounds: readonly number[],
	) {
		this.#isOwn = new Uint8Array(bounds.length / 2);
	}

	add(line: number): void {
		this.size++;
		this.#isOwn[line] = 1;
	}

	addTo(encoder: TableEncoder, line: number): boolean {
		if (this.#isOwn[line] !== 1) return false;
		encoder.addBytes(this.body, this.bounds[2 * line], this.bounds[2 * line + 1]);
		return true;
	}

	/** Whether each by itself is its line. They are decoded together: to make a decoder for each would take seconds. */
	areDecodedAs(lines: readonly string[], encoding: Encoding): boolean {
		// Each begins in the first set of ISO-2022-JP, whatever the one before ends in; two escape sequences in a row would be a fault.
		const separator = new TextEncoder().encode(encoding === 'ISO-2022-JP' ? '\n\x1b(B\n' : '\n');
		const encoder = new TableEncoder(encoding);
		const own = lines.filter((_, line) => this.#isOwn[line] === 1);
		let left = own.length;
		for (let line = 0; left > 0; line++) if (this.addTo(encoder, line) && --left > 0) encoder.addBytes(separator);
		return decodeWhole(encoder.bytes, encoding) === own.join(encoding === 'ISO-2022-JP' ? '\n\n' : '\n');
	}
}

/** The lines of a text, and the end of each. */
function splitText(text: string): [lines: string[], ends: string[]] {
	const lines: string[] = [];
	const ends: string[] = [];
	let start = 0;
	for (let at = 0; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code !== lineFeed && code !== carriageReturn) continue;
		const isBoth = code === carriageReturn && text.charCodeAt(at + 1) === lineFeed;
		lines.push(text.slice(start, at));
		ends.push(isBoth ? '\r\n' : code === lineFeed ? '\n' : '\r');
		if (isBoth) at++;
		start = at + 1;
	}
	lines.push(text.slice(start));
	ends.push('');
	return [lines, ends];
}

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/**
 * Where lines begin and end, one number behind the other. In all encodings in which a character has several codes these two bytes are
 * nothing else.
 */
function boundsOfLines(bytes: Bytes): number[] {
	const bounds = [0];
	for (let at = 0; at < bytes.length; at++) {
		if (bytes[at] !== lineFeed && bytes[at] !== carriageReturn) continue;
		bounds.push(at);
		if (bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) at++;
		bounds.push(at + 1);
	}
	bounds.push(bytes.length);
	return bounds;
}

function mostFrequent(ends: readonly string[]): string {
	const counts = new Map<string, number>();
	for (const end of ends) if (end !== '') counts.set(end, (counts.get(end) ?? 0) + 1);
	const [first] = [...counts].sort(([, one], [, other]) => other - one);
	return first?.[0] ?? '\n';
}

/** More changed lines than this are not matched one by one. */
const maxChanges = 1000;

/** For each line the index of the former line that it is, or whose place it takes; -1 for one that was added. */
function originsOf(
	{ text: oldText, lines: old, ends, ownBytes }: ReadText,
	lines: readonly string[],
	text: string,
	replacements: readonly Replacement[] = [{ fromA: 0, toA: oldText.length, fromB: 0, toB: text.length }],
): readonly number[] {
	// All lines end alike, so that none needs its own.
	if (ownBytes.size === 0 && new Set(ends).size <= 2) return [];
	const [startsA, startsB] = [startsOf(old), startsOf(lines)];
	const origins: number[] = [];
	let next = 0;
	let lineB = 0;
	let left = maxChanges;
	const keepUpTo = (line: number) => {
		while (next < line) origins.push(next++);
	};
	for (const replacement of replacements) {
		const by = isAtLineEnd(replacement, oldText, text) ? 1 : 0;
		const firstA = lineAt(startsA, replacement.fromA + by, next);
		const endA = lineAt(startsA, replacement.toA + by, firstA);
		const firstB = lineAt(startsB, replacement.fromB + by, lineB);
		lineB = lineAt(startsB, replacement.toB + by, firstB);
		keepUpTo(firstA);
		// The rest of the last line, with its end, is the old one. At the end of the text it is all of it.
		const isRest = endA === old.length - 1 ? 1 : 0;
		const matched = matchLines(old.slice(firstA, endA + isRest), lines.slice(firstB, lineB + isRest), left);
		left -= matched.changes;
		for (const place of matched.places) origins.push(place < 0 ? -1 : firstA + place);
		next = endA + isRest;
	}
	keepUpTo(old.length);
	return origins;
}

/**
 * Whether what was replaced begins with the end of a line that has text: it is the lines behind that end which came
 * or went, with the end of the last of them, and the one before keeps its own.
 */
function isAtLineEnd({ fromA, toA, fromB, toB }: Replacement, old: string, text: string): boolean {
	const begins = (content: string, from: number, to: number) => from === to || content[from] === '\n';
	const isInLine = fromA > 0 && old[fromA - 1] !== '\n';
	return isInLine && begins(old, fromA, toA) && begins(text, fromB, toB) && old[toA] === '\n';
}

function startsOf(lines: readonly string[]): readonly number[] {
	let at = 0;
	return lines.map((line) => {
		const start = at;
		at += line.length + 1;
		return start;
	});
}

/** The line that an offset lies in, which is at least the one of the index `from`. */
function lineAt(starts: readonly number[], offset: number, from: number): number {
	let line = from;
	while ((starts[line + 1] ?? Number.POSITIVE_INFINITY) <= offset) line++;
	return line;
}

/** For each line the index of the old line that it is, or whose place it takes, or -1; with the number of lines that differ. */
function matchLines(old: readonly string[], lines: readonly string[], most: number) {
	let start = 0;
	while (start < Math.min(old.length, lines.length) && old[start] === lines[start]) start++;
	let tail = 0;
	while (tail < Math.min(old.length, lines.length) - start && old.at(-1 - tail) === lines.at(-1 - tail)) tail++;
	const places = Array.from({ length: start }, (_, index) => index);
	const hunk = { removed: 0, added: 0 };
	let next = start;
	let differing = 0;
	/** Ends a hunk: where several lines replaced others, the last of them take the places of the last. */
	const close = () => {
		for (let index = 0; index < hunk.added; index++) {
			const place = hunk.removed - (hunk.added - index);
			places.push(place < 0 ? -1 : next + place);
		}
		next += hunk.removed;
		differing += hunk.removed + hunk.added;
		Object.assign(hunk, { removed: 0, added: 0 });
	};
	const [before, after] = [old.slice(start, old.length - tail), lines.slice(start, lines.length - tail)];
	const changes = diffArrays(before, after, { maxEditLength: Math.max(0, most) }) ?? [
		{ count: before.length, removed: true, added: false },
		{ count: after.length, removed: false, added: true },
	];
	for (const { count, removed, added } of changes) {
		if (removed) hunk.removed += count;
		else if (added) hunk.added += count;
		else {
			close();
			for (let index = 0; index < count; index++) places.push(next++);
		}
	}
	close();
	for (let index = tail; index > 0; index--) places.push(old.length - index);
	return { places, changes: differing };
}

function concatenated(parts: readonly Bytes[]): Bytes {
	const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
	let at = 0;
	for (const part of parts) {
		bytes.set(part, at);
		at += part.length;
	}
	return bytes;
}
