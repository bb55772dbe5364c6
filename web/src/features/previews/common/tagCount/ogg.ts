import type { TagReader } from './TagReader.js';
import { fitting } from './vorbisComments.js';

/** What is before the comments in the packets that have them: of Vorbis and Theora, VP8 and Opus, wherever they are in their stream. */
const prefixes: readonly [begin: RegExp, length: number][] = [
	[/^\x03vorbis|^\x81theora|^OVP80\x02/, 7],
	[/^OpusTags/, 8],
];

/** Prefixes of a second packet: also of FLAC, and of Speex, which has none. */
const secondPrefixes: typeof prefixes = [...prefixes, [/^[\x04\x84]/, 4], [/^/, 0]];

/**
 * How much of the sound is read, too: another stream may follow the first one. A browser's player is some seconds ahead
 * of what is heard.
 */
const soundBytes = 1024 * 1024;

/** Counts the comments in the packets before the sound or film, and in those a while behind its beginning. */
export async function countOgg(reader: TagReader, begin: number): Promise<void> {
	/** Incomplete packets by the serial number of their stream. */
	const packets = new Map<number, { index: number; parts: Uint8Array[] }>();
	let end = Number.POSITIVE_INFINITY;
	for (let at = begin; at < end && (await reader.text(at, 4)) === 'OggS'; ) {
		const head = await reader.view(at, 27);
		if (head.getBigInt64(6, true) > 0n) end = Math.min(end, at + soundBytes);
		const serial = head.getUint32(14, true);
		const lengths = await reader.bytes(at + 27, head.getUint8(26));
		const content = at + 27 + lengths.length;
		const page = await reader.bytes(
			content,
			lengths.reduce((sum, length) => sum + length, 0),
		);
		let from = 0;
		const isFirst = (head.getUint8(5) & 2) !== 0;
		let packet = (isFirst ? undefined : packets.get(serial)) ?? { index: 0, parts: [] };
		if (packet.index === 0 && packet.parts.length === 0) reader.add();
		for (const length of lengths) {
			if (length > 0) packet.parts.push(page.subarray(from, from + length));
			from += length;
			if (length === 255) continue;
			// Of all packets honest sound has more than tags, but not by the million.
			reader.add(0.01);
			if (packet.index > 0) countComments(reader, joined(packet.parts), packet.index === 1 ? secondPrefixes : prefixes);
			packet = { index: packet.index + 1, parts: [] };
		}
		packets.set(serial, packet);
		at = content + from;
	}
}

function countComments(reader: TagReader, packet: Uint8Array, known: typeof prefixes): void {
	const first = String.fromCharCode(...packet.subarray(0, 8));
	const at = known.find(([begin]) => begin.test(first))?.[1];
	if (at === undefined || at + 4 > packet.length) return;
	const view = new DataView(packet.buffer);
	const count = at + 4 + view.getUint32(at, true);
	if (count + 4 <= packet.length) reader.add(fitting(view.getUint32(count, true), packet.length));
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
	const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
	let at = 0;
	for (const part of parts) {
		whole.set(part, at);
		at += part.length;
	}
	return whole;
}
