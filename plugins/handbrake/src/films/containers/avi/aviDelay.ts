import { type ReadAt, readerOf, unlessUnreadable } from '../reading/readAt.js';

/** An AVI has some dozens before its film. */
const maxChunks = 1000;
/** Programs round them. */
const least = 0.01;
/** A name and a length, the form of a list or a kind of track, and what is read of the header of a track. */
const headBytes = 8 + 32;

/**
 * How many seconds some tracks of an AVI begin later than others by the headers of the tracks, which neither ffmpeg nor
 * HandBrake reads for that. Undefined if it can't be read.
 */
export async function aviDelay(readAt: ReadAt): Promise<number | undefined> {
	const delays: number[] = [];
	let left = maxChunks;
	/** Whether the film was found, before which all headers are. */
	const walk = async (start: number, end: number): Promise<boolean> => {
		for (let at = start; at + 8 <= end; ) {
			const head = await readAt(at, headBytes);
			if (left-- === 0 || head.length < 8) return false;
			const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
			const name = textAt(head, 0);
			const length = view.getUint32(4, true);
			const form = name === 'LIST' ? textAt(head, 8) : '';
			if (form === 'movi') return true;
			if ((form === 'hdrl' || form === 'strl') && (await walk(at + 12, at + 8 + length))) return true;
			if (name === 'strh') delays.push(head.length < headBytes ? Number.NaN : delayOf(view));
			at += 8 + length + (length % 2);
		}
		return false;
	};
	if (!(await walk(12, Number.POSITIVE_INFINITY)) || delays.length === 0 || delays.some(Number.isNaN)) return undefined;
	const delay = Math.max(...delays) - Math.min(...delays);
	return delay < least ? 0 : delay;
}

/** The delay of a track in seconds; NaN for one without a time unit. */
function delayOf(view: DataView): number {
	const [scale, rate, start] = [28, 32, 36].map((at) => view.getUint32(at, true)) as [number, number, number];
	if (start === 0) return 0;
	return scale === 0 || rate === 0 ? Number.NaN : (start * scale) / rate;
}

/** `aviDelay` of an open file; undefined, too, where it can't be read any more. */
export const delayIn = (descriptor: number) => unlessUnreadable(aviDelay(readerOf(descriptor)));

const textAt = (bytes: Uint8Array, at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
