import { keptName } from '../../texts/names.js';
import { maxNameOfProgram, Padding } from './padding.js';
import type { ReadAt } from './readAt.js';
import { rest, stepsOfTurn } from './rest.js';

/** What a walker finds in a container that neither ffprobe nor HandBrake reads. */
export interface Contents {
	/** The names of the texts for people. */
	texts: ReadonlySet<string>;
	/** Whether a track is encrypted, of which decoders may say nothing: noise is sound, too. */
	isEncrypted: boolean;
	/** The files in it, such as fonts, and how many bytes they have together. */
	attached: Readonly<{ count: number; bytes: number }>;
	/** Whether a picture of a Matroska file has additions, such as its transparency. */
	hasAdditions: boolean;
	/** The names of parts that no program here knows, such as the positions of a dashboard camera. */
	unread: ReadonlySet<string>;
	/** How many frames of each track have no content, by the index of its stream: in an AVI the one before is shown for longer. */
	emptyFrames: ReadonlyMap<number, number>;
	/** How many tracks of data have nothing that anybody misses. */
	spareTracks: number;
}

/** Whoever made the film chose how many there are. */
const maxNames = 100;

/** What a walker has found so far. */
export class Findings implements Contents {
	readonly #texts = new Set<string>();
	readonly #unread = new Set<string>();
	readonly texts: ReadonlySet<string> = this.#texts;
	readonly unread: ReadonlySet<string> = this.#unread;
	readonly emptyFrames = new Map<number, number>();
	isEncrypted = false;
	readonly attached = { count: 0, bytes: 0 };
	hasAdditions = false;
	spareTracks = 0;

	/** Adds the name of a text for people. */
	addText(name: string): void {
		if (this.#texts.size < maxNames) this.#texts.add(keptName(name));
	}

	/** Adds a part that no program here knows. */
	addUnread(name: string): void {
		if (this.#unread.size < maxNames) this.#unread.add(keptName(name).replace(/[^ -~\xa9]/g, '?'));
	}
}

/** What a container says of pictures of which a part is not shown, for people. */
export const partOfPictures = 'a crop of its pictures';

/** Heads are read with so much behind them, and what is longer is passed over. */
const windowBytes = 2 ** 16;
/** To look for another value in so much takes as long as a step. */
const bytesOfStep = 2 ** 12;

/** The heads of the packets of ten hours of film with several tracks of sound are fewer. */
const mostSteps = 10_000_000;

/** To look through so much of a text takes as long as a step. */
const textBytesOfStep = 64;

/** Reads a file in steps, from its beginning to its end, while others are served. */
export class Scanner {
	readonly #readAt: ReadAt;
	readonly #signal: AbortSignal;
	readonly #maxSteps: number;
	#steps = 0;
	#window: Buffer = Buffer.alloc(0);
	#windowAt = 0;

	/** Scanners of one film have its `padding` in common. */
	constructor(
		readAt: ReadAt,
		signal: AbortSignal,
		maxSteps = mostSteps,
		readonly padding = new Padding(),
	) {
		this.#readAt = readAt;
		this.#signal = signal;
		this.#maxSteps = maxSteps;
	}

	/** The bytes from a place of the file on; fewer at its end, and none behind it, where a part of an impossible length ends. */
	async bytes(at: number, length: number): Promise<Buffer> {
		if (!Number.isSafeInteger(at)) return Buffer.alloc(0);
		const isWithin = at >= this.#windowAt && at + length <= this.#windowAt + this.#window.length;
		if (!isWithin) {
			const read = await this.#readAt(at, Math.max(length, windowBytes));
			this.#window = Buffer.from(read.buffer, read.byteOffset, read.length);
			this.#windowAt = at;
		}
		return this.#window.subarray(at - this.#windowAt, at - this.#windowAt + length);
	}

	/** The bytes of a text: it counts as the steps that it takes to look through them. */
	async text(at: number, length: number): Promise<Buffer> {
		await this.mayStep(Math.ceil(length / textBytesOfStep));
		return this.bytes(at, length);
	}

	/** Is asked before each head, or before so many at once. False once there are more than any film has. */
	async mayStep(steps = 1): Promise<boolean> {
		const before = this.#steps;
		this.#steps += steps;
		this.#signal.throwIfAborted();
		if (Math.floor(before / stepsOfTurn) !== Math.floor(this.#steps / stepsOfTurn)) await rest(this.#signal);
		return this.#steps <= this.#maxSteps;
	}

	/** Whether anything but zeros follows, up to a place or the end of the file. */
	async hasData(from: number, to = Number.POSITIVE_INFINITY): Promise<boolean> {
		for (let at = from; at < to; at += windowBytes) {
			const length = Math.min(to - at, windowBytes);
			await this.mayStep(Math.ceil(length / bytesOfStep));
			const bytes = await this.bytes(at, length);
			if (bytes.some((byte) => byte !== 0)) return true;
			if (bytes.length < windowBytes) return false;
		}
		return false;
	}

	/**
	 * Looks through padding. Resolves to whether it has data, wherever in it: more than the name of a program and one value again and again,
	 * together with all padding before. So counts also what is longer than any film's.
	 */
	async takePadding(from: number, length: number): Promise<boolean> {
		const name = this.padding.takeName(await this.bytes(from, Math.min(length, maxNameOfProgram)));
		let value: number | undefined;
		for (let at = from + name; at < from + length; at += windowBytes) {
			const part = Math.min(from + length - at, windowBytes);
			if (!(await this.mayStep(Math.ceil(part / bytesOfStep)))) return true;
			const bytes = await this.bytes(at, part);
			value ??= bytes.at(-1);
			if (this.padding.take(bytes, value)) return true;
			if (bytes.length < windowBytes) return false;
		}
		return false;
	}
}
