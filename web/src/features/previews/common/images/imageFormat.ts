import { avifSize } from './avif.js';
import { gifSize } from './gif.js';
import { jpegSize } from './jpeg.js';

/** The type of all pictures that no browser draws by itself. */
export const undrawnType = 'image/heic';

/** Of the header of a bitmap that programs of OS/2 and Windows 3 wrote, whose numbers have 16 bits. */
const os2HeaderBytes = 12;

/**
 * The type of a picture and its size in pixels by its first bytes: a width and height of 0 if they don't contain it, an
 * undefined type for what is no picture.
 */
export function describeImage(head: Uint8Array): { type: string | undefined; width: number; height: number } {
	const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
	const latin = (start: number, end: number) => String.fromCharCode(...head.subarray(start, end));
	const sized = (type: string, from: number, read: () => [width: number, height: number]) => {
		const [width, height] = head.length >= from ? read() : [0, 0];
		return { type, width, height };
	};
	if (latin(1, 4) === 'PNG') return sized('image/png', 24, () => [view.getUint32(16), view.getUint32(20)]);
	if (latin(0, 4) === 'GIF8') return { type: 'image/gif', ...gifSize(head, view) };
	if (latin(0, 2) === 'BM') {
		return sized('image/bmp', 26, () =>
			view.getUint32(14, true) === os2HeaderBytes
				? [view.getUint16(18, true), view.getUint16(20, true)]
				: [Math.abs(view.getInt32(18, true)), Math.abs(view.getInt32(22, true))],
		);
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

/** Whether the size of a picture lies behind these first bytes of it. */
export function isSizeFurther(head: Uint8Array): boolean {
	const { type, width, height } = describeImage(head);
	return type !== undefined && type !== undrawnType && width * height === 0;
}

/** Whether these are the first bytes of icons or cursors, of which none has more than 256 by 256 pixels. */
export function isIcon(head: Uint8Array): boolean {
	return head[0] === 0 && head[1] === 0 && (head[2] === 1 || head[2] === 2) && head[3] === 0;
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
