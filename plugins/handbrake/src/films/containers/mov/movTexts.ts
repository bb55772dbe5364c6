import { isTechnical } from '../../texts/texts.js';
import type { Findings, Scanner } from '../reading/scanner.js';

/** The most bytes of a text that are compared, and of a list of names. */
const maxText = 2000;
const maxKeys = 2 ** 16;
/** Of names; a film has some dozens. */
const maxNames = 1000;

/** What programs write of themselves, in as many places as they like, where it has no name for people. */
const technical: ReadonlySet<string> = new Set(['\xa9too', '\xa9swr', '\xa9enc', '\xa9fmt']);

/** FFmpeg writes the comment of a MOV by this name as well, by which ffprobe prints nothing. */
const [repeated, comment] = ['\xa9des', '\xa9cmt'];

/** Items that are several pictures. */
const pictures = 'covr';
const named = '----';

/** The box of a text in a list of them, from the first byte of its content to behind the last one. */
interface TextBox {
	name: string;
	parent: 'udta' | 'ilst';
	at: number;
	end: number;
}

/**
 * The texts of an MP4 or MOV that ffprobe prints by their names: one of each name, and one value of each. Others are added to what no
 * program reads.
 */
export class PrintedTexts {
	readonly #scanner: Scanner;
	readonly #found: Findings;
	/** Of the film, and of the track in which the walker is. */
	readonly #film = new Map<string, string>();
	#values = this.#film;
	/** Names of items that are numbered, by their numbers. */
	#keys: string[] = [];
	#count = 0;

	constructor(scanner: Scanner, found: Findings) {
		this.#scanner = scanner;
		this.#found = found;
	}

	/** Is called before the boxes of each track, and behind them. */
	begin(): void {
		this.#values = new Map();
	}
	end(): void {
		this.finish();
		this.#values = this.#film;
	}

	/** Is called behind all boxes. */
	finish(): void {
		const text = this.#values.get(repeated);
		if (text !== undefined && text !== this.#values.get(comment)) this.#found.addUnread(repeated);
	}

	/** Takes the list of names of the items that follow. */
	async takeKeys(at: number, end: number): Promise<void> {
		const bytes = await this.#scanner.text(at, Math.min(end - at, maxKeys));
		this.#keys = [''];
		for (let next = 8; next + 8 <= bytes.length; ) {
			const length = bytes.readUInt32BE(next);
			if (length < 8) return;
			this.#keys.push(bytes.toString('latin1', next + 8, Math.min(next + length, next + 8 + maxText)));
			next += length;
		}
	}

	/** Is called with each text, in the order of the file. */
	async take({ name, parent, at, end }: TextBox): Promise<void> {
		const head = await this.#scanner.bytes(at, Math.min(end - at, 8));
		// Some programs write items into the list without numbers.
		const isItem = parent === 'ilst' || head.toString('latin1', 4) === 'data';
		if (isItem) await this.#takeItem(name, at, end);
		else if (name.startsWith('\xa9')) await this.#takeLanguages(name, at, end);
		else this.#add(name, await this.#textAt(at, end));
	}

	/** Takes a text in several languages, each with its length and number before it: ffprobe prints the first one. */
	async #takeLanguages(name: string, at: number, end: number): Promise<void> {
		const head = await this.#scanner.bytes(at, 4);
		// The file may be cut off here.
		if (head.length < 4) return;
		const behind = at + 4 + head.readUInt16BE();
		this.#add(name, await this.#textAt(at + 4, Math.min(end, behind)));
		if (behind < end && (await this.#scanner.hasData(behind, end)))
			this.#found.addUnread(`several languages of ${name}`);
	}

	/** Boxes: the name of some items, and values, of which ffprobe prints the first one. */
	async #takeItem(name: string, at: number, end: number): Promise<void> {
		let label = name.startsWith('\0') ? (this.#keys[Buffer.from(name, 'latin1').readUInt32BE()] ?? name) : name;
		let values = 0;
		for (let next = at; next + 8 <= end; ) {
			if (!(await this.#scanner.mayStep())) return;
			const head = await this.#scanner.bytes(next, 8);
			const length = head.length < 8 ? 0 : head.readUInt32BE();
			if (length < 8) break;
			const kind = head.toString('latin1', 4);
			const behind = Math.min(end, next + length);
			if (kind === 'name' && name === named) label = `${named} ${await this.#textAt(next + 12, behind)}`;
			if (kind === 'data' && ++values === 1 && name !== pictures)
				this.#add(label, await this.#textAt(next + 16, behind));
			next += length;
		}
		if (values > 1 && name !== pictures)
			this.#found.addUnread(`several ${name.startsWith('\0') ? 'values of a key' : unprefixed(label)}`);
	}

	async #textAt(at: number, end: number): Promise<string> {
		if (at >= end) return '';
		const text = (await this.#scanner.text(at, Math.min(end - at, maxText))).toString('latin1');
		return end - at > maxText ? `${end - at} ${text}` : text;
	}

	#add(name: string, text: string): void {
		const value = text.replaceAll('\0', ' ').trim();
		if (value === '' || technical.has(name) || isTechnical(unprefixed(name), 'mov')) return;
		const before = this.#values.get(name);
		if (before !== undefined && before !== value) this.#found.addUnread(`several ${unprefixed(name)}`);
		if (before !== undefined) return;
		if (this.#count++ === maxNames) this.#found.addUnread('more texts than any film has');
		if (this.#count <= maxNames) this.#values.set(name, value);
	}
}

/** The name of an item without that of the boxes of items that have one. */
const unprefixed = (label: string) => label.replace(`${named} `, '');
