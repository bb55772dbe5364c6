/**
 * The bytes that a block of compressed data counts for, at least: making its tables takes a browser as long as unpacking so many. Programs
 * begin another one after some thousands of bytes; one that unpacks to nothing has 22.
 */
const bytesPerBlock = 500;

const maxCodeBits = 15;
const endOfBlock = 256;

/** The order in which a block has the lengths of the codes for its lengths (RFC 1951, 3.2.7). */
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

/** By symbol, from 257 on: how many bytes are repeated at least, and how many bits say how many more (RFC 1951, 3.2.5). */
const repeats = [
	3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
];
const repeatBits = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];

/** The data end, or nobody could read on. */
class EndOfData extends Error {}

/**
 * How long compressed data (RFC 1951) become, or what their blocks count for where that is more; up to a fault, behind which nobody
 * reads, and not much further than `most`. Nothing is unpacked: the time grows with the bits that are read, and the tables of a block are
 * small. A library that unpacks makes large ones for each, of which 1 MB may have 45,000.
 */
export function inflatedLength(packed: Uint8Array, most: number): number {
	return readBlocks(packed, ({ count }) => count <= most).count;
}

/**
 * How many blocks of compressed data bring tables of their own, up to a fault or soon behind `most`. A library takes some tenths of a
 * millisecond for each, also for one of 22 bytes that unpacks to nothing; programs write one for some ten thousand bytes.
 */
export function countTables(packed: Uint8Array, most: number): number {
	return readBlocks(packed, ({ tables }) => tables <= most).tables;
}

/** Reads blocks for as long as `isWanted`, up to the last one or to a fault. */
function readBlocks(packed: Uint8Array, isWanted: (counter: Counter) => boolean): Counter {
	const counter = new Counter(packed);
	try {
		while (isWanted(counter) && counter.readBlock());
	} catch (error) {
		if (!(error instanceof EndOfData)) throw error;
	}
	return counter;
}

class Counter {
	tables = 0;
	#at = 0;
	#bit = 0;
	#length = 0;
	#blocks = 0;

	constructor(readonly packed: Uint8Array) {}

	get count(): number {
		return Math.max(this.#length, bytesPerBlock * (this.#blocks - 1));
	}

	/** Returns false for the last one. */
	readBlock(): boolean {
		const isLast = this.#bits(1) === 1;
		const kind = this.#bits(2);
		this.#blocks++;
		if (kind === 0) this.#skipStored();
		else if (kind === 1) this.#readCodes(fixedCodes, fixedDistances);
		else if (kind === 2) this.#readDynamic();
		else throw new EndOfData();
		return !isLast;
	}

	#bits(count: number): number {
		let value = 0;
		for (let index = 0; index < count; index++) value |= this.#next() << index;
		return value;
	}

	#next(): number {
		const byte = this.packed[this.#at];
		if (byte === undefined) throw new EndOfData();
		const bit = (byte >> this.#bit) & 1;
		this.#bit = (this.#bit + 1) & 7;
		if (this.#bit === 0) this.#at++;
		return bit;
	}

	#skipStored(): void {
		if (this.#bit > 0) this.#at++;
		this.#bit = 0;
		const length = this.#bits(16);
		// The same number again, turned around.
		if (this.#bits(16) !== (length ^ 0xffff)) throw new EndOfData();
		this.#at += length;
		this.#length += Math.min(length, Math.max(0, length - (this.#at - this.packed.length)));
	}

	#readDynamic(): void {
		this.tables++;
		const [codes, distances, lengths] = [257 + this.#bits(5), 1 + this.#bits(5), 4 + this.#bits(4)];
		const ofLengths = new Uint8Array(19);
		for (const symbol of lengthOrder.slice(0, lengths)) ofLengths[symbol] = this.#bits(3);
		const code = new Code(ofLengths);
		const all = new Uint8Array(codes + distances);
		for (let index = 0; index < all.length; ) {
			const symbol = this.#symbol(code);
			if (symbol < 16) all[index++] = symbol;
			else if (symbol === 16) {
				const before = all[index - 1];
				if (before === undefined) throw new EndOfData();
				const times = 3 + this.#bits(2);
				all.fill(before, index, index + times);
				index += times;
			} else index += symbol === 17 ? 3 + this.#bits(3) : 11 + this.#bits(7);
		}
		this.#readCodes(new Code(all.subarray(0, codes)), new Code(all.subarray(codes)));
	}

	#readCodes(codes: Code, distances: Code): void {
		for (;;) {
			const symbol = this.#symbol(codes);
			if (symbol === endOfBlock) return;
			if (symbol < endOfBlock) this.#length++;
			else {
				const place = symbol - endOfBlock - 1;
				this.#length += (repeats[place] ?? 0) + this.#bits(repeatBits[place] ?? 0);
				// How far back does not matter.
				this.#bits(Math.max(0, (this.#symbol(distances) >> 1) - 1));
			}
		}
	}

	/** Bit by bit, without tables, as codes of one length follow each other. */
	#symbol({ counts, symbols }: Code): number {
		let [code, first, index] = [0, 0, 0];
		for (let length = 1; length <= maxCodeBits; length++) {
			code |= this.#next();
			const count = counts[length] ?? 0;
			if (code - count < first) return symbols[index + code - first] ?? endOfBlock;
			index += count;
			first = (first + count) << 1;
			code <<= 1;
		}
		throw new EndOfData();
	}
}

/** A Huffman code, by the number of bits that each symbol has. */
class Code {
	/** How many symbols have so many bits. */
	readonly counts = new Uint16Array(maxCodeBits + 1);
	/** The symbols in the order of their codes, those with few bits first. */
	readonly symbols: Uint16Array;

	constructor(lengths: Uint8Array) {
		for (const length of lengths) this.counts[length] = (this.counts[length] ?? 0) + 1;
		this.counts[0] = 0;
		const places = new Uint16Array(maxCodeBits + 2);
		for (let length = 1; length <= maxCodeBits; length++)
			places[length + 1] = (places[length] ?? 0) + (this.counts[length] ?? 0);
		this.symbols = new Uint16Array(places[maxCodeBits + 1] ?? 0);
		for (const [symbol, length] of lengths.entries()) {
			if (length === 0) continue;
			const place = places[length] ?? 0;
			this.symbols[place] = symbol;
			places[length] = place + 1;
		}
	}
}

/** The codes of a block that brings none of its own (RFC 1951, 3.2.6). */
const fixedCodes = new Code(
	Uint8Array.from({ length: 288 }, (_, symbol) => (symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8)),
);
const fixedDistances = new Code(new Uint8Array(30).fill(5));
