import { type Area, contentType, type Entry, extensionOf, needsRendition } from '@stowage/rules';
import { downloadUrl, thumbnailUrl } from '../../../api/downloads.js';

/** A file that is shown. */
export interface PreviewFile {
	/** Distinguishes it from every other file, also from later versions of itself. */
	id: string;
	name: string;
	size: number;
	/** Its bytes, by ranges too. */
	url: string;
	/** The server's rendition, which any browser draws; 415 if there is none. */
	renditionUrl: string;
}

export function previewFile(area: Area, entry: Entry): PreviewFile {
	const url = downloadUrl(area, entry);
	const renditionUrl = thumbnailUrl(area, entry, 2048);
	return { id: `${url} ${entry.size} ${entry.mtime}`, name: entry.name, size: entry.size, url, renditionUrl };
}

/** Decoded they take four bytes each, as memory of the page. */
const maxPixels = 100_000_000;

export type ImageSource =
	| { kind: 'address'; url: string }
	/** Its bytes under a type set by the page, since the server's answer has none that a browser draws. */
	| { kind: 'blob'; url: string; type: string }
	/** The server's rendition, or else the page's fallback. */
	| { kind: 'rendition'; url: string; otherwise: ImageSource }
	| { kind: 'none' };

/** The URL that a picture is drawn from; its type and size come from its first bytes. */
export function imageSource(file: PreviewFile, firstBytes: Uint8Array): ImageSource {
	const extension = extensionOf(file.name);
	const { type, width, height } = describeImage(firstBytes);
	const pixels = width * height;
	const isUndrawn = type === undrawnType || needsRendition(file.name, 0);
	if (isUndrawn || needsRendition(file.name, pixels)) {
		const otherwise = isUndrawn || pixels > maxPixels ? ({ kind: 'none' } as const) : ownSource(file, extension, type);
		return { kind: 'rendition', url: file.renditionUrl, otherwise };
	}
	return ownSource(file, extension, type);
}

/** The picture from its own bytes. */
function ownSource(file: PreviewFile, extension: string, type: string | undefined): ImageSource {
	if (contentType(file.name).startsWith('image/')) return { kind: 'address', url: file.url };
	return { kind: 'blob', url: file.url, type: type ?? (extension === 'svg' ? 'image/svg+xml' : 'image/x-icon') };
}

const undrawnType = 'image/heic';

/** The type of a picture and its size in pixels, by its first bytes; 0 if they don't contain it. */
export function describeImage(head: Uint8Array): { type: string | undefined; width: number; height: number } {
	const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
	const latin = (start: number, end: number) => String.fromCharCode(...head.subarray(start, end));
	const sized = (type: string, from: number, read: () => [width: number, height: number]) => {
		const [width, height] = head.length >= from ? read() : [0, 0];
		return { type, width, height };
	};
	if (latin(1, 4) === 'PNG') return sized('image/png', 24, () => [view.getUint32(16), view.getUint32(20)]);
	if (latin(0, 4) === 'GIF8') return sized('image/gif', 10, () => [view.getUint16(6, true), view.getUint16(8, true)]);
	if (latin(0, 2) === 'BM') {
		return sized('image/bmp', 26, () => [Math.abs(view.getInt32(18, true)), Math.abs(view.getInt32(22, true))]);
	}
	if (head[0] === 0xff && head[1] === 0xd8) return { type: 'image/jpeg', ...jpegSize(view) };
	if (latin(8, 12) === 'WEBP') return { type: 'image/webp', ...webpSize(view, latin(12, 16)) };
	if (latin(4, 8) === 'ftyp') {
		return { type: /^avi[fs]$/.test(latin(8, 12)) ? 'image/avif' : undrawnType, width: 0, height: 0 };
	}
	if (latin(0, 4) === 'II*\0' || latin(0, 4) === 'MM\0*') return { type: undrawnType, width: 0, height: 0 };
	return { type: undefined, width: 0, height: 0 };
}

/** Iterates over the segments up to the one with the size, which metadata may have put too far back. */
function jpegSize(view: DataView): { width: number; height: number } {
	let at = 2;
	while (at + 9 <= view.byteLength && view.getUint8(at) === 0xff) {
		const marker = view.getUint8(at + 1);
		if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) {
			return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
		}
		at += 2 + view.getUint16(at + 2);
	}
	return { width: 0, height: 0 };
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
