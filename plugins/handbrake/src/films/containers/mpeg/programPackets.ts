import { Yielder } from '@stowage/plugin-api';
import { Padding } from '../reading/padding.js';
import { type ReadAt, readerOf } from '../reading/readAt.js';
import { rest, stepsOfTurn } from '../reading/rest.js';
import { type Contents, Findings } from '../reading/scanner.js';

/** Some hundred packets. */
const windowBytes = 2 ** 20;
/** What of a packet is read: its head, which may be stuffed, and of padding all. */
const headBytes = 300;
const longestPacket = 6 + 0xffff;

/**
 * The packets that a stream of any size may have, and how many of its bytes are one more. The packets of films have some 2,000 bytes, and
 * few have less than some hundred; but four bytes may be one.
 */
const packetsOfAny = 100_000;
const packetBytes = 256;

const startCode = Buffer.from([0, 0, 1]);
/** The stream of sound and subtitles that MPEG does not define; the first byte of each packet says which of them it has. */
const privateStream = 0xbd;
/** The first stream whose packets have a length; before it are the heads of packs and what is within a picture. */
const firstWithLength = 0xbb;

/** Subtitles of SVCD (from 0x70 on) and of CVD. ffprobe lists those of DVDs alone. */
const isUnread = (kind: number) => (kind >= 0x70 && kind <= 0x7f) || kind <= 3;

/** Padding, which some cameras may fill. */
const padding = 0xbe;
/** In MPEG-1 it begins with that there are no times. */
const padded = 0x0f;
/** Where on its disc a film is, in packets of two kinds and lengths. ffprobe takes any other one of this stream for that, too. */
const navigation = 0xbf;
const navigationLengths = [0x3d4, 0x3fa];
const isNavigation = (packet: Buffer) => packet.readUInt16BE(4) === navigationLengths[packet[6] ?? 0xff];

/** Sound and subtitles of both kinds, pictures, and more of them. */
export const isTrack = (stream: number) =>
	stream === privateStream || (stream >= 0xc0 && stream <= 0xef) || stream === 0xfd;

/** Streams that ffprobe passes over, with packets of their own: keys, commands, metadata, and what is reserved. */
const isUnknown = (stream: number) => stream > 0xef && stream !== 0xfd;

/**
 * What an MPEG program stream has that neither ffprobe nor HandBrake knows, and that is listed nowhere and left out without a word:
 * some kinds of subtitles, streams of other kinds, padding with data. It reads the heads of all packets. Undefined if there are more of
 * them than any film has.
 */
export async function programPackets(readAt: ReadAt, signal: AbortSignal): Promise<Contents | undefined> {
	const found = new Findings();
	const readWindow = async (at: number) => Buffer.from(await readAt(at, windowBytes));
	const yielder = new Yielder();
	let window = await readWindow(0);
	let windowAt = 0;
	let at = 0;
	let packets = 0;
	const room = new Padding();
	while (true) {
		signal.throwIfAborted();
		if (yielder.shouldYield) await yielder.yield(signal);
		// A shorter window is the last one.
		const isLast = window.length < windowBytes;
		if (!isLast && at + longestPacket > windowAt + window.length) {
			window = await readWindow(at);
			windowAt = at;
			continue;
		}
		const begin = window.indexOf(startCode, at - windowAt);
		if (begin < 0 && isLast) return found;
		at = begin < 0 ? windowAt + window.length - startCode.length + 1 : windowAt + begin;
		if (begin < 0 || (!isLast && begin + longestPacket > window.length)) continue;
		const packet = window.subarray(begin, begin + headBytes);
		if (packet.length < 6) return found;
		if (++packets > packetsOfAny + at / packetBytes) return undefined;
		if (packets % stepsOfTurn === 0) await rest(signal);
		const stream = packet.readUInt8(3);
		found.isEncrypted ||= isEncrypted(packet);
		if (stream === privateStream && isUnread(kindOf(packet))) found.addUnread('subtitles of an unknown kind');
		else if (isUnknown(stream) || (stream === navigation && !isNavigation(packet)))
			found.addUnread(`stream 0x${stream.toString(16)}`);
		else if (stream === padding) {
			const content = window.subarray(begin + 6, begin + 6 + packet.readUInt16BE(4));
			if (room.take(content.subarray(content[0] === padded ? 1 : 0))) found.addUnread('padding');
		}
		at += stream < firstWithLength ? 4 : 6 + packet.readUInt16BE(4);
	}
}

/** Whether a packet of pictures, sound or subtitles says in its head, which is one of MPEG-2, that its content is encrypted, as on DVDs. */
export function isEncrypted(packet: Buffer): boolean {
	const [stream = 0, flags = 0] = [packet[3], packet[6]];
	return isTrack(stream) && (flags & 0xc0) === 0x80 && (flags & 0x30) !== 0;
}

/** The first byte behind the head of a packet: of MPEG-2, or of MPEG-1, which has stuffing, a buffer's size and times. */
function kindOf(packet: Buffer): number {
	const byte = (at: number) => packet[at] ?? 0xff;
	let at = 6;
	if ((byte(at) & 0xc0) === 0x80) return byte(at + 3 + byte(at + 2));
	while (byte(at) === 0xff && at < packet.length) at++;
	if ((byte(at) & 0xc0) === 0x40) at += 2;
	const times = byte(at) & 0xf0;
	return byte(at + (times === 0x20 ? 5 : times === 0x30 ? 10 : 1));
}

/** `programPackets` of an open file. */
export const programPacketsIn = (descriptor: number, signal: AbortSignal) =>
	programPackets(readerOf(descriptor), signal);
