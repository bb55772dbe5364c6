import { ReadsTooMuch } from '../bytes/rangedBlob.js';

/**
 * Audiobooks have two for each of some hundred chapters. Browsers compare the name of each tag with all before it: of
 * 50,000 (600 kB) they read for 20 s, of 5,000 for a fifth of a second.
 */
const maxTags = 5000;

/**
 * A film of ten hours has 2 million pictures, and 1.7 million pieces of each sound. For so many a browser takes 0.4 GB of the memory of
 * the page.
 */
const maxSamples = 10_000_000;

/**
 * How often the bytes of a file are looked at, on average: the lengths of its parts may lead into each other, each to the end of the file.
 * What is read twice by the formats are some heads and texts.
 */
const maxLooks = 4;

/** Bytes that may be looked at in the smallest file, and in the largest, of which most is never read. */
const leastExamined = 1024 * 1024;
const mostExamined = 64 * 1024 * 1024;

/** How many bytes of the file are read and kept at once. */
const windowBytes = 8 * 1024;

/** A file has more tags, or samples, than any song or film. */
export class TooManyTags extends Error {}

/** The bytes of a file for those who count its tags, and the count. */
export class TagReader {
	#count = 0;
	#samples = 0;
	#examined = 0;
	#window: { at: number; bytes: Uint8Array } | undefined;

	/** `onFragments` is called once a film has so many fragments that nothing else is expected in it. */
	constructor(
		readonly file: Blob,
		readonly onFragments: () => void = () => {},
	) {}

	get size(): number {
		return this.file.size;
	}

	/** Counts something with a name; throws `TooManyTags` beyond the bound. */
	add(tags = 1): void {
		this.#count += tags;
		if (this.#count > maxTags) throw new TooManyTags();
	}

	/** Counts pictures and pieces of sound; throws `TooManyTags` beyond their bound. */
	addSamples(samples: number): void {
		this.#samples += samples;
		if (this.#samples > maxSamples) throw new TooManyTags();
	}

	/** Fewer bytes than asked for where the file ends. Throws `ReadsTooMuch` once the same ones have been asked for too often. */
	async bytes(at: number, length: number): Promise<Uint8Array> {
		this.#examined += Math.max(0, Math.min(length, this.size - at));
		if (this.#examined > Math.min(mostExamined, maxLooks * this.size + leastExamined)) throw new ReadsTooMuch();
		const begin = at - (at % windowBytes);
		if (at + length > begin + windowBytes) return this.#read(at, length);
		if (this.#window?.at !== begin) this.#window = { at: begin, bytes: await this.#read(begin, windowBytes) };
		return this.#window.bytes.subarray(at - begin, at - begin + length);
	}

	async #read(at: number, length: number): Promise<Uint8Array> {
		return new Uint8Array(await this.file.slice(at, at + length).arrayBuffer());
	}

	async view(at: number, length: number): Promise<DataView> {
		const bytes = new Uint8Array(length);
		bytes.set(await this.bytes(at, length));
		return new DataView(bytes.buffer);
	}

	async text(at: number, length: number): Promise<string> {
		return String.fromCharCode(...(await this.bytes(at, length)));
	}
}
