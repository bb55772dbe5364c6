import { bytesOfBase64 } from '../images/pixels.js';

/** The bytes of all fonts in a chapter, document or drawing, as a browser keeps them: a font for a whole script has some 20 MB. */
export const maxFontBytes = 200_000_000;
/** A directory has 16 bytes for each of some twenty tables. */
const maxDirectoryBytes = 16 * 1024;

/** TrueType and OpenType. */
const plainBeginnings: readonly string[] = ['\0\x01\0\0', 'OTTO', 'true'];

/**
 * Tables whose glyphs are pictures or drawings, for which no bound on those holds: 49 kB took 2.4 GB. Not `EBDT`, which common text fonts
 * have and browsers leave out.
 */
const drawnTables: ReadonlySet<string> = new Set(['CBDT', 'sbix', 'SVG ']);
/** The numbers of `drawnTables` in WOFF2. */
const drawnNumbers: ReadonlySet<number> = new Set([32, 36, 37]);
/** `glyf` and `loca`, for which the number 3 says that they are as they were, and 0 does for all others. */
const transformedNumbers: ReadonlySet<number> = new Set([10, 11]);

/** Admits fonts of a chapter, document or drawing until they would take too much memory together. Each counts once. */
export class FontBudget {
	#left = maxFontBytes;
	readonly #known = new Map<string, boolean>();

	admits(bytes: Uint8Array): boolean {
		return this.#take(fontBytes(bytes));
	}

	admitsAddress(address: string): boolean {
		const known = this.#known.get(address) ?? this.#take(fontBytesOfAddress(address));
		this.#known.set(address, known);
		return known;
	}

	#take(bytes: number): boolean {
		const isAdmitted = bytes <= this.#left;
		if (isAdmitted) this.#left -= bytes;
		return isAdmitted;
	}
}

/**
 * The bytes that a font has once a browser has unpacked it, by what its directory says of its tables. Infinite for anything else, which a
 * browser would draw whatever type it has, and for a font whose glyphs are pictures.
 */
export function fontBytes(bytes: Uint8Array, length = bytes.length): number {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	try {
		const beginning = textAt(view, 0);
		if (plainBeginnings.includes(beginning)) return hasDrawnTables(view, 0) ? Number.POSITIVE_INFINITY : length;
		if (beginning === 'ttcf') return isPlainCollection(view) ? length : Number.POSITIVE_INFINITY;
		if (beginning === 'wOFF') return unpackedWoff(view);
		if (beginning === 'wOF2') return unpackedWoff2(view);
	} catch (error) {
		// Its directory does not end in these bytes.
		if (!(error instanceof RangeError)) throw error;
	}
	return Number.POSITIVE_INFINITY;
}

/** `fontBytes` of a `data:` address, whatever its media type: older programs write `application/font-woff` and the like. */
export function fontBytesOfAddress(address: string): number {
	const [, scheme = ''] = /^(data:[^,]{0,200};base64,)[A-Za-z\d+/]{8}/i.exec(address) ?? [];
	if (scheme === '') return Number.POSITIVE_INFINITY;
	return fontBytes(
		bytesOfBase64(address.slice(scheme.length, scheme.length + 2 * maxDirectoryBytes)),
		Math.ceil(((address.length - scheme.length) * 3) / 4),
	);
}

const textAt = (view: DataView, at: number) =>
	String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3));

function hasDrawnTables(view: DataView, at: number): boolean {
	const tables = view.getUint16(at + 4);
	for (let index = 0; index < tables; index++) {
		if (drawnTables.has(textAt(view, at + 12 + index * 16))) return true;
	}
	return false;
}

/** Fonts that share their tables: those of a whole script have some ten. */
function isPlainCollection(view: DataView): boolean {
	const fonts = view.getUint32(8);
	if (fonts > 100) return false;
	const directories = new Set(Array.from({ length: fonts }, (_, index) => view.getUint32(12 + index * 4)));
	// Long ones that overlap would be read again and again.
	let left = view.byteLength;
	for (const at of directories) {
		left -= 12 + 16 * view.getUint16(at + 4);
		if (left < 0 || hasDrawnTables(view, at)) return false;
	}
	return true;
}

function unpackedWoff(view: DataView): number {
	let unpacked = 0;
	const tables = view.getUint16(12);
	for (let at = 44; at < 44 + tables * 20; at += 20) {
		if (drawnTables.has(textAt(view, at))) return Number.POSITIVE_INFINITY;
		unpacked += view.getUint32(at + 12);
	}
	return unpacked;
}

function unpackedWoff2(view: DataView): number {
	let at = 48;
	/** Seven bits of each byte, the first ones first; all but the last have the eighth. */
	const readLength = () => {
		let length = 0;
		for (let count = 0; count < 5; count++) {
			const byte = view.getUint8(at++);
			length = length * 128 + (byte & 127);
			if (byte < 128) return length;
		}
		return Number.POSITIVE_INFINITY;
	};
	let unpacked = 0;
	const tables = view.getUint16(12);
	for (let index = 0; index < tables; index++) {
		const flags = view.getUint8(at++);
		const number = flags & 63;
		if (drawnNumbers.has(number)) return Number.POSITIVE_INFINITY;
		if (number === 63) {
			if (drawnTables.has(textAt(view, at))) return Number.POSITIVE_INFINITY;
			at += 4;
		}
		const length = readLength();
		const isTransformed = flags >> 6 !== (transformedNumbers.has(number) ? 3 : 0);
		unpacked += Math.max(length, isTransformed ? readLength() : 0);
	}
	// The whole is made from the tables, and has a size of its own.
	return Math.max(unpacked, view.getUint32(16));
}
