import type { TagReader } from './TagReader.js';

const pieceBytes = 64 * 1024;

/** Names and descriptions, which end with a zero, are seldom longer. */
const nameBytes = 64;

/** What is between the values of one text: a zero, in older tags a slash, and a bracket before each number of a genre. */
const isSeparator = (byte: number | undefined) => byte === 0 || byte === 0x2f || byte === 0x28;

/** Counts the values of a text, of which each becomes a tag of its own, beyond its first. */
export async function countValues(reader: TagReader, begin: number, end: number, unitBytes: 1 | 2): Promise<void> {
	const until = Math.min(end, reader.size);
	for (let at = begin; at < until; at += pieceBytes) {
		const bytes = await reader.bytes(at, Math.min(pieceBytes, until - at));
		let count = 0;
		for (let unit = 0; unit + unitBytes <= bytes.length; unit += unitBytes) {
			const first = bytes[unit];
			const second = unitBytes === 2 ? bytes[unit + 1] : 0;
			// In either order of the bytes.
			if ((second === 0 && isSeparator(first)) || (first === 0 && isSeparator(second))) count++;
		}
		reader.add(count);
	}
}

/** Where the first zero is; `end` without one. */
export async function findZero(reader: TagReader, begin: number, end: number): Promise<number> {
	const until = Math.min(end, reader.size);
	let length = nameBytes;
	for (let at = begin; at < until; ) {
		const zero = (await reader.bytes(at, Math.min(length, until - at))).indexOf(0);
		if (zero >= 0) return at + zero;
		at += length;
		length = Math.min(pieceBytes, 2 * length);
	}
	return end;
}
