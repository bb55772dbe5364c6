import { write } from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { elementAt, maxHead } from './containers/matroska/ebml.js';
import { type ReadAt, readerOf } from './containers/reading/readAt.js';

const writeOnce = promisify(write);

/** Bytes that take the place of as many in a file. */
interface Patch {
	at: number;
	bytes: Buffer;
}

/** What HandBrake writes has some dozen of them before the film, and for each track. */
const maxParts = 10_000;

/** From which moment the containers count. */
const [epochOfMov, epochOfMatroska] = [Date.UTC(1904, 0, 1), Date.UTC(2001, 0, 1)];

/**
 * Has an open film that HandBrake has made say another time as that of its making, in milliseconds since 1970: HandBrake writes when it was
 * converted, and programs for photographs sort films by this time. Fields get another value only, so where there is none or it has no room,
 * or where the file can't be read or written, it stays as it is.
 */
export async function setCreationTime(descriptor: number, container: 'mov' | 'matroska', time: number): Promise<void> {
	const patches = container === 'mov' ? movTimes : matroskaTimes;
	try {
		for (const { at, bytes } of await patches(readerOf(descriptor), time))
			await writeOnce(descriptor, bytes, 0, bytes.length, at);
	} catch (error) {
		if (!['read', 'write'].includes((error as NodeJS.ErrnoException).syscall ?? '')) throw error;
	}
}

const lists: ReadonlySet<string> = new Set(['moov', 'trak', 'mdia']);
const headers: ReadonlySet<string> = new Set(['mvhd', 'tkhd', 'mdhd']);

/** Seconds in the headers of the film and of its tracks, behind a version that says how many bytes they have. */
async function movTimes(readAt: ReadAt, time: number): Promise<Patch[]> {
	const seconds = Math.round((time - epochOfMov) / 1000);
	const patches: Patch[] = [];
	let parts = 0;
	const walk = async (start: number, stop: number): Promise<void> => {
		for (let at = start; at + 8 <= stop && Number.isSafeInteger(at) && parts++ < maxParts; ) {
			const head = Buffer.from(await readAt(at, 17));
			if (head.length < 17) return;
			const name = head.toString('latin1', 4, 8);
			const isLong = head.readUInt32BE() === 1;
			const length = isLong ? Number(head.readBigUInt64BE(8)) : head.readUInt32BE();
			const headLength = isLong ? 16 : 8;
			if (length < headLength) return;
			if (lists.has(name)) await walk(at + headLength, Math.min(stop, at + length));
			else if (headers.has(name) && length >= headLength + 12) {
				const bytes = Buffer.alloc(head[headLength] === 1 ? 8 : 4);
				if (seconds <= 0 || (bytes.length === 4 && seconds > 0xff_ff_ff_ff)) return;
				bytes.writeUIntBE(seconds, Math.max(0, bytes.length - 6), Math.min(6, bytes.length));
				patches.push({ at: at + headLength + 4, bytes });
			}
			at += length;
		}
	};
	await walk(0, Number.POSITIVE_INFINITY);
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
