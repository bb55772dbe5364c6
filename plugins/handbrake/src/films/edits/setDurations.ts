import { type VersionedBox, walkBoxes } from '../containers/mov/walkBoxes.js';
import { type ReadAt, readerOf } from '../containers/reading/readAt.js';
import { rest, stepsOfTurn } from '../containers/reading/rest.js';
import { applyPatches, type Patch } from './patches.js';

const lists: ReadonlySet<string> = new Set(['moov', 'trak', 'edts', 'mdia', 'minf', 'stbl']);
const ofTrack: ReadonlySet<string> = new Set(['tkhd', 'elst', 'mdhd', 'stts', 'ctts']);

/** The most bytes of all tables together: ten hours at 60 frames a second take a half. */
const maxTables = 64 * 2 ** 20;
/** HandBrake writes one, and another one before it where a track begins later. */
const maxEdits = 10;
const normalRate = 0x1_00_00;

/**
 * Has an open MP4 that HandBrake has made say no longer durations than the samples of its tracks have together. Where pictures stand still
 * HandBrake says the length of one frame of another one as well, and the end of that of the whole film, by which players show its length.
 * Fields get another value only; where tables are not as they should be, they stay as they are.
 */
export async function setDurations(descriptor: number, signal: AbortSignal): Promise<void> {
	await applyPatches(descriptor, durations(readerOf(descriptor), signal));
}

async function durations(readAt: ReadAt, signal: AbortSignal): Promise<Patch[]> {
	const tracks: Map<string, VersionedBox>[] = [];
	let movie: VersionedBox | undefined;
	for await (const box of walkBoxes(readAt, lists)) {
		if (box.name === 'mvhd') movie = box;
		if (box.name === 'trak') tracks.push(new Map());
		if (ofTrack.has(box.name)) tracks.at(-1)?.set(box.name, box);
	}
	const film = await clockOf(readAt, movie);
	const tables = tracks.flatMap((boxes) => [boxes.get('stts'), boxes.get('ctts')]);
	const bytes = tables.reduce((sum, table) => sum + (table === undefined ? 0 : table.end - table.content), 0);
	if (film === undefined || bytes > maxTables) return [];
	const patches: Patch[] = [];
	let longest = 0;
	for (const boxes of tracks) {
		const shown = await fieldAt(readAt, boxes.get('tkhd'), [20, 28]);
		const media = await clockOf(readAt, boxes.get('mdhd'));
		const samples = await samplesOf(readAt, boxes, signal);
		if (shown === undefined || media === undefined || samples === undefined) return [];
		const inFilm = (ticks: number) => Math.ceil((ticks * film.scale) / media.scale);
		patches.push(...lowered(media.duration, samples.total));
		const edits = await editsOf(readAt, boxes.get('elst'));
		const played = edits.filter(({ from }) => from >= 0);
		const [only] = played;
		let length = shown.value;
		if (edits.length === 0) length = inFilm(samples.total);
		else if (played.length === 1 && only?.rate === normalRate && samples.end > only.from) {
			const lasts = inFilm(samples.end - only.from);
			patches.push(...lowered(only.duration, lasts));
			length = edits.reduce((sum, { duration }) => sum + duration.value, Math.min(0, lasts - only.duration.value));
		}
		patches.push(...lowered(shown, length));
		longest = Math.max(longest, Math.min(shown.value, length));
	}
	return [...patches, ...lowered(film.duration, longest)];
}

/** A number of a box; older versions have shorter ones. */
interface Field {
	at: number;
	bytes: 4 | 8;
	value: number;
}

function lowered({ at, bytes: length, value }: Field, to: number): Patch[] {
	// Times are rounded.
	if (to + 1 >= value || to <= 0) return [];
	const bytes = Buffer.alloc(length);
	if (length === 8) bytes.writeBigUInt64BE(BigInt(to));
	else bytes.writeUInt32BE(to);
	return [{ at, bytes }];
}

/** The field at these places of the content in version 0 and 1. */
async function fieldAt(
	readAt: ReadAt,
	box: VersionedBox | undefined,
	[short, long]: readonly [number, number],
): Promise<Field | undefined> {
	if (box === undefined) return undefined;
	const [at, bytes] = box.version === 1 ? ([box.content + long, 8] as const) : ([box.content + short, 4] as const);
	const read = at + bytes > box.end ? undefined : Buffer.from(await readAt(at, bytes));
	if (read?.length !== bytes) return undefined;
	return { at, bytes, value: bytes === 8 ? Number(read.readBigUInt64BE()) : read.readUInt32BE() };
}

/** How many ticks a second has by the header of a film or of a track, and how many that takes; undefined where it has none. */
async function clockOf(readAt: ReadAt, header: VersionedBox | undefined) {
	const duration = await fieldAt(readAt, header, [16, 24]);
	if (duration === undefined) return undefined;
	const scale = Buffer.from(await readAt(duration.at - 4, 4)).readUInt32BE();
	return scale === 0 ? undefined : { scale, duration };
}

/** The parts of a track that are played one after another: of those that are empty `from` is -1. */
async function editsOf(readAt: ReadAt, list: VersionedBox | undefined) {
	if (list === undefined) return [];
	const { content, end, version } = list;
	const bytes = version === 1 ? 8 : 4;
	const read = Buffer.from(await readAt(content, Math.min(end - content, 8 + maxEdits * 20)));
	const edits: { duration: Field; from: number; rate: number }[] = [];
	const count = read.length < 8 ? 0 : read.readUInt32BE(4);
	for (let at = 8; edits.length < count && at + 2 * bytes + 4 <= read.length; at += 2 * bytes + 4) {
		const [value, from] =
			bytes === 8
				? [Number(read.readBigUInt64BE(at)), Number(read.readBigInt64BE(at + 8))]
				: [read.readUInt32BE(at), read.readInt32BE(at + 4)];
		edits.push({ duration: { at: content + at, bytes, value }, from, rate: read.readUInt32BE(at + 2 * bytes) });
	}
	return edits;
}

/** The entries of a table, each of which has a count and a value. */
async function entriesOf(readAt: ReadAt, { content, end }: VersionedBox): Promise<Buffer | undefined> {
	const table = Buffer.from(await readAt(content, end - content));
	const bytes = table.length < 8 ? 0 : table.readUInt32BE(4) * 8;
	return 8 + bytes > table.length ? undefined : table.subarray(8, 8 + bytes);
}

/**
 * In ticks of a track: `total` is how long its samples take together, `end` when the last one is over that is shown. Undefined where its
 * tables are not as they should be.
 */
async function samplesOf(readAt: ReadAt, boxes: ReadonlyMap<string, VersionedBox>, signal: AbortSignal) {
	const [times, shifts] = [boxes.get('stts'), boxes.get('ctts')];
	const lengths = times && (await entriesOf(readAt, times));
	const offsets = shifts && (await entriesOf(readAt, shifts));
	if (lengths === undefined || (shifts !== undefined && offsets === undefined)) return undefined;
	let [total, first, last, lastLength, length] = [0, Number.POSITIVE_INFINITY, 0, 0, 0];
	let [offset, offsetLeft, offsetAt] = [0, offsets === undefined ? Number.POSITIVE_INFINITY : 0, 0];
	let steps = 0;
	for (let at = 0; at < lengths.length; at += 8) {
		length = lengths.readUInt32BE(at + 4);
		for (let left = lengths.readUInt32BE(at); left > 0; ) {
			if (++steps % stepsOfTurn === 0) await rest(signal);
			if (offsetLeft === 0) {
				if (offsets === undefined || offsetAt === offsets.length) return undefined;
				[offsetLeft, offset] = [offsets.readUInt32BE(offsetAt), offsets.readInt32BE(offsetAt + 4)];
				offsetAt += 8;
				continue;
			}
			const count = Math.min(left, offsetLeft);
			first = Math.min(first, total + offset);
			const shown = total + (count - 1) * length + offset;
			if (shown >= last) [last, lastLength] = [shown, length];
			total += count * length;
			left -= count;
			offsetLeft -= count;
		}
	}
	if (!Number.isSafeInteger(total)) return undefined;
	if (total === 0) return { total, end: 0 };
	// The last one that is shown may have the length of another one, too.
	return { total, end: Math.max(first + total, last + Math.min(lastLength, length)) };
}
