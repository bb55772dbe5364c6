/** Decoded they take four bytes each, as memory of the page. */
export const maxPixels = 100_000_000;

/** What no browser draws by itself. */
export const undrawnType = 'image/heic';

/** The type of a picture and its size in pixels, by its first bytes; 0 if they don't contain it. */
export function describeImage(head: Uint8Array): { type: string | undefined; width: number; height: number } {
	const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
	const latin = (start: number, end: number) => String.fromCharCode(...head.subarray(start, end));
	const sized = (type: string, from: number, read: () => [width: number, height: number]) => {
		const [width, height] = head.length >= from ? read() : [0, 0];
		return { type, width, height };
	};
	if (latin(1, 4) === 'PNG') return sized('image/png', 24, () => [view.getUint32(16), view.getUint32(20)]);
	if (latin(0, 4) === 'GIF8') return { type: 'image/gif', ...gifSize(view) };
	if (latin(0, 2) === 'BM') {
		return sized('image/bmp', 26, () => [Math.abs(view.getInt32(18, true)), Math.abs(view.getInt32(22, true))]);
	}
	if (head[0] === 0xff && head[1] === 0xd8) return { type: 'image/jpeg', ...jpegSize(view) };
	if (latin(8, 12) === 'WEBP') return { type: 'image/webp', ...webpSize(view, latin(12, 16)) };
	if (latin(4, 8) === 'ftyp') {
		return /^avi[fs]$/.test(latin(8, 12))
			? { type: 'image/avif', ...avifSize(head, view) }
			: { type: undrawnType, width: 0, height: 0 };
	}
	if (latin(0, 4) === 'II*\0' || latin(0, 4) === 'MM\0*') return { type: undrawnType, width: 0, height: 0 };
	return { type: undefined, width: 0, height: 0 };
}

/** Metadata may have put it too far back. */
function jpegSize(view: DataView): { width: number; height: number } {
	for (const { marker, at } of jpegSegments(view)) {
		if (isFrame(marker)) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
	}
	return { width: 0, height: 0 };
}

const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** The segments up to the first scan. Whatever a decoder would skip in a way of its own ends them. */
function* jpegSegments(view: DataView): Generator<{ marker: number; at: number }> {
	let at = 2;
	while (at + 9 <= view.byteLength && view.getUint8(at) === 0xff) {
		const marker = view.getUint8(at + 1);
		if (marker === 0xff) {
			// A marker may be filled up.
			at++;
		} else if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
			// It has no length.
			at += 2;
		} else {
			yield { marker, at };
			const length = view.getUint16(at + 2);
			if (marker < 0xc0 || (marker >= 0xd8 && marker <= 0xda) || length < 2) break;
			at += 2 + length;
		}
	}
}

function webpSize(view: DataView, chunk: string): { width: number; height: number } {
	if (view.byteLength < 30) return { width: 0, height: 0 };
	if (chunk === 'VP8X') {
		const three = (at: number) => view.getUint16(at, true) + view.getUint8(at + 2) * 65536 + 1;
		return { width: three(24), height: three(27) };
	}
	// The other two forms can't be larger than 16383 by 16383.
	if (chunk === 'VP8L') {
		const bits = view.getUint32(21, true);
		return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
	}
	return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
}

/** A browser makes the picture as large as its first frame, if that is larger than it says. */
function gifSize(view: DataView): { width: number; height: number } {
	if (view.byteLength < 13) return { width: 0, height: 0 };
	const width = view.getUint16(6, true);
	const height = view.getUint16(8, true);
	const colours = view.getUint8(10);
	let at = 13 + (colours & 0x80 ? 3 * 2 ** ((colours & 7) + 1) : 0);
	// Extensions, in blocks, may come before it.
	while (at + 2 < view.byteLength && view.getUint8(at) === 0x21) {
		at += 2;
		while (at < view.byteLength && view.getUint8(at) !== 0) at += 1 + view.getUint8(at);
		at++;
	}
	if (at + 9 > view.byteLength || view.getUint8(at) !== 0x2c) return { width: 0, height: 0 };
	const edge = (from: number) => view.getUint16(at + from, true) + view.getUint16(at + from + 4, true);
	return { width: Math.max(width, edge(1)), height: Math.max(height, edge(3)) };
}

/**
 * The largest of its parts, since a grid of smaller ones has a size, too, and of its tracks. It is unknown unless all
 * of the boxes that may have one are there.
 */
function avifSize(head: Uint8Array, view: DataView): { width: number; height: number } {
	const found = { width: 0, height: 0 };
	const isSequence = head[11] === 0x73;
	const wanted = isSequence ? ['meta', 'moov'] : ['meta'];
	const typeAt = (at: number) => String.fromCharCode(...head.subarray(at + 4, at + 8));
	for (let at = 0; wanted.length > 0; ) {
		if (at + 8 > head.length) return { width: 0, height: 0 };
		const length = view.getUint32(at);
		const end = at + length;
		const place = wanted.indexOf(typeAt(at));
		if (length < 8 || (place !== -1 && end > head.length)) return { width: 0, height: 0 };
		if (place !== -1) {
			wanted.splice(place, 1);
			addSizes(view, at, end, found);
		}
		at = end;
	}
	return found;
}

const [ispe, tkhd] = [0x69737065, 0x746b6864];

/** The sizes of pictures and tracks that are named anywhere between two places. */
function addSizes(view: DataView, start: number, end: number, found: { width: number; height: number }): void {
	const add = (width: number, height: number) => {
		found.width = Math.max(found.width, width);
		found.height = Math.max(found.height, height);
	};
	for (let at = start; at + 16 <= end; at++) {
		const type = view.getUint32(at);
		if (type === ispe) add(view.getUint32(at + 8), view.getUint32(at + 12));
		else if (type === tkhd) {
			// Behind the times, whose lengths depend on the version; with a fraction of 16 bits.
			const from = at + (view.getUint8(at + 4) === 1 ? 92 : 80);
			if (from + 8 <= end) add(view.getUint16(from), view.getUint16(from + 4));
		}
	}
}

/**
 * Frames of an animation: for each of them a browser goes through all before it where the page runs. Of 40,000, which 2 MB of a WebP have,
 * it takes 18 s, of 100,000 that 7 kB of an AVIF announce minutes; of 50,000 in 1 MB of a GIF, each of which gives way to what was there
 * before, 6 s.
 */
const maxFrames = 2000;

/**
 * Of how many passes over a JPEG's pixels: one for each of its scans, of which 30 bytes may be one. 100 megapixels take 18 ms for each,
 * while the page draws nothing.
 */
const maxPassedPixels = 2_000_000_000;

/**
 * Whether these are the first bytes of an animation (WebP, GIF or PNG) that may have many frames, or of a JPEG that may have many scans. How
 * many there are is seen in the whole file only.
 */
export function mayTakeLong(head: Uint8Array): boolean {
	const { type } = describeImage(head);
	return (
		isAnimatedWebp(head) ||
		isAnimatedPng(head) ||
		type === 'image/gif' ||
		(type === 'image/jpeg' && mayHaveManyScans(head))
	);
}

/** One that is not progressive, and whose first scan has all of its colours, has no other one. */
function mayHaveManyScans(head: Uint8Array): boolean {
	let colours = 0;
	for (const { marker, at } of jpegSegments(new DataView(head.buffer, head.byteOffset, head.byteLength))) {
		if (isFrame(marker)) {
			if (marker !== 0xc0 && marker !== 0xc1) return true;
			colours = head[at + 9] ?? 0;
		} else if (marker === 0xda) return (head[at + 4] ?? 0) < colours;
	}
	return true;
}

function isAnimatedWebp(head: Uint8Array): boolean {
	const name = String.fromCharCode(...head.subarray(8, 16));
	return name === 'WEBPVP8X' && ((head[20] ?? 0) & 2) !== 0;
}

/** By what comes before the picture; it may be one where that does not end in these bytes. */
function isAnimatedPng(head: Uint8Array): boolean {
	if (describeImage(head).type !== 'image/png') return false;
	const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
	for (let at = 8; at + 8 <= head.length; at += 12 + view.getUint32(at)) {
		const name = String.fromCharCode(...head.subarray(at + 4, at + 8));
		if (name === 'acTL' || name === 'IDAT') return name === 'acTL';
	}
	return true;
}

/** Or scans. */
function hasManyFrames(bytes: Uint8Array): boolean {
	if (isAnimatedWebp(bytes)) return countNames(bytes, 'ANMF') > maxFrames;
	const { type, width, height } = describeImage(bytes);
	if (type === 'image/png') return countNames(bytes, 'fcTL', isTakenBack) > maxFrames;
	// The beginning of what is said of a frame, with its length.
	if (type === 'image/gif') return countNames(bytes, '!\xF9\x04', isRestored) > maxFrames;
	if (type === 'image/jpeg') return countNames(bytes, '\xFF\xDA') * width * height > maxPassedPixels;
	if (type !== 'image/avif') return false;
	return avifFrames(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)) > maxFrames;
}

/** Whether a frame of a PNG, or one of a GIF, gives way to what was there before it. All others depend on few before them. */
const isTakenBack = (bytes: Uint8Array, at: number) => bytes[at + 28] === 2;
const isRestored = (bytes: Uint8Array, at: number) => (((bytes[at + 3] ?? 0) >> 2) & 7) >= 3;

/** Each name of a frame counts, wherever it may be: such bytes are hardly there by chance. */
function countNames(bytes: Uint8Array, name: string, isMeant = (_: Uint8Array, __: number) => true): number {
	const codes = Array.from(name, (letter) => letter.charCodeAt(0));
	let count = 0;
	for (let at = bytes.indexOf(codes[0] ?? 0); at !== -1; at = bytes.indexOf(codes[0] ?? 0, at + 1)) {
		if (codes.every((code, index) => bytes[at + index] === code) && isMeant(bytes, at)) count++;
	}
	return count;
}

/** The most that the tracks of a sequence may have, by their tables: each chunk as many as the largest one. */
function avifFrames(view: DataView): number {
	const tables: Tables = { sizes: 0, chunks: 0, largest: 0 };
	for (const { name, start, end } of boxesIn(view, 0, view.byteLength)) {
		if (name === 'moov') addTables(view, start, end, tables);
	}
	return Math.max(tables.sizes, tables.chunks * tables.largest);
}

interface Tables {
	sizes: number;
	chunks: number;
	/** The number of frames of the largest chunk. */
	largest: number;
}

/** The boxes within each other, the last of which has the tables. */
const containers: readonly string[] = ['trak', 'mdia', 'minf', 'stbl'];

function addTables(view: DataView, start: number, end: number, tables: Tables, level = 0): void {
	for (const box of boxesIn(view, start, end)) {
		if (box.name === containers[level]) addTables(view, box.start, box.end, tables, level + 1);
		// As many as there may be.
		if (box.name === '') tables.sizes = Number.POSITIVE_INFINITY;
		const number = (at: number) => (box.start + at + 4 <= box.end ? view.getUint32(box.start + at) : 0);
		if (box.name === 'stsz' || box.name === 'stz2') tables.sizes += number(8);
		if (box.name === 'stco' || box.name === 'co64') tables.chunks += number(4);
		if (box.name !== 'stsc') continue;
		for (let at = 8; box.start + at + 12 <= box.end; at += 12)
			tables.largest = Math.max(tables.largest, number(at + 4));
	}
}

/** The boxes between two places, up to one whose length has another form, which has no name here. */
function* boxesIn(view: DataView, start: number, end: number): Generator<{ name: string; start: number; end: number }> {
	for (let at = start; at + 8 <= end; at += view.getUint32(at)) {
		const length = view.getUint32(at);
		const name = length < 8 ? '' : String.fromCharCode(...[4, 5, 6, 7].map((place) => view.getUint8(at + place)));
		yield { name, start: at + 8, end: Math.min(at + length, end) };
		if (length < 8) return;
	}
}

/** Whether its size lies further back than these first bytes. */
export function isSizeFurther(head: Uint8Array): boolean {
	const { type, width, height } = describeImage(head);
	return type !== undefined && type !== undrawnType && width * height === 0;
}

/**
 * The number of pixels of a picture by as many of its bytes as name it; infinite for one whose size is not known, and of a whole picture
 * that has too many frames or scans.
 */
export function pixelsOf(bytes: Uint8Array): number {
	const { type, width, height } = describeImage(bytes);
	const isKnown = type !== undefined && type !== undrawnType && width > 0 && height > 0 && !hasManyFrames(bytes);
	return isKnown ? width * height : Number.POSITIVE_INFINITY;
}

/** Of a picture in an address: of its beginning as much is read as holds its size, behind a profile of colours too, of an animation all. */
export function pixelsOfAddress(address: string): number {
	const [beginning = '', scheme = ''] = /^(data:[^,]{0,200};base64,)[\w+/\s]{0,400000}/i.exec(address) ?? [];
	if (beginning === '') return Number.POSITIVE_INFINITY;
	const head = decode(beginning.slice(scheme.length));
	if (!mayTakeLong(head)) return pixelsOf(head);
	const [whole = ''] = /^[\w+/\s]*/.exec(address.slice(scheme.length)) ?? [];
	return pixelsOf(decode(whole));
}

function decode(base64: string): Uint8Array {
	const plain = base64.replaceAll(/\s/g, '');
	const letters = atob(plain.slice(0, plain.length - (plain.length % 4)));
	return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}
