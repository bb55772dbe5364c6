import { type ReadAt, readerOf } from '../reading/readAt.js';
import { type Contents, Findings, partOfPictures, Scanner } from '../reading/scanner.js';
import { elementAt, elementsIn, maxHead, numberAt, TooMany } from './ebml.js';
import { MatroskaTags } from './matroskaTags.js';
import { MatroskaTracks } from './matroskaTracks.js';

/** Elements are known by their ids, which are written here as they are in the file. */
type Id = number;

const ids = (text: string): ReadonlySet<Id> => new Set(text.split(' ').map((id) => Number.parseInt(id, 16)));

const [crc, filler] = [0xbf, 0xec];
const [info, tracks, chapters, tags, attachments] = [0x1549a966, 0x1654ae6b, 0x1043a770, 0x1254c367, 0x1941a469];
const [track, mapping, mappingType] = [0xae, 0x41e4, 0x41e7];
const [edition, atom, display, isOrdered] = [0x45b9, 0xb6, 0x80, 0x45dd];
const [tag, targets, text] = [0x7373, 0x63c0, 0x67c8];
const [attachment, fileData] = [0x61a7, 0x465c];
const additions = 0x75a1;
const [pictures, cropped] = [0xe0, new Set([0x54aa, 0x54bb, 0x54cc, 0x54dd])];

/**
 * What is not read to its end before what follows: the film, its clusters and groups of blocks may say no length. Their elements have
 * ids of their own.
 */
const open = ids('18538067 1f43b675 a0');
const blocks = ids('a3 a1');

/**
 * Elements of which no film loses anything, or that ffprobe reads: the header of the file, indexes, and in clusters times and the blocks
 * themselves. Those that are read here have lists of their own.
 */
const knownInFilm = ids(
	'1a45dfa3 114d9b74 1c53bb6b e7 5854 a7 ab a3 a1 9b fa fb fd a4 75a2 8e c8 1549a966 1654ae6b 1043a770 1254c367 1941a469',
);

/** The elements in which others are read, with those that are known in them. */
const known: ReadonlyMap<Id, ReadonlySet<Id>> = new Map([
	// The id and name of the file, times, title and programs.
	[info, ids('73a4 7384 2ad7b1 4489 4461 7ba9 4d80 5741 4444 6924')],
	[tracks, ids('ae')],
	[
		track,
		ids(
			'd7 73c5 83 b9 88 55aa 55ab 55ac 55ad 55ae 55af 9c 6de7 6df8 23e383 234e7a 23314f 537f 55ee 41e4 536e 22b59c 22b59d ' +
				'86 63a2 258688 7446 3a9697 3b4040 26b240 aa 6fab 56aa 56bb 6624 e0 e1 6d80 c0 c1 c6 c7 c4',
		),
	],
	[mapping, ids('41f0 41a4 41e7 41ed')],
	[chapters, ids('45b9')],
	[edition, ids('45bc 45bd 45db 45dd b6')],
	[atom, ids('73c4 5654 91 92 98 4598 63c3 8f 80')],
	[display, ids('85 437c 437d 437e')],
	[tags, ids('7373')],
	[tag, ids('63c0 67c8')],
	// Of a track or the film: chapters, editions and attachments lose theirs.
	[targets, ids('68ca 63ca 63c5')],
	[text, ids('45a3 447a 447b 4484 44b4 4487 67c8')],
	[attachments, ids('61a7')],
	[attachment, ids('467e 466e 4660 465c 46ae')],
]);

/** Names of elements for people. */
const names: ReadonlyMap<Id, string> = new Map([
	[atom, 'chapters within chapters'],
	[additions, 'additions to its pictures or subtitles'],
	[0x4485, 'binary tags'],
	[0x63c4, 'tags of chapters'],
	[0x63c9, 'tags of chapters'],
	[0x63c6, 'tags of attachments'],
	[0x6e67, 'chapters of other files'],
	[0x6944, 'commands of chapters'],
	[0xe2, 'tracks that are made of others'],
	[0xaf, 'encrypted blocks'],
	[filler, 'Void'],
]);

/** The settings of Dolby Vision, which ffprobe reads. */
const knownMappings: ReadonlySet<number> = new Set([0x64766343, 0x64767643, 0x68766345]);

/** Of what a program that writes tags anew has declared to be free: names, texts, places, times and links of elements. */
const remains = ['4dbb', '53ab', '7373', '67c8', '45a3', '4487', '63c0', '2ad7b1', '4d80', '5741'].map((id) =>
	Buffer.from(id, 'hex'),
);
const sampleBytes = 4096;

/** ffprobe reads none that are deeper. */
const maxDepth = 16;

/** What the elements of a Matroska file have that neither ffprobe nor HandBrake reads. Undefined if that can't be known. */
export async function matroskaElements(readAt: ReadAt, signal: AbortSignal): Promise<Contents | undefined> {
	const found = new Findings();
	try {
		await new Walker(new Scanner(readAt, signal), found).walkFilm();
		return found;
	} catch (error) {
		if (error instanceof TooMany) return undefined;
		throw error;
	}
}

/** Goes from element to element, of the film and of those in which others are. */
class Walker {
	readonly #scanner: Scanner;
	readonly #found: Findings;
	readonly #tracks: MatroskaTracks;
	readonly #tags: MatroskaTags;
	#editions = 0;

	constructor(scanner: Scanner, found: Findings) {
		this.#scanner = scanner;
		this.#found = found;
		this.#tracks = new MatroskaTracks(scanner, found);
		this.#tags = new MatroskaTags(scanner, found);
	}

	/** Throws TooMany. */
	async walkFilm(): Promise<void> {
		for (let at = 0; ; ) {
			if (!(await this.#scanner.mayStep())) throw new TooMany();
			const bytes = await this.#scanner.bytes(at, maxHead);
			if (bytes.length < 2) break;
			const element = elementAt(bytes, at);
			if (element === undefined || (element.length === Number.POSITIVE_INFINITY && !open.has(element.id))) {
				if (await this.#scanner.hasData(at)) this.#found.addUnread('what is in no element');
				break;
			}
			const { id, content, length } = element;
			if (open.has(id)) {
				at = content;
				continue;
			}
			if (blocks.has(id)) await this.#tracks.takeBlock(content);
			else if (id === filler) await this.#takeFiller(content, length);
			else if (known.has(id) && knownInFilm.has(id)) await this.#walk(content, content + length, id);
			else if (id !== crc && !knownInFilm.has(id)) {
				this.#found.hasAdditions ||= id === additions;
				this.#addUnread(id);
			}
			at = content + length;
		}
		this.#tracks.finish();
	}

	async #walk(at: number, end: number, parent: Id, depth = 0): Promise<void> {
		if (depth > maxDepth) throw new TooMany();
		let displays = 0;
		let last = at;
		for await (const { id, content, length } of elementsIn(this.#scanner, at, end)) {
			last = content + length;
			if (id === crc) continue;
			if (id === filler) await this.#takeFiller(content, length);
			else if (known.get(parent)?.has(id) !== true) this.#addUnread(id);
			else {
				if (id === display && ++displays > 1) this.#found.addUnread('several names of chapters');
				await this.#takeKnown(id, content, length);
				if (known.has(id)) await this.#walk(content, content + length, id, depth + 1);
			}
		}
		if (last < end && (await this.#scanner.takePadding(last, end - last)))
			this.#found.addUnread('what is in no element');
	}

	async #takeKnown(id: Id, content: number, length: number): Promise<void> {
		const isUnknownMapping = async () => !knownMappings.has(await numberAt(this.#scanner, content, length));
		if (id === mappingType && (await isUnknownMapping())) this.#addUnread(mapping);
		if (id === isOrdered && (await numberAt(this.#scanner, content, length)) > 0)
			this.#found.addUnread('chapters in an order of their own');
		if (id === edition && ++this.#editions > 1) this.#found.addUnread('several lists of chapters');
		if (id === fileData) await this.#takeFile(content, length);
		if (id === tag) await this.#tags.take(content, content + length);
		if (id === track) await this.#tracks.take(content, content + length);
		if (id === pictures) await this.#takePictures(content, content + length);
	}

	/** How pictures are shown. ffprobe reads all but what players leave out of them. */
	async #takePictures(at: number, end: number): Promise<void> {
		for await (const { id, content, length } of elementsIn(this.#scanner, at, end)) {
			if (cropped.has(id) && (await numberAt(this.#scanner, content, length)) > 0)
				this.#found.addUnread(partOfPictures);
		}
	}

	/** A file that is attached, if all of it is there. */
	async #takeFile(at: number, length: number): Promise<void> {
		if (length === 0 || (await this.#scanner.bytes(at + length - 1, 1)).length === 0) return;
		this.#found.attached.count++;
		this.#found.attached.bytes += length;
	}

	/** Room for tags. */
	async #takeFiller(at: number, length: number): Promise<void> {
		if (!(await this.#scanner.takePadding(at, length))) return;
		const sample = await this.#scanner.bytes(at, Math.min(length, sampleBytes));
		if (!remains.some((id) => sample.includes(id))) this.#addUnread(filler);
	}

	#addUnread(id: Id): void {
		this.#found.addUnread(names.get(id) ?? `element ${id.toString(16)}`);
	}
}

/** `matroskaElements` of an open file. */
export const matroskaElementsIn = (descriptor: number, signal: AbortSignal) =>
	matroskaElements(readerOf(descriptor), signal);
