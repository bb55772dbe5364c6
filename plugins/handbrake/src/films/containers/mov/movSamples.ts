import type { ReadAt } from '../reading/readAt.js';
import { Scanner } from '../reading/scanner.js';
import { isPadding, takePaddingBox } from './movPadding.js';
import { NamedBytes } from './namedBytes.js';

/** A box, and where its content begins. */
export interface Box {
	name: string;
	/** The box in which it is; `''` for the file. */
	parent: string;
	at: number;
	content: number;
	end: number;
}

/** Of tables as much is read at once. */
const windowBytes = 2 ** 16;
/** As many numbers are added up in the time of a step. */
const numbersOfStep = 16;
/** To look into a gap takes as long as so many steps. */
const stepsOfGap = 64;
/** Programs make no shorter ones that are not empty. All together may have so much. */
const shortGap = 100;
const mostOfShortGaps = 4096;
const maxTracks = 10_000;

/** The tables of a track. */
interface Track {
	isSound: boolean;
	tables: Map<string, Box>;
}

const tableNames: ReadonlySet<string> = new Set(['stsd', 'stsc', 'stsz', 'stz2', 'stco', 'co64']);

/** What is in `mdat` where a recorder has written fragments first, and an index of them all once it was ended. */
const ofFragments: ReadonlySet<string> = new Set(['ftyp', 'styp', 'moov', 'moof', 'mfra', 'sidx', 'prft']);

/**
 * Which bytes of the media (`mdat`) of an MP4 or MOV are a sample of a track. Other ones are read by no program but those of who has put
 * them there, such as the positions that dashboard cameras write between the samples.
 */
export class MovSamples {
	readonly #scanner: Scanner;
	readonly #tables: Scanner;
	readonly #gaps: Scanner;
	readonly #named = new NamedBytes();
	readonly #tracks: Track[] = [];
	/** The sizes that samples of fragments have by default, by the numbers of tracks. */
	readonly #defaults = new Map<number, number>();
	#fragment = { begin: 0, base: 0, end: 0, size: 0 };
	#mediaEnd = 0;
	#areKnown = true;

	/** `scanner` is that of who finds the boxes. */
	constructor(readAt: ReadAt, signal: AbortSignal, scanner: Scanner) {
		this.#scanner = scanner;
		this.#tables = new Scanner(readAt, signal);
		this.#gaps = new Scanner(readAt, signal, undefined, scanner.padding);
	}

	/** Is called with each box, in the order of the file, before those that are in it. */
	async take(box: Box): Promise<void> {
		const { name, parent, at, content, end } = box;
		if (parent === '') {
			// All but media is judged by its box.
			this.#named.add(at, (name === 'mdat' ? content : end) - at);
			if (name === 'mdat') this.#mediaEnd = end;
			if (name === 'moof') this.#fragment = { begin: at, base: at, end: at, size: 0 };
		} else if (name === 'trak') {
			this.#tracks.push({ isSound: false, tables: new Map() });
			this.#areKnown &&= this.#tracks.length <= maxTracks;
		} else if (name === 'smhd') {
			const track = this.#tracks.at(-1);
			if (track !== undefined) track.isSound = true;
		} else if (tableNames.has(name)) this.#tracks.at(-1)?.tables.set(name, box);
		else if (name === 'trex') await this.#takeDefaults(content, end);
		else if (name === 'tfhd') await this.#takeFragment(content, end);
		else if (name === 'trun') await this.#takeRun(content, end);
	}

	/** Whether there is anything but padding in no sample, once all boxes were taken. Undefined if that can't be known. */
	async haveOthers(): Promise<boolean | undefined> {
		for (const track of this.#tracks) if (this.#areKnown) await this.#nameSamples(track);
		if (!this.#areKnown || !this.#named.areKnown) return undefined;
		let shortBytes = 0;
		for await (const gap of this.#named.gaps(this.#mediaEnd, this.#gaps)) {
			if (!(await this.#gaps.mayStep(stepsOfGap))) return undefined;
			const used = await this.#usedBytes(gap.from, gap.to);
			if (used > shortGap) return true;
			shortBytes += used;
			if (shortBytes > mostOfShortGaps) return true;
		}
		return false;
	}

	/** How many bytes are no padding; of more than `shortGap` it says only that they are more. */
	async #usedBytes(from: number, to: number): Promise<number> {
		let at = from;
		while (at + 8 <= to && (await this.#gaps.mayStep())) {
			const head = await this.#gaps.bytes(at, 16);
			if (head.length < 16) break;
			const name = head.toString('latin1', 4, 8);
			const isLong = head.readUInt32BE() === 1;
			const length = isLong ? Number(head.readBigUInt64BE(8)) : head.readUInt32BE();
			const content = at + (isLong ? 16 : 8);
			if (name === 'mdat') at = content;
			else if (at + length < content || at + length > to) break;
			else if (isPadding(name)) {
				if (await takePaddingBox(this.#gaps, content, at + length)) return shortGap + 1;
				at += length;
			} else if (ofFragments.has(name)) at += length;
			else break;
		}
		if (at >= to) return 0;
		if (to - at > shortGap) return (await this.#gaps.takePadding(at, to - at)) ? shortGap + 1 : 0;
		const rest = await this.#gaps.bytes(at, to - at);
		return rest.some((byte) => byte !== rest[0]) ? rest.length : 0;
	}

	async #nameSamples({ isSound, tables }: Track): Promise<void> {
		const runs = await this.#numbersOf(tables.get('stsc'), 4, { each: 3 });
		const offsets = await this.#offsetsOf(tables);
		const sizes = await this.#sizesOf(tables, isSound);
		// A track of fragments has tables without entries.
		if (runs === undefined || offsets === undefined || sizes === undefined) return;
		const readRun = async () => {
			const [first, samples] = [await runs.next(), await runs.next()];
			await runs.next();
			return first === undefined || samples === undefined ? undefined : { first, samples };
		};
		let samples = 0;
		let following = await readRun();
		for (let number = 1; this.#named.areKnown && this.#areKnown; number++) {
			const offset = await offsets.next();
			if (offset === undefined) return;
			this.#areKnown &&= await this.#tables.mayStep();
			while (following !== undefined && following.first <= number) {
				samples = following.samples;
				following = await readRun();
			}
			this.#named.add(offset, await sizes.sum(samples));
		}
	}

	#offsetsOf(tables: Track['tables']): Promise<Numbers | undefined> {
		const long = tables.get('co64');
		return long === undefined ? this.#numbersOf(tables.get('stco'), 4) : this.#numbersOf(long, 8);
	}

	/** The numbers of a table behind how many entries it has, each of which may be several. */
	async #numbersOf(box: Box | undefined, bytes: number, { countAt = 4, each = 1 } = {}): Promise<Numbers | undefined> {
		if (box === undefined) return undefined;
		const from = box.content + countAt;
		const head = await this.#tables.bytes(from, 4);
		if (head.length < 4) return undefined;
		const end = Math.min(box.end, from + 4 + head.readUInt32BE() * each * bytes);
		return new Numbers(this.#tables, from + 4, end, bytes, () => {
			this.#areKnown = false;
		});
	}

	async #sizesOf(tables: Track['tables'], isSound: boolean): Promise<Pick<Numbers, 'sum'> | undefined> {
		const [plain, compact] = [tables.get('stsz'), tables.get('stz2')];
		if (plain === undefined && compact === undefined) return undefined;
		const head = await this.#tables.bytes((plain ?? compact)?.content ?? 0, 12);
		if (head.length < 12) return undefined;
		if (plain === undefined) {
			const bits = head.readUInt8(7);
			if (bits === 8 || bits === 16) return this.#numbersOf(compact, bits / 8, { countAt: 8 });
			this.#areKnown = false;
			return undefined;
		}
		const size = head.readUInt32BE(4);
		if (size === 0) return this.#numbersOf(plain, 4, { countAt: 8 });
		const sampleBytes = Math.max(size, isSound ? await this.#soundBytes(tables.get('stsd')) : 0);
		return { sum: async (count) => Math.ceil(count * sampleBytes) };
	}

	/** The bytes of a sample of sound by its description: those of QuickTime say another size in their table. */
	async #soundBytes(description: Box | undefined): Promise<number> {
		const entry = await this.#tables.bytes((description?.content ?? 0) + 8, 76);
		if (description === undefined || entry.length < 76) return 0;
		const version = entry.readUInt16BE(16);
		// What else the largest description has is in boxes.
		if (version === 2) return share(entry.readUInt32BE(64), entry.readUInt32BE(68));
		const ofPacket = version === 1 ? share(entry.readUInt32BE(44), entry.readUInt32BE(36)) : 0;
		// Whose descriptions say what they are decoded to.
		const isHalved = /^[au]law$/.test(entry.toString('latin1', 4, 8));
		return ofPacket || (entry.readUInt16BE(24) * (isHalved ? 8 : entry.readUInt16BE(26))) / 8;
	}

	async #takeDefaults(content: number, end: number): Promise<void> {
		const bytes = await this.#scanner.bytes(content, 24);
		if (bytes.length < 24 || content + 24 > end || this.#defaults.size >= maxTracks) return;
		this.#defaults.set(bytes.readUInt32BE(4), bytes.readUInt32BE(16));
	}

	async #takeFragment(content: number, end: number): Promise<void> {
		const bytes = await this.#scanner.bytes(content, Math.min(end - content, 32));
		if (bytes.length < 8) return;
		const flags = bytes.readUInt32BE();
		const { begin, end: last } = this.#fragment;
		let at = 8;
		const skip = (flag: number, length: number) => {
			if ((flags & flag) === 0 || at + length > bytes.length) return undefined;
			at += length;
			return at - length;
		};
		const baseAt = skip(1, 8);
		skip(2, 4);
		skip(8, 4);
		const sizeAt = skip(0x10, 4);
		const implied = (flags & 0x20000) !== 0 ? begin : last;
		const base = baseAt === undefined ? implied : Number(bytes.readBigUInt64BE(baseAt));
		const size = sizeAt === undefined ? (this.#defaults.get(bytes.readUInt32BE(4)) ?? 0) : bytes.readUInt32BE(sizeAt);
		this.#fragment = { begin, base, end: base, size };
	}

	async #takeRun(content: number, end: number): Promise<void> {
		const head = await this.#scanner.bytes(content, 12);
		if (head.length < 8) return;
		const [flags, count] = [head.readUInt32BE(), head.readUInt32BE(4)];
		const hasOffset = (flags & 1) !== 0 && head.length === 12;
		const from = hasOffset ? this.#fragment.base + head.readInt32BE(8) : this.#fragment.end;
		const entries = content + 8 + (hasOffset ? 4 : 0) + ((flags & 4) === 0 ? 0 : 4);
		const fields = [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0);
		const sizeAt = fields.indexOf(0x200) * 4;
		const total =
			sizeAt < 0 ? count * this.#fragment.size : await this.#sum(entries, end, count, fields.length * 4, sizeAt);
		this.#named.add(from, total);
		this.#fragment.end = from + total;
	}

	/** The sum of one number of each entry. */
	async #sum(from: number, end: number, count: number, stride: number, offset: number): Promise<number> {
		const perWindow = Math.floor(windowBytes / stride);
		let total = 0;
		for (let left = Math.min(count, Math.floor((end - from) / stride)), at = from; left > 0; left -= perWindow) {
			const entries = Math.min(left, perWindow);
			if (!(await this.#scanner.mayStep(Math.ceil(entries / numbersOfStep)))) return total;
			const bytes = await this.#scanner.bytes(at, entries * stride);
			for (let n = offset; n + 4 <= bytes.length; n += stride) total += bytes.readUInt32BE(n);
			if (bytes.length < entries * stride) return total;
			at += bytes.length;
		}
		return total;
	}
}

/** The numbers of a table, one after another. */
class Numbers {
	#window: Buffer = Buffer.alloc(0);
	#read = 0;
	#at: number;

	constructor(
		readonly scanner: Scanner,
		at: number,
		readonly end: number,
		readonly bytes: number,
		readonly onTooMany: () => void,
	) {
		this.#at = at;
	}

	/** The next number; undefined behind the last one. */
	async next(): Promise<number | undefined> {
		return (await this.#fill()) ? this.#take() : undefined;
	}

	/** The sum of the next ones. */
	async sum(count: number): Promise<number> {
		let total = 0;
		for (let left = count; left > 0 && (await this.#fill()); ) {
			for (; left > 0 && this.#read < this.#window.length; left--) total += this.#take();
		}
		return total;
	}

	#take(): number {
		const { bytes } = this;
		const [window, at] = [this.#window, this.#read];
		this.#read += bytes;
		return bytes === 8 ? Number(window.readBigUInt64BE(at)) : window.readUIntBE(at, bytes);
	}

	/** Whether there is another one. */
	async #fill(): Promise<boolean> {
		if (this.#read < this.#window.length) return true;
		const { scanner, bytes, end } = this;
		const length = Math.min(windowBytes, end - this.#at);
		if (length < bytes) return false;
		if (!(await scanner.mayStep(Math.ceil(length / bytes / numbersOfStep)))) {
			this.onTooMany();
			return false;
		}
		const read = await scanner.bytes(this.#at, length);
		this.#window = read.subarray(0, read.length - (read.length % bytes));
		this.#read = 0;
		this.#at += this.#window.length;
		return this.#window.length > 0;
	}
}

const share = (bytes: number, among: number) => (among === 0 ? 0 : bytes / among);
