import { readerOf } from '../containers/reading/readAt.js';
import type { PhoneTags } from '../texts/phoneTags.js';
import { writeOnce } from './patches.js';

/** Texts that phones write into lists by these names. Of numbers and other values the kind is not printed. */
const listed: ReadonlySet<string> = new Set([
	...['make', 'model', 'software', 'creationdate', 'location.ISO6709', 'location.accuracy.horizontal'].map(
		(name) => `com.apple.quicktime.${name}`,
	),
	...['com.apple.quicktime.camera.lens_model', 'com.apple.quicktime.camera.focal_length.35mm_equivalent'],
	...['com.android.version', 'com.android.manufacturer', 'com.android.model'],
]);
/** Those that have a box each. */
const boxNames: ReadonlyMap<string, string> = new Map([
	['location', '\xa9xyz'],
	['make', '\xa9mak'],
	['model', '\xa9mod'],
]);

/** More is said of no film. */
const maxBytes = 4096;

/** The boxes in which an MP4 says so much of its film. */
export interface TagBoxes {
	/** Is a part of the index. */
	list: Buffer;
	/** Are parts of its user data. */
	texts: Buffer;
}

/** Tags as boxes of an MP4; undefined where there are none, or too many. */
export function boxesOf(tags: PhoneTags): TagBoxes | undefined {
	const inList = [...tags].filter(([name]) => listed.has(name));
	const texts = [...tags].flatMap(([name, value]) => {
		const own = boxNames.get(name);
		const text = Buffer.from(value);
		// Behind its length and language, which is not known.
		return own === undefined ? [] : [box(own, number(text.length * 2 ** 16 + 0x55c4), text)];
	});
	const keys = inList.map(([name]) => box('mdta', Buffer.from(name)));
	const items = inList.map(([, value], n) => box(number(n + 1), box('data', number(1), number(0), Buffer.from(value))));
	const boxes = {
		list:
			inList.length === 0
				? Buffer.alloc(0)
				: box(
						'meta',
						...[number(0), box('hdlr', number(0), number(0), Buffer.from('mdta'), Buffer.alloc(13))],
						...[box('keys', number(0), number(keys.length), ...keys), box('ilst', ...items)],
					),
		texts: Buffer.concat(texts),
	};
	const length = boxes.list.length + boxes.texts.length;
	return length === 0 || length > maxBytes ? undefined : boxes;
}

const nameOfSound = 'Audio';
const filler = '_';
/** The heads of boxes that are added, and that of the room that is left. */
const headBytes = 32;

/**
 * A name for the only track of sound that is so long that an index in which it is short has room for the boxes: HandBrake writes no
 * tags of phones, and what lies behind the index can't be moved.
 */
export const nameWithRoom = ({ list, texts }: TagBoxes) =>
	nameOfSound + filler.repeat(list.length + texts.length + headBytes);

const nothing: TagBoxes = { list: Buffer.alloc(0), texts: Buffer.alloc(0) };

/** The index of ten hours takes less. */
const maxIndex = 64 * 2 ** 20;
const maxBoxes = 100;

/**
 * Writes the boxes into the index of an open MP4 that HandBrake has made with that name, which becomes short; nothing else of the file is
 * changed. Where the index is not as it should be it stays as it is.
 */
export async function writeTags(descriptor: number, boxes: TagBoxes): Promise<void> {
	const readAt = readerOf(descriptor);
	for (let at = 0, count = 0; count < maxBoxes; count++) {
		const head = await readAt(at, 8);
		const length = head.length === 8 ? head.readUInt32BE() : 0;
		if (length < 8) return;
		if (head.toString('latin1', 4) === 'moov') {
			if (length > maxIndex) return;
			const index = await readAt(at, length);
			const name = nameWithRoom(boxes);
			const tagged = withTags(index, name, boxes) ?? withTags(index, name, nothing) ?? index;
			for (let written = 0; written < tagged.length; )
				written += (await writeOnce(descriptor, tagged, written, tagged.length - written, at + written)).bytesWritten;
			return;
		}
		at += length;
	}
}

/** An index of the same length in which the track with this name has the short one, with the boxes; undefined where they have no room. */
export function withTags(index: Buffer, long: string, { list, texts }: TagBoxes): Buffer | undefined {
	const looks = { left: maxParts };
	const parts = partsOf(index.subarray(8), looks);
	if (parts === undefined || !parts.some(({ name }) => name === 'trak')) return undefined;
	const udta = parts.find(({ name }) => name === 'udta');
	const tagged = [
		...parts
			.filter((part) => part !== udta)
			.map(({ name, bytes }) => (name === 'trak' ? shortNamed(bytes, long, looks) : bytes)),
		...(udta === undefined && texts.length === 0
			? []
			: [box('udta', udta?.bytes.subarray(8) ?? Buffer.alloc(0), texts)]),
		list,
	];
	const left = tagged.reduce((room, { length }) => room - length, index.length - 8);
	return left < 8 ? undefined : box('moov', ...tagged, box('free', Buffer.alloc(left - 8)));
}

/**
 * A track, or a part of it, whose name is the short one if it has the long one. Tables, which have some ten megabytes for hours, are not
 * looked through, and those of other tracks not copied.
 */
function shortNamed(bytes: Buffer, long: string, looks: Looks): Buffer {
	const parts = partsOf(bytes.subarray(8), looks);
	if (parts === undefined) return bytes;
	const kind = bytes.toString('latin1', 4, 8);
	const named = parts.map(({ name, bytes: part }) => {
		// In any other it would be copied once for each that it is in.
		if (name === 'mdia' && kind === 'trak') return shortNamed(part, long, looks);
		// Behind a version, the kind of the track and room for other kinds.
		if (name === 'hdlr' && has(part, long)) return box('hdlr', part.subarray(8, 32), Buffer.from(`${nameOfSound}\0`));
		// Has the name again.
		return name === 'udta' && has(part, long) ? Buffer.alloc(0) : part;
	});
	return named.every((part, n) => part === parts[n]?.bytes) ? bytes : box(kind, ...named);
}

/** How much of a name is searched for at first: all of a long one, in bytes like it, takes a time by both lengths. */
const searched = 32;

function has(bytes: Buffer, name: string): boolean {
	const [whole, start] = [Buffer.from(name), Buffer.from(name.slice(0, searched))];
	for (let at = bytes.indexOf(start); at !== -1; at = bytes.indexOf(start, at + start.length)) {
		const end = at + whole.length;
		if (end <= bytes.length && bytes.compare(whole, 0, whole.length, at, end) === 0) return true;
	}
	return false;
}

/** An index of HandBrake's has some dozen. */
const maxParts = 10_000;

/** How many more boxes are looked at in an index. */
interface Looks {
	left: number;
}

/** The boxes that follow each other; undefined where there is anything else, or more of them than may be looked at. */
function partsOf(bytes: Buffer, looks: Looks): { name: string; bytes: Buffer }[] | undefined {
	const parts: { name: string; bytes: Buffer }[] = [];
	for (let at = 0; at < bytes.length; ) {
		const length = at + 8 <= bytes.length ? bytes.readUInt32BE(at) : 0;
		if (length < 8 || at + length > bytes.length || looks.left === 0) return undefined;
		looks.left--;
		parts.push({ name: bytes.toString('latin1', at + 4, at + 8), bytes: bytes.subarray(at, at + length) });
		at += length;
	}
	return parts;
}

function number(value: number): Buffer {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value);
	return bytes;
}

/** A box by its name, or by the number of an item. */
function box(name: string | Buffer, ...content: readonly Buffer[]): Buffer {
	const length = content.reduce((sum, part) => sum + part.length, 8);
	const head = typeof name === 'string' ? Buffer.from(name, 'latin1') : name;
	return Buffer.concat([number(length), head, ...content]);
}
