import type { Scanner } from '../reading/scanner.js';

/** An element of Matroska. */
export interface Element {
	/** As it is written in the file. */
	id: number;
	content: number;
	/** Infinity where it says none. */
	length: number;
}

/** The most bytes of the head of an element. */
export const maxHead = 12;

/** An element whose head is at the beginning of bytes that are at a place of the file; undefined for none. */
export function elementAt(bytes: Buffer, at: number): Element | undefined {
	const idLength = Math.clz32(bytes[0] ?? 0) - 23;
	if (idLength > 4 || bytes.length < idLength) return undefined;
	const length = vintAt(bytes, idLength);
	if (length === undefined) return undefined;
	return {
		id: bytes.readUIntBE(0, idLength),
		content: at + idLength + length.bytes,
		length: length.isUnknown ? Number.POSITIVE_INFINITY : length.value,
	};
}

/** A number of 1 to 8 bytes, the first of which says how many; one whose bits are all set is unknown. */
export function vintAt(bytes: Buffer, at: number): { value: number; bytes: number; isUnknown: boolean } | undefined {
	const first = bytes[at] ?? 0;
	const length = Math.clz32(first) - 23;
	if (length > 8 || at + length > bytes.length) return undefined;
	let value = first & (0xff >> length);
	let isUnknown = value === 0xff >> length;
	for (let n = 1; n < length; n++) {
		const byte = bytes[at + n] ?? 0;
		value = value * 256 + byte;
		isUnknown &&= byte === 0xff;
	}
	return { value, bytes: length, isUnknown };
}

/** Thrown where a file has more elements than any film. */
export class TooMany extends Error {}

/** The elements of another one, as far as they are some. */
export async function* elementsIn(scanner: Scanner, at: number, end: number): AsyncGenerator<Element> {
	for (let next = at; next < end; ) {
		if (!(await scanner.mayStep())) throw new TooMany();
		const element = elementAt(await scanner.bytes(next, maxHead), next);
		if (element === undefined || element.content + element.length > end) return;
		yield element;
		next = element.content + element.length;
	}
}

/** The most bytes of a text that are looked at: of an id, a name or a language. */
const maxText = 200;

/** The beginning of a text. */
export async function textAt(
	scanner: Scanner,
	at: number,
	length: number,
	encoding: 'utf8' | 'latin1',
): Promise<string> {
	return (await scanner.bytes(at, Math.min(maxText, length))).toString(encoding);
}

/** A number; some programs write all of them with 8 bytes, the first of which are zeros. */
export async function numberAt(scanner: Scanner, at: number, length: number): Promise<number> {
	const digits = Math.min(6, length);
	const bytes = await scanner.bytes(at + length - digits, digits);
	return bytes.length === 0 ? 0 : bytes.readUIntBE(0, bytes.length);
}
