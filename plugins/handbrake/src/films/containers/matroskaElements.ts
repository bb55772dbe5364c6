import { isMoreSaid, type SaidLanguage } from '../languages.js';
import { isTechnical } from '../texts.js';
import { type Element, elementAt, maxHead, vintAt } from './ebml.js';
import { type ReadAt, readerOf } from './readAt.js';
import { type Contents, Findings, Scanner } from './scanner.js';

/** Elements are known by their ids, which are written here as they are in the file. */
type Id = number;

const ids = (text: string): ReadonlySet<Id> => new Set(text.split(' ').map((id) => Number.parseInt(id, 16)));

const [crc, filler] = [0xbf, 0xec];
const [info, tracks, chapters, tags, attachments] = [0x1549a966, 0x1654ae6b, 0x1043a770, 0x1254c367, 0x1941a469];
const [track, trackNumber, trackType, mapping, mappingType] = [0xae, 0xd7, 0x83, 0x41e4, 0x41e7];
const [edition, atom, display, isOrdered] = [0x45b9, 0xb6, 0x80, 0x45dd];
const [tag, targets, targetValue, text, textName] = [0x7373, 0x63c0, 0x68ca, 0x67c8, 0x45a3];
const attachment = 0x61a7;
const [plainLanguage, fullLanguage] = [0x22b59c, 0x22b59d];

/**
 * What is not read to its end before what follows: the film, its clusters and groups of blocks may say no length. Their elements have ids of
 * their own.
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
	[0x75a1, 'additions to its pictures or subtitles'],
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

/** Of video, sound, subtitles and metadata: ffprobe leaves out others. */
const trackTypes: ReadonlySet<number> = new Set([1, 2, 0x11, 0x21]);
/** Those of which an output has one track only. */
const pictures = '1';

/** The settings of Dolby Vision, which ffprobe reads. */
const knownMappings: ReadonlySet<number> = new Set([0x64766343, 0x64767643, 0x68766345]);

/** Of what a program that writes tags anew has declared to be free: names, texts, places, times and links of elements. */
const remains = ['4dbb', '53ab', '7373', '67c8', '45a3', '4487', '63c0', '2ad7b1', '4d80', '5741'].map((id) =>
	Buffer.from(id, 'hex'),
);
const sampleBytes = 4096;

/** ffprobe reads no more. */
const maxTracks = 1000;
/** The most of the ids and names in a tag that is looked at. */
const maxText = 200;
/** A film has some hundred, and 20 for each track. */
const maxTags = 100_000;
/** ffprobe reads none that are deeper. */
const maxDepth = 16;

/** What the elements of a Matroska file have that neither ffprobe nor HandBrake reads. Undefined if that can't be known. */
export async function matroskaElements(readAt: ReadAt, signal: AbortSignal): Promise<Contents | undefined> {
	const scanner = new Scanner(readAt, signal);
	const found = new Findings();
	const numbers = new Set<number>();
	const texts = new Set<string>();
	const languages: SaidLanguage[] = [];
	let editions = 0;

	const addUnread = (id: Id) => found.addUnread(names.get(id) ?? `element ${id.toString(16)}`);
	const numberAt = async (at: number, length: number) => {
		// Some programs write all numbers with 8 bytes, the first of which are zeros.
		const digits = Math.min(6, length);
		const bytes = await scanner.bytes(at + length - digits, digits);
		return bytes.length === 0 ? 0 : bytes.readUIntBE(0, bytes.length);
	};
	/** Room for tags. */
	const takeFiller = async (at: number, length: number) => {
		if (!(await scanner.takePadding(at, length))) return;
		const sample = await scanner.bytes(at, Math.min(length, sampleBytes));
		if (!remains.some((id) => sample.includes(id))) addUnread(filler);
	};
	const takeBlock = async (at: number) => {
		const number = vintAt(await scanner.bytes(at, 8), 0);
		if (number === undefined || !numbers.has(number.value)) found.addUnread('blocks of no track');
	};
	/** What is said of the film or of a track, with the names of all texts: ffprobe prints the last one of each. */
	const takeTag = async (at: number, end: number) => {
		let of = '';
		for await (const { id, content, length } of elements(at, end)) {
			if (id === targets) {
				for await (const target of elements(content, content + length)) {
					if (target.id === targetValue || of.length > maxText) continue;
					of += `${target.id}=${(await scanner.bytes(target.content, Math.min(maxText, target.length))).toString('latin1')} `;
				}
			}
		}
		for await (const { id, content, length } of elements(at, end)) {
			if (id !== text) continue;
			for await (const part of elements(content, content + length)) {
				if (part.id !== textName) continue;
				const name = (await scanner.bytes(part.content, Math.min(maxText, part.length))).toString('utf8').toUpperCase();
				if (isTechnical(name, 'matroska')) continue;
				if (texts.has(of + name)) found.addUnread(`several ${name}`);
				if (texts.size < maxTags) texts.add(of + name);
			}
		}
	};
	/** The elements of another one, as far as they are some. */
	async function* elements(at: number, end: number): AsyncGenerator<Element> {
		for (let next = at; next < end; ) {
			if (!(await scanner.mayStep())) throw new TooMany();
			const element = elementAt(await scanner.bytes(next, maxHead), next);
			if (element === undefined || element.content + element.length > end) return;
			yield element;
			next = element.content + element.length;
		}
	}
	const textAt = async (at: number, length: number) =>
		(await scanner.bytes(at, Math.min(maxText, length))).toString('latin1').replaceAll('\0', '');
	const takeLanguage = async (at: number, end: number) => {
		// A track that says none is English.
		const said = { kind: '', plain: 'eng', full: '' };
		for await (const { id, content, length } of elements(at, end)) {
			if (id === trackType) said.kind = String(await numberAt(content, length));
			if (id === plainLanguage) said.plain = await textAt(content, length);
			if (id === fullLanguage) said.full = await textAt(content, length);
		}
		if (said.kind !== pictures && languages.length < maxTracks) languages.push(said);
	};
	const walk = async (at: number, end: number, parent: Id, depth = 0): Promise<void> => {
		if (depth > maxDepth) throw new TooMany();
		let displays = 0;
		let last = at;
		for await (const { id, content, length } of elements(at, end)) {
			last = content + length;
			if (id === crc) continue;
			if (id === filler) await takeFiller(content, length);
			else if (known.get(parent)?.has(id) !== true) addUnread(id);
			else {
				if (id === trackNumber && numbers.size < maxTracks) numbers.add(await numberAt(content, length));
				if (id === trackType && !trackTypes.has(await numberAt(content, length)))
					found.addUnread('tracks of another kind');
				if (id === mappingType && !knownMappings.has(await numberAt(content, length))) addUnread(mapping);
				if (id === isOrdered && (await numberAt(content, length)) > 0)
					found.addUnread('chapters in an order of their own');
				if (id === edition && ++editions > 1) found.addUnread('several lists of chapters');
				if (id === display && ++displays > 1) found.addUnread('several names of chapters');
				if (id === tag) await takeTag(content, content + length);
				if (id === track) await takeLanguage(content, content + length);
				if (known.has(id)) await walk(content, content + length, id, depth + 1);
			}
		}
		if (last < end && (await scanner.takePadding(last, end - last))) found.addUnread('what is in no element');
	};
	const walkFilm = async (): Promise<void> => {
		for (let at = 0; ; ) {
			if (!(await scanner.mayStep())) throw new TooMany();
			const bytes = await scanner.bytes(at, maxHead);
			if (bytes.length < 2) return;
			const element = elementAt(bytes, at);
			if (element === undefined || (element.length === Number.POSITIVE_INFINITY && !open.has(element.id))) {
				if (await scanner.hasData(at)) found.addUnread('what is in no element');
				return;
			}
			const { id, content, length } = element;
			if (open.has(id)) {
				at = content;
				continue;
			}
			if (blocks.has(id)) await takeBlock(content);
			else if (id === filler) await takeFiller(content, length);
			else if (known.has(id) && knownInFilm.has(id)) await walk(content, content + length, id);
			else if (id !== crc && !knownInFilm.has(id)) addUnread(id);
			at = content + length;
		}
	};
	try {
		await walkFilm();
		if (isMoreSaid(languages)) found.addUnread('languages of tracks');
		return found;
	} catch (error) {
		if (error instanceof TooMany) return undefined;
		throw error;
	}
}

class TooMany extends Error {}

/** `matroskaElements` of an open file. */
export const matroskaElementsIn = (descriptor: number, signal: AbortSignal) =>
	matroskaElements(readerOf(descriptor), signal);
