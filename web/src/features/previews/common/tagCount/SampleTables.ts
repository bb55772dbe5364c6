import type { TagReader } from './TagReader.js';

/** Sound without compression, whose samples a browser keeps by the chunk: an hour of it has more than any film. */
const plainSounds: ReadonlySet<string> = new Set([
	...['raw ', 'NONE', 'twos', 'sowt', 'in24', 'in32', 'fl32', 'fl64', 'lpcm', 'ipcm', 'fpcm', 'ulaw', 'alaw', 'ima4'],
]);

/** Runs of chunks of one length, which sound without compression has few of. */
const maxChunkRuns = 10_000;

/** The fewest samples of a chunk that are kept as one. */
const samplesTogether = 160;

/**
 * How many samples a track has by its tables. A browser lists all of them as it opens the file, whose number takes four bytes, and again
 * for each part of an edit.
 */
export class SampleTables {
	/** The samples of all tables, any of which a browser may take. */
	#samples = 0;
	#edits = 0;
	#chunks = 0;
	#longestChunk = 0;
	readonly #sounds: boolean[] = [];
	readonly #handlers: string[] = [];
	readonly #times: boolean[] = [];

	constructor(readonly reader: TagReader) {}

	/** Reads what one of the boxes of a track says of its samples; others say nothing. */
	async read(name: string, begin: number, end: number): Promise<void> {
		const number = async (at: number) =>
			begin + at + 4 <= end ? (await this.reader.view(begin + at, 4)).getUint32(0) : 0;
		/** As many of the announced entries as fit into the box, of so many bytes each. */
		const fitting = (announced: number, bytes: number) => Math.min(announced, Math.ceil((end - begin) / bytes));
		if (name === 'hdlr') this.#handlers.push(await this.reader.text(begin + 8, 4));
		else if (name === 'stsd') {
			const type = await this.reader.text(begin + 12, 4);
			this.#sounds.push((await number(4)) === 1 && plainSounds.has(type));
		} else if (name === 'stts') this.#times.push((await number(4)) === 1 && (await number(12)) === 1);
		else if (name === 'stsz') this.#samples += (await number(4)) > 0 ? await number(8) : fitting(await number(8), 4);
		else if (name === 'stz2') this.#samples += fitting(await number(8), 0.5);
		else if (name === 'stco' || name === 'co64') this.#chunks += fitting(await number(4), 4);
		else if (name === 'elst') this.#edits += fitting(await number(4), 12);
		else if (name === 'stsc') await this.#readChunks(begin, fitting(await number(4), 12));
	}

	async #readChunks(begin: number, count: number): Promise<void> {
		// A longer one is not worth reading.
		if (count > maxChunkRuns) {
			this.#longestChunk = 2 ** 32;
			return;
		}
		const entries = await this.reader.view(begin + 8, 12 * count);
		for (let at = 4; at < entries.byteLength; at += 12)
			this.#longestChunk = Math.max(this.#longestChunk, entries.getUint32(at));
	}

	/** Counts them, once all is read; throws `TooManyTags` where the file has more than any film. */
	count(): void {
		const kept = this.#isPlainSound() ? this.#chunks * Math.ceil(this.#longestChunk / samplesTogether) : this.#samples;
		// Behind an empty one, by which many films begin, there is the one of the film.
		this.reader.addSamples(kept * Math.max(1, this.#edits - 1));
	}

	#isPlainSound(): boolean {
		const isSound =
			this.#handlers.includes('soun') &&
			this.#handlers.every((handler) => /^(?:soun|alis|url |mdir|mdta)$/.test(handler));
		const isOnly = (each: readonly boolean[]) => each.length === 1 && each[0] === true;
		return isSound && isOnly(this.#sounds) && isOnly(this.#times);
	}
}
