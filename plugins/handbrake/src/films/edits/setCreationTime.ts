import { crc32 } from 'node:zlib';
import { elementAt, maxHead } from '../containers/matroska/ebml.js';
import { walkBoxes } from '../containers/mov/walkBoxes.js';
import { type ReadAt, readerOf } from '../containers/reading/readAt.js';
import { applyPatches, type Patch } from './patches.js';

/** What HandBrake writes has some dozen of them before the film. */
const maxParts = 10_000;

/** From which moment the containers count. */
const [epochOfMov, epochOfMatroska] = [Date.UTC(1904, 0, 1), Date.UTC(2001, 0, 1)];

/**
 * Has an open film that HandBrake has made say another time as that of its making, in milliseconds since 1970: HandBrake writes when it
 * was converted, and programs for photographs sort films by this time. Fields get another value only, so where there is none or it has no
 * room, or where the file can't be read or written, it stays as it is.
 */
export async function setCreationTime(descriptor: number, container: 'mov' | 'matroska', time: number): Promise<void> {
	const find = container === 'mov' ? movTimes : matroskaTimes;
	await applyPatches(descriptor, find(readerOf(descriptor), time));
}

const lists: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia']);
const headers: ReadonlySet<string> = new Set(['mvhd', 'tkhd', 'mdhd']);

/** Seconds in the headers of the film and of its tracks, behind a version that says how many bytes they have. */
async function movTimes(readAt: ReadAt, time: number): Promise<Patch[]> {
	const seconds = Math.round((time - epochOfMov) / 1000);
	const patches: Patch[] = [];
	for await (const { name, content, end, version } of walkBoxes(readAt, lists)) {
		if (!headers.has(name) || end < content + 12) continue;
		const bytes = Buffer.alloc(version === 1 ? 8 : 4);
		if (seconds <= 0 || (bytes.length === 4 && seconds > 0xff_ff_ff_ff)) continue;
		bytes.writeUIntBE(seconds, Math.max(0, bytes.length - 6), Math.min(6, bytes.length));
		patches.push({ at: content + 4, bytes });
	}
	return patches;
}

const [segment, info, date, checksum] = [0x18538067, 0x1549a966, 0x4461, 0xbf];

/** What HandBrake says of a film takes some hundred bytes. */
const maxInfo = 2 ** 20;

/** Nanoseconds in what is said of the film, before its clusters. */
async function matroskaTimes(readAt: ReadAt, time: number): Promise<Patch[]> {
	const nanoseconds = BigInt(time - epochOfMatroska) * 1_000_000n;
	// Some centuries have room.
	if (BigInt.asIntN(64, nanoseconds) !== nanoseconds) return [];
	for (let at = 0, parts = 0; parts < maxParts; parts++) {
		const element = elementAt(Buffer.from(await readAt(at, maxHead)), at);
		if (element === undefined) return [];
		const { id, content, length } = element;
		if (id !== segment && !Number.isSafeInteger(content + length)) return [];
		if (id === info) {
			if (length > maxInfo) return [];
			const said = Buffer.from(await readAt(content, length));
			const bytes = said.length < length ? undefined : withDate(said, nanoseconds);
			return bytes === undefined ? [] : [{ at: content, bytes }];
		}
		at = id === segment ? content : content + length;
	}
	return [];
}

/** What is said of a film with another date, and with the checksum of that if it begins with one; undefined where it has no date. */
function withDate(bytes: Buffer, nanoseconds: bigint): Buffer | undefined {
	let sumAt: number | undefined;
	for (let at = 0; at < bytes.length; ) {
		const element = elementAt(bytes.subarray(at, at + maxHead), at);
		if (element === undefined || element.content + element.length > bytes.length) return undefined;
		if (element.id === checksum && element.length === 4) sumAt = element.content;
		if (element.id === date) {
			if (element.length !== 8) return undefined;
			bytes.writeBigInt64BE(nanoseconds, element.content);
			if (sumAt !== undefined) bytes.writeUInt32LE(crc32(bytes.subarray(sumAt + 4)), sumAt);
			return bytes;
		}
		at = element.content + element.length;
	}
	return undefined;
}
