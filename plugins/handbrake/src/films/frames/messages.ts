import { Yielder } from '@stowage/plugin-api';
import { type ReadAt, readerOf, unlessUnreadable } from '../containers/reading/readAt.js';

/**
 * The ids of messages that encoders write of themselves into their pictures: x264 and x265 once, or with each first picture, Apple's with
 * each.
 */
const known = [
	...['dc45e9bde6d948b7962cd820d923eeef', '2ca2de09b51747dbbb55a4fe7fc2fc4e'],
	...['47564adc5c4c433f94efc5113cd143a8', '0387f44ecd0a4bdca1943ac3d49b171f'],
].map((id) => Buffer.from(id, 'hex'));

const windowBytes = 2 ** 20;
/** A window begins with what may be the beginning of an id at the end of the one before. */
const overlap = 15;

/**
 * How many of the messages in the pictures of a film are not of an encoder that is known, as those in which cameras write their positions.
 * It looks for the ids of known ones until there are enough: decoders say how many messages there are, and not whose.
 */
export async function foreignMessages(readAt: ReadAt, messages: number, signal: AbortSignal): Promise<number> {
	const yielder = new Yielder();
	let left = messages;
	for (let at = 0; left > 0; at += windowBytes - overlap) {
		signal.throwIfAborted();
		if (yielder.shouldYield) await yielder.yield(signal);
		const read = await readAt(at, windowBytes);
		const window = Buffer.from(read.buffer, read.byteOffset, read.length);
		for (const id of known) left -= timesIn(window, id);
		if (window.length < windowBytes) break;
	}
	return Math.max(0, left);
}

function timesIn(window: Buffer, id: Buffer): number {
	let times = 0;
	for (let at = window.indexOf(id); at >= 0; at = window.indexOf(id, at + id.length)) times++;
	return times;
}

/** `foreignMessages` of an open file; undefined where it can't be read any more. */
export const foreignMessagesIn = (descriptor: number, messages: number, signal: AbortSignal) =>
	unlessUnreadable(foreignMessages(readerOf(descriptor), messages, signal));
