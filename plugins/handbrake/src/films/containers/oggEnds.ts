import { Yielder } from '@stowage/plugin-api';
import { readerOf, unlessUnreadable } from './reading/readAt.js';
import { rest, stepsOfTurn } from './reading/rest.js';

/** Reads bytes from a place of a file on; fewer at its end. */
type ReadAt = (at: number, length: number) => Promise<Buffer>;

/** More pages than a second of film has; the longest page has 65 kB. */
const windowBytes = 2 ** 20;
/** The length of a page's header before the lengths of its segments. */
const headBytes = 27;
/** A film has some, and a joined one those of each part. */
const maxTracks = 1000;
/** More than ten hours of film have with a page for each frame and each packet of sound; a page may be empty. */
const mostPages = 10_000_000;

const firstPage = 2;
const lastPage = 4;

/**
 * How many tracks of an Ogg file have no last page. Ogg says no duration, so where a file was cut off its tracks just end: only the
 * mark of the last page of each tells. Undefined if there are more tracks or pages than any film has.
 */
export async function unendedTracks(
	readAt: ReadAt,
	size: number,
	signal?: AbortSignal,
	maxPages = mostPages,
): Promise<number | undefined> {
	/** Whether each track has ended, by its number. One that begins again, as in files that were joined, has not. */
	const tracks = new Map<number, boolean>();
	const indexes = new Set<number>();
	let window = await readAt(0, windowBytes);
	let windowAt = 0;
	let at = 0;
	let pages = 0;
	const yielder = new Yielder();
	while (true) {
		signal?.throwIfAborted();
		if (yielder.shouldYield) await yielder.yield(signal);
		// The longest head has a byte for each of 255 segments, and a name behind them of 8.
		if (at + headBytes + 255 + 8 > windowAt + window.length && window.length === windowBytes) {
			window = await readAt(at, windowBytes);
			windowAt = at;
		}
		const page = pageAt(window, at - windowAt);
		if (page === undefined) {
			const next = window.indexOf(pageMark, Math.max(0, at - windowAt + 1));
			if (next >= 0) at = windowAt + next;
			else if (window.length === windowBytes) at = Math.max(at + 1, windowAt + windowBytes - pageMark.length + 1);
			else break;
			continue;
		}
		at += page.length;
		if (++pages > maxPages) return undefined;
		if (pages % stepsOfTurn === 0) await rest(signal);
		if (page.isIndex) indexes.add(page.track);
		// One that is not whole is none that decoders read.
		else if (!indexes.has(page.track)) tracks.set(page.track, page.isLast && at <= size);
		if (tracks.size + indexes.size > maxTracks) return undefined;
	}
	return [...tracks.values()].filter((hasEnded) => !hasEnded).length;
}

const pageMark = Buffer.from('OggS\0', 'latin1');

const isMarked = (bytes: Buffer, at: number) => bytes.readUInt32BE(at) === 0x4f676753 && bytes.readUInt8(at + 4) === 0;

interface Page {
	track: number;
	length: number;
	isLast: boolean;
	/** Whether it begins a track that only describes the others (Skeleton). */
	isIndex: boolean;
}

function pageAt(bytes: Buffer, at: number): Page | undefined {
	if (at < 0 || at + headBytes > bytes.length || !isMarked(bytes, at)) return undefined;
	const flags = bytes.readUInt8(at + 5);
	const count = bytes.readUInt8(at + 26);
	const body = at + headBytes + count;
	const segments = bytes.subarray(at + headBytes, body);
	if (segments.length < count) return undefined;
	return {
		track: bytes.readUInt32LE(at + 14),
		length: headBytes + count + segments.reduce((sum, length) => sum + length, 0),
		isLast: (flags & lastPage) !== 0,
		isIndex: (flags & firstPage) !== 0 && bytes.toString('latin1', body, body + 8) === 'fishead\0',
	};
}

/** `unendedTracks` of an open file; undefined, too, where it can't be read any more. */
export const unendedIn = (descriptor: number, size: number, signal: AbortSignal) =>
	unlessUnreadable(unendedTracks(readerOf(descriptor), size, signal));
