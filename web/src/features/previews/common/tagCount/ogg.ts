import type { TagReader } from './TagReader.js';
import { fitting } from './vorbisComments.js';

/** What is before the comments in the packets that have them: of Vorbis and Theora, VP8, Opus and FLAC. Others have nothing. */
const prefixes: readonly [begin: RegExp, length: number][] = [
	[/^\x03vorbis|^\x81theora|^OVP80\x02/, 7],
	[/^OpusTags/, 8],
	[/^[\x04\x84]/, 4],
];

/** Counts the comments in the packets before the sound or film. */
export async function countOgg(reader: TagReader, begin: number): Promise<void> {
	/** By the number of their stream. */
	const packets = new Map<number, { index: number; parts: Uint8Array[] }>();
	for (let at = begin; (await reader.text(at, 4)) === 'OggS'; ) {
		const head = await reader.view(at, 27);
		const granule = head.getBigInt64(6, true);
		if (granule > 0n) return;
		const serial = head.getUint32(14, true);
		const lengths = await reader.bytes(at + 27, head.getUint8(26));
		let from = at + 27 + lengths.length;
		let packet = packets.get(serial) ?? { index: 0, parts: [] };
		if (packet.index === 0 && packet.parts.length === 0) reader.add();
		for (const length of lengths) {
			// Those behind the second packet have no comments.
			if (packet.index < 2 && length > 0) packet.parts.push(await reader.bytes(from, length));
			from += length;
			if (length === 255) continue;
			if (packet.index === 1) countComments(reader, joined(packet.parts));
			packet = { index: packet.index + 1, parts: [] };
		}
		packets.set(serial, packet);
		at = from;
	}
}

function countComments(reader: TagReader, packet: Uint8Array): void {
	const first = String.fromCharCode(...packet.subarray(0, 8));
	const [, at = 0] = prefixes.find(([begin]) => begin.test(first)) ?? [];
	const view = new DataView(packet.buffer);
	if (at + 4 > packet.length) return;
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
