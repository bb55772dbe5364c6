import { isTechnical } from '../../texts/texts.js';
import type { Findings } from '../reading/scanner.js';

/** A film has some dozens. */
const maxTexts = 1000;
/** Of a value as many bytes are compared. */
const maxValue = 2000;

/** Kinds of values of which ffprobe prints nothing, but for those of some names. */
const [bytesKind, idKind] = [1, 6];
const printedBytes: ReadonlySet<string> = new Set(['wm/picture', 'id3']);

/** How the lists write each text, by their ids: with the number of a track, and how long the length of a value is. */
const lists: ReadonlyMap<string, { hasTrack: boolean; lengthBytes: 2 | 4 }> = new Map([
	['40a4d0d207e3d21197f000a0c95ea850', { hasTrack: false, lengthBytes: 2 }],
	['eacbf8c5af5b77488467aa8c44fa4cca', { hasTrack: true, lengthBytes: 4 }],
	['941c23449894d149a1411d134e457054', { hasTrack: true, lengthBytes: 4 }],
]);

/**
 * The texts of an ASF file, in its lists of them: ffprobe prints one of each name, such as one of several genres or authors, and no bytes.
 * Others are added to what no program reads.
 */
export class AsfTexts {
	readonly #found: Findings;
	/** By their tracks and names. */
	readonly #values = new Map<string, string>();
	#count = 0;

	constructor(found: Findings) {
		this.#found = found;
	}

	/** Whether an object is a list of texts. */
	isList(id: string): boolean {
		return lists.has(id);
	}

	/** Takes the content of such an object. */
	take(id: string, bytes: Buffer): void {
		const { hasTrack = false, lengthBytes = 2 } = lists.get(id) ?? {};
		const headBytes = (hasTrack ? 8 : 4) + lengthBytes;
		for (let at = 2; at + headBytes <= bytes.length; ) {
			if (this.#count++ === maxTexts) this.#found.addUnread('more texts than any film has');
			if (this.#count > maxTexts) return;
			const track = hasTrack ? bytes.readUInt16LE(at + 2) : 0;
			const nameLength = bytes.readUInt16LE(at + (hasTrack ? 4 : 0));
			// One list has the name before what is said of the value, the others behind it.
			const name = at + (hasTrack ? headBytes : 2);
			const kindAt = hasTrack ? at + 6 : name + nameLength;
			if (kindAt + 2 + lengthBytes > bytes.length) return;
			const valueLength = bytes.readUIntLE(kindAt + 2, lengthBytes);
			const value = hasTrack ? name + nameLength : kindAt + 2 + lengthBytes;
			const end = value + valueLength;
			this.#add(
				track,
				bytes.toString('utf16le', name, Math.min(name + nameLength, bytes.length)).replaceAll('\0', ''),
				bytes.readUInt16LE(kindAt),
				bytes.subarray(value, Math.min(end, value + maxValue)),
			);
			at = end;
		}
	}

	#add(track: number, name: string, kind: number, bytes: Buffer): void {
		if (isTechnical(name, 'asf') || printedBytes.has(name.toLowerCase())) return;
		if (kind === bytesKind || kind === idKind) this.#found.addUnread(name);
		const key = `${track} ${name.toLowerCase()}`;
		const value = bytes.toString('latin1').replaceAll('\0', '');
		const before = this.#values.get(key);
		if (before !== undefined && before !== value) this.#found.addUnread(`several ${name}`);
		if (before === undefined) this.#values.set(key, value);
	}
}
