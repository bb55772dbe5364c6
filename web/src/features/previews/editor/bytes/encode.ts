import type { Encoding } from '../../text/encodings.js';

/** The bytes of a text, or the first of its characters that the encoding lacks. */
export type Encoded = { kind: 'bytes'; bytes: Uint8Array<ArrayBuffer> } | { kind: 'lacks'; character: string };

/** A text in an encoding, without a byte order mark. Browsers encode UTF-8 only; for the others the browser's decoder is reversed. */
export function encode(text: string, encoding: Encoding): Encoded {
	// Half of a surrogate pair is no character of any encoding.
	const [half] = /\p{Surrogate}/u.exec(text) ?? [];
	if (half !== undefined) return { kind: 'lacks', character: half };
	switch (encoding) {
		case 'UTF-8':
			return { kind: 'bytes', bytes: new TextEncoder().encode(text) };
		case 'UTF-16LE':
		case 'UTF-16BE':
			return { kind: 'bytes', bytes: encodeUtf16(text, encoding === 'UTF-16LE') };
		default:
			return encodeByTable(text, encoding);
	}
}

function encodeUtf16(text: string, isLittleEndian: boolean): Uint8Array<ArrayBuffer> {
	const bytes = new Uint8Array(text.length * 2);
	const view = new DataView(bytes.buffer);
	for (let at = 0; at < text.length; at++) view.setUint16(at * 2, text.charCodeAt(at), isLittleEndian);
	return bytes;
}

function encodeByTable(text: string, encoding: Encoding): Encoded {
	const encoder = new TableEncoder(encoding);
	const lacking = encoder.add(text);
	return lacking === undefined
		? { kind: 'bytes', bytes: encoder.bytes.slice() }
		: { kind: 'lacks', character: lacking };
}

/**
 * The bytes of texts, one behind the other, in an encoding that browsers only decode. A text may have a line for each two of its
 * bytes: nothing is made for one but these.
 */
export class TableEncoder {
	readonly #table: Table;
	#buffer = new Uint8Array(1024);
	#length = 0;

	constructor(readonly encoding: Encoding) {
		this.#table = tableOf(encoding);
	}

	/** What was added, until something else is. */
	get bytes(): Uint8Array<ArrayBuffer> {
		return this.#buffer.subarray(0, this.#length);
	}

	/** Returns the first character that the encoding lacks; what was added is then of no use. */
	add(text: string): string | undefined {
		// Four bytes for each character, and for ISO-2022-JP an escape sequence as well.
		this.#reserve(text.length * 6 + 3);
		let set = ascii;
		for (const character of text) {
			const known = this.#table.get(character) ?? (this.encoding === 'GB18030' ? beyondBmp(character) : undefined);
			if (known === undefined) return character;
			const ownSet = known < setFactor ? ascii : Math.floor(known / setFactor);
			if (ownSet !== set) this.#push(escapes[ownSet] ?? 0);
			set = ownSet;
			this.#push(known % setFactor);
		}
		if (set !== ascii) this.#push(escapes[ascii] ?? 0);
		return undefined;
	}

	addBytes(bytes: Uint8Array, start = 0, end = bytes.length): void {
		this.#reserve(end - start);
		for (let at = start; at < end; at++) this.#buffer[this.#length++] = bytes[at] ?? 0;
	}

	/** Whether what was added has just these bytes, with which it begins anew. */
	takeIfEqual(bytes: Uint8Array, start: number, end: number): boolean {
		const length = this.#length;
		this.#length = 0;
		if (end - start !== length) return false;
		for (let at = 0; at < length; at++) if (this.#buffer[at] !== bytes[start + at]) return false;
		return true;
	}

	#push(code: number): void {
		if (code > 0xffffff) this.#buffer[this.#length++] = code >>> 24;
		if (code > 0xffff) this.#buffer[this.#length++] = code >>> 16;
		if (code > 0xff) this.#buffer[this.#length++] = code >>> 8;
		this.#buffer[this.#length++] = code;
	}

	#reserve(count: number): void {
		if (this.#length + count <= this.#buffer.length) return;
		const larger = new Uint8Array(2 * (this.#length + count));
		larger.set(this.bytes);
		this.#buffer = larger;
	}
}

/** The codes of characters: their bytes as one number, plus, for ISO-2022-JP, the number of their set times `setFactor`. */
type Table = ReadonlyMap<string, number>;

const setFactor = 2 ** 32;

/**
 * The sets of ISO-2022-JP by their escape sequences; every text begins and ends in the first. A backslash is never
 * written in the second, where it is a yen sign.
 */
const escapes = [0x1b2842, 0x1b284a, 0x1b2442, 0x1b2849];
const ascii = 0;

const tables = new Map<Encoding, Table>();

function tableOf(encoding: Encoding): Table {
	const table = tables.get(encoding) ?? (encoding === 'ISO-2022-JP' ? tableOfSets(encoding) : makeTable(encoding));
	tables.set(encoding, table);
	return table;
}

function makeTable(encoding: Encoding): Table {
	const table = new Map<string, number>();
	// Where a character has several codes, the first that is added here is taken.
	addSingles(table, encoding, 0, 0x7f);
	addCodes(table, encoding, pairs(leadsOf(encoding), 0x40, 0xfe));
	addSingles(table, encoding, 0x80, 0xff);
	if (encoding === 'EUC-JP') {
		const rare = pairs(range(0xa1, 0xfe), 0xa1, 0xfe).map((code) => 0x8f0000 + code);
		addCodes(table, encoding, rare);
	}
	if (encoding === 'GB18030') addCodes(table, encoding, range(0, lastOfBmp).map(fourBytes));
	return table;
}

/** The first bytes of two, those last whose codes other programs read but don't write. */
function leadsOf(encoding: Encoding): number[] {
	const leads = range(0x81, 0xfe);
	const isRare = (lead: number) => {
		if (encoding === 'Shift_JIS') return lead === 0xed || lead === 0xee;
		return encoding === 'Big5' && lead < 0xa1;
	};
	return [...leads.filter((lead) => !isRare(lead)), ...leads.filter(isRare)];
}

function addSingles(table: Map<string, number>, encoding: Encoding, first: number, last: number): void {
	const decoder = new TextDecoder(encoding);
	for (const code of range(first, last)) addCharacter(table, decoder.decode(new Uint8Array([code])), code);
}

/** Adds what a decoder makes of codes: each in a line of its own, since the result for an impossible one differs in length. */
function addCodes(table: Map<string, number>, encoding: Encoding, codes: readonly number[], set = ascii): void {
	const [before, after] = set === ascii ? [[], []] : [bytesOf(escapes[set] ?? 0), bytesOf(escapes[ascii] ?? 0)];
	const bytes = codes.flatMap((code) => [...before, ...bytesOf(code), ...after, newline]);
	const characters = new TextDecoder(encoding).decode(new Uint8Array(bytes)).split('\n');
	for (const [index, code] of codes.entries()) addCharacter(table, characters[index] ?? '', code + set * setFactor);
}

function addCharacter(table: Map<string, number>, character: string, code: number): void {
	const isOne = character.length === ((character.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);
	if (isOne && character !== '\ufffd' && !table.has(character)) table.set(character, code);
}

function tableOfSets(encoding: Encoding): Table {
	const table = new Map<string, number>();
	addSingles(table, encoding, 0, 0x7f);
	addCodes(table, encoding, [0x5c, 0x7e], 1);
	addCodes(table, encoding, pairs(range(0x21, 0x7e), 0x21, 0x7e), 2);
	addCodes(table, encoding, range(0x21, 0x5f), 3);
	return table;
}

const newline = 0x0a;

/** Places of four bytes in GB18030: up to the first the characters of the BMP, from the second on all others in their order. */
const lastOfBmp = 39_419;
const firstBeyond = 189_000;

function beyondBmp(character: string): number | undefined {
	const point = character.codePointAt(0) ?? 0;
	return point > 0xffff ? fourBytes(firstBeyond + point - 0x10000) : undefined;
}

function fourBytes(place: number): number {
	const [first, second, third, fourth] = [
		0x81 + Math.floor(place / 12_600),
		0x30 + (Math.floor(place / 1260) % 10),
		0x81 + (Math.floor(place / 10) % 126),
		0x30 + (place % 10),
	];
	return ((first * 256 + second) * 256 + third) * 256 + fourth;
}

function bytesOf(code: number): number[] {
	const count = code > 0xffffff ? 4 : code > 0xffff ? 3 : code > 0xff ? 2 : 1;
	return [24, 16, 8, 0].slice(4 - count).map((shift) => (code >>> shift) & 0xff);
}

function pairs(leads: readonly number[], first: number, last: number): number[] {
	const trails = range(first, last);
	return leads.flatMap((lead) => trails.map((trail) => lead * 256 + trail));
}

function range(first: number, last: number): number[] {
	return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
