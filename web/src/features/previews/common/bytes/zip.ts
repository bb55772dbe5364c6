import { Inflate } from 'fflate';
import { countTables } from './inflatedLength.js';

/** The decompressed content is larger than any ordinary file of its kind. */
export class ZipTooLarge extends Error {}

export interface ZipArchive {
	readonly names: readonly string[];
	has(name: string): boolean;
	/** The content of an entry; undefined if there is none. Throws `ZipTooLarge` for one with which the total is too large. */
	read(name: string): Uint8Array<ArrayBuffer> | undefined;
}

interface ZipEntry {
	method: number;
	packed: number;
	at: number;
}

const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;
const headerSignature = 0x04034b50;
/** An end record and the longest comment. */
const maxEndBytes = 22 + 65_535;
const maxEntries = 50_000;
/** Bytes of a name, against which any number of addresses may be resolved. No program writes a longer one. */
const maxName = 1024;
/**
 * Blocks with tables of their own, of all entries together: programs write as many for 200 MB, and a browser takes some seconds for them.
 */
const maxTables = 15_000;
/** Compressed bytes that are unpacked before the result is counted: it is at most some eight million bytes. */
const stepBytes = 8 * 1024;

/**
 * Reads a ZIP by its directory, one entry at a time. Decompressed bytes are counted, whatever sizes the archive
 * claims, and over all its entries they are no more than `budget`. Throws for anything but a ZIP.
 */
export function openZip(bytes: Uint8Array, budget: number): ZipArchive {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const entries = readDirectory(view, bytes);
	let left = budget;
	let tables = maxTables;
	// Entries that share their data could be unpacked any number of times, also those that become nothing. Honest ones have all of the file
	// at most.
	let packedLeft = bytes.length;
	const known = new Map<string, { content: Uint8Array<ArrayBuffer> } | { error: unknown }>();

	const inflate = ({ method, packed, at }: ZipEntry): Uint8Array<ArrayBuffer> => {
		if (view.getUint32(at, true) !== headerSignature) throw new Error('An entry of the ZIP is broken.');
		const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
		const data = bytes.subarray(start, start + packed);
		packedLeft -= data.length;
		if (packedLeft < 0) throw new ZipTooLarge('The files in it share their data.');
		if (method === 0) {
			if (data.length > left) throw new ZipTooLarge('The file is too large to be shown.');
			left -= data.length;
			return data.slice();
		}
		if (method !== 8) throw new Error('An entry of the ZIP is packed in an unknown way.');
		tables -= countTables(data, tables);
		if (tables < 0) throw new ZipTooLarge('The file would take too long to be unpacked.');
		const chunks: Uint8Array[] = [];
		let length = 0;
		const inflater = new Inflate((chunk) => {
			length += chunk.length;
			left -= chunk.length;
			if (left < 0) {
				// Nothing of it is kept, so others are read.
				left += length;
				throw new ZipTooLarge('The file is too large to be shown.');
			}
			chunks.push(chunk);
		});
		for (let from = 0; from < data.length || from === 0; from += stepBytes) {
			inflater.push(data.subarray(from, from + stepBytes), from + stepBytes >= data.length);
		}
		const whole = new Uint8Array(length);
		let to = 0;
		for (const chunk of chunks) {
			whole.set(chunk, to);
			to += chunk.length;
		}
		return whole;
	};

	const readOnce = (entry: ZipEntry) => {
		try {
			return { content: inflate(entry) };
		} catch (error) {
			return { error };
		}
	};

	return {
		names: [...entries.keys()],
		has: (name) => entries.has(name),
		read(name) {
			const entry = entries.get(name);
			if (!entry) return undefined;
			const read = known.get(name) ?? readOnce(entry);
			known.set(name, read);
			if ('error' in read) throw read.error;
			return read.content;
		},
	};
}

function readDirectory(view: DataView, bytes: Uint8Array): Map<string, ZipEntry> {
	let end = view.byteLength - 22;
	const first = Math.max(0, view.byteLength - maxEndBytes);
	while (end >= first && view.getUint32(end, true) !== endSignature) end--;
	if (end < first) throw new Error('It is no ZIP.');
	const count = Math.min(maxEntries, view.getUint16(end + 10, true));
	let at = view.getUint32(end + 16, true);
	const entries = new Map<string, ZipEntry>();
	const decoder = new TextDecoder();
	for (let index = 0; index < count; index++) {
		if (at + 46 > view.byteLength || view.getUint32(at, true) !== entrySignature) break;
		const nameLength = view.getUint16(at + 28, true);
		const name = decoder.decode(bytes.subarray(at + 46, at + 46 + nameLength));
		if (nameLength <= maxName && !name.endsWith('/') && !entries.has(name)) {
			const entry = {
				method: view.getUint16(at + 10, true),
				packed: view.getUint32(at + 20, true),
				at: view.getUint32(at + 42, true),
			};
			entries.set(name, entry);
		}
		at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
	}
	return entries;
}
