import { isTechnical, plainName } from '../../texts/texts.js';
import { type ReadAt, readerOf } from '../reading/readAt.js';
import { type Contents, Findings, partOfPictures, Scanner } from '../reading/scanner.js';
import { textsOfXmp } from '../xmp.js';
import { MetadataTracks, maxDescription } from './movMetadata.js';
import { isPadding, takePaddingBox } from './movPadding.js';
import { MovSamples } from './movSamples.js';
import { PrintedTexts } from './movTexts.js';
import { TrackNames } from './movTracks.js';

/** A film of half a day may be in fragments of a second, each of a dozen boxes. */
const maxBoxes = 1_000_000;
/** The most bytes of all texts together: more than is said of any film, and a moment's work. */
const maxTextBytes = 2 ** 20;
/** The most properties that Windows has given a film; its programs write some dozens. */
const maxProperties = 1000;
/** The most bytes of the name, the language or the kind of a track that are looked at. */
const maxTrackBox = 200;
/** The most bytes of an event up to the end of its kind that are looked at. */
const maxEventHead = 100;

/** The most bytes of an edit list that are looked at: ten thousand edits. */
const maxEditList = 200_000;

/** A file itself, in which its boxes are. */
const theFile = '';

/** The boxes in which others are read, and those in which these are in their turn. */
const parents: ReadonlyMap<string, readonly string[]> = new Map([
	['moov', [theFile]],
	['mvex', ['moov']],
	['moof', [theFile]],
	['traf', ['moof']],
	['trak', ['moov']],
	['edts', ['trak']],
	['udta', ['moov', 'trak']],
	['meta', [theFile, 'moov', 'trak', 'udta', 'moof', 'traf']],
	['ilst', ['meta']],
	['mdia', ['trak']],
	['minf', ['mdia']],
	['stbl', ['minf']],
	['stsd', ['stbl']],
	['tref', ['trak']],
]);

/** Texts and numbers that ffprobe prints by their names, wherever they are, and one that is compared with another one. */
const printed = [
	...[
		'@PRM @PRQ aART akID apID catg cpil cprt desc disk egid FIRM gnre hdvd HMMT keyw ldes loci manu modl pcst pgap purd rtng',
	],
	...[
		'soaa soal soar soco sonm sosn stik trkn tven tves tvnn tvsh tvsn \xa9ART \xa9PRD \xa9alb \xa9aut \xa9chp \xa9cmt',
	],
	...[
		'\xa9com \xa9cpy \xa9day \xa9des \xa9dir \xa9dis \xa9ed1 \xa9enc \xa9fmt \xa9gen \xa9grp \xa9hst \xa9inf \xa9lyr \xa9mak',
	],
	...[
		'\xa9mod \xa9nam \xa9ope \xa9prd \xa9prf \xa9req \xa9src \xa9st3 \xa9swr \xa9too \xa9trk \xa9url \xa9wrn \xa9wrt \xa9xyz',
	],
].join(' ');
const printedNames: ReadonlySet<string> = new Set(printed.split(' '));

/**
 * The boxes of which no film loses anything, or that are read here or by ffprobe, by those in which they are: the pictures and sound
 * themselves, what lists them, and what an encoder makes anew. Any other one counts as data of a camera.
 */
const known: ReadonlyMap<string, ReadonlySet<string>> = new Map(
	Object.entries({
		// WhatsApp marks its films by `beam`.
		[theFile]: 'ftyp styp mdat moof mfra sidx ssix pdin prft meta pnot PICT beam',
		moov: 'mvhd iods ctab clip pssh prfl',
		mvex: 'mehd trex trep leva',
		moof: 'mfhd pssh',
		traf: 'tfhd tfdt trun sdtp sbgp sgpd csgp subs saiz saio senc',
		trak: 'tkhd tapt load txas clip matt kmat imap ctab trgr mere prfl',
		edts: 'elst',
		// Links between tracks, but for that to one of forced subtitles.
		tref: 'chap tmcd hint hind cdsc sync subt scpt ssrc fall folw clcp font vdep vplx sbas scal cdep dpnd ipir mpod auxl adda',
		mdia: 'mdhd hdlr elng',
		minf: 'vmhd smhd sthd hmhd nmhd gmhd hdlr dinf',
		stbl: 'stts ctts cslg stsc stsz stz2 stco co64 stss stps stsh padb stdp sdtp sbgp sgpd csgp subs saiz saio senc',
		meta: 'hdlr keys mhdr ctry lang pitm iloc iref iprp ipro dinf',
		// Windows of players, chapters, hints for servers, loudness, marks of mobile phones, units of a timecode.
		udta: `${printed} WLOC LOOP SelO AllF PlyD chpl tsel strk vers hnti hinf ludt smta smrd SDLN \xa9TSC \xa9TSZ`,
		// Numbers of shops.
		ilst: `${printed} ---- covr cnID sfID atID plID geID cmID xid_ flvr ownr shwm itnu prID`,
	}).map(([parent, names]) => [parent, new Set(names.split(' ').map((name) => name.replace('_', ' ')))]),
);

/** Boxes with an id that says what they are, other than XMP: of DRM, of streaming, what kind of film it is, and a view that ffprobe prints. */
const knownUuids: ReadonlySet<string> = new Set([
	...['d08a4f1810f34a82b6c832d8aba183d3', 'a2394f525a9b4f14a2446c427c648df4', '8974dbce7be74c5184f97148f9882554'],
	...['6d1d9b0542d544e680e2141daff757b2', 'd4807ef2ca3946958e5426cb9e46a79f', 'ffcc8263f8554a938814587a02521fdd'],
	...['50524f4621d24fcebb88695cfac9c740', '55534d5421d24fcebb88695cfac9c740'],
]);

/** Boxes of one text. Other ones are read by ffprobe. */
const single: ReadonlyMap<string, string> = new Map([
	['titl', 'title'],
	['dscp', 'description'],
	['kywd', 'keywords'],
	['perf', 'performer'],
	['auth', 'author'],
	['gnre', 'genre'],
	['albm', 'album'],
	['\u00a9key', 'keywords'],
	['ID32', 'tags of ID3'],
	// Pictures and texts of a film that are files of their own, such as XMP.
	['iinf', 'items'],
	['bxml', 'XML'],
]);

/** Samples of these kinds are encrypted; which kind they are without that, ffprobe takes from a box in them. */
const encrypted: ReadonlySet<string> = new Set([
	...['encv', 'enca', 'enct', 'encs', 'encm', 'encf', 'drms', 'drmi', 'drmt'],
]);

/** Of programs for cutting. They count from 0 where there is none. */
const timecode = '\xa9TIM';

/** Of servers that stream a film: that its list has changed, and where advertisements are. Cameras write their own ones. */
const events: readonly string[] = ['urn:mpeg:dash:event:', 'urn:scte:scte35:'];

/** Whether an event is of a kind that is no part of the film. Newer ones have numbers before the kind. */
function isEventOfServer(head: Buffer): boolean {
	const kind = head.toString('latin1', head[0] === 0 ? 4 : 24);
	return events.some((each) => kind.startsWith(each));
}

const xmpUuid = 'be7acfcb97a942e89c71999491e3afac';

/**
 * The texts for people that an MP4 or MOV has in boxes which neither ffprobe nor HandBrake reads: XMP, properties that Windows gives to
 * files, those of mobile phones, XML of cameras and ID3; whether a track is encrypted; and which boxes nobody knows. Undefined if that can't
 * be known.
 */
export async function movBoxes(readAt: ReadAt, signal: AbortSignal): Promise<Contents | undefined> {
	const scanner = new Scanner(readAt, signal, maxBoxes);
	const found = new Findings();
	const samples = new MovSamples(readAt, signal, scanner);
	let bytesLeft = maxTextBytes;
	/** Adds the texts of a box to those that were found. False if it has others, or more bytes than are read. */
	const takeTexts = async (read: (bytes: Uint8Array) => string[] | undefined, at: number, end: number) => {
		const bytes = await scanner.bytes(at, Math.min(end - at, bytesLeft + 1));
		bytesLeft -= bytes.length;
		if (bytesLeft < 0) return false;
		const texts = read(bytes);
		for (const text of texts ?? []) found.addText(text);
		return texts !== undefined;
	};
	const tracks = new TrackNames();
	const metadata = new MetadataTracks();
	const printedTexts = new PrintedTexts(scanner, found);
	let indexes = 0;
	const takeBox = async (name: string, parent: string, at: number, end: number): Promise<boolean> => {
		if (end <= at) return true;
		if (tracks.isOne(name, parent)) {
			tracks.take(name, await scanner.bytes(at, Math.min(end - at, maxTrackBox)));
			return true;
		}
		const uuid = name === 'uuid' ? (await scanner.bytes(at, 16)).toString('hex') : '';
		const read = name === 'XMP_' || uuid === xmpUuid ? textsOfXmp : withTexts.get(name);
		if (read !== undefined) return takeTexts(read, at, end);
		const text = single.get(name);
		if (text !== undefined) found.addText(text);
		else if (name === timecode) {
			// Behind its length and language.
			if (/[1-9]/.test((await scanner.bytes(at, Math.min(end - at, 24))).toString('latin1', 4))) found.addUnread(name);
		} else if (isPadding(name)) {
			if (await takePaddingBox(scanner, at, end)) found.addUnread(name);
		} else if (name === 'emsg' && parent === theFile) {
			const head = await scanner.bytes(at, Math.min(end - at, maxEventHead));
			if (!isEventOfServer(head)) found.addUnread(name);
		} else if (name === 'uuid') {
			if (end - at > 16 && !knownUuids.has(uuid)) found.addUnread(`uuid ${uuid.slice(0, 8)}`);
		} else if (!isKnown(name, parent)) found.addUnread(name);
		else if (name === 'elst') {
			if (hasSpeed(await scanner.bytes(at, Math.min(end - at, maxEditList + 1)))) found.addUnread('a speed of its own');
		} else if (name === 'keys') await printedTexts.takeKeys(at, end);
		else if (parent === 'ilst' || (parent === 'udta' && printedNames.has(name)))
			await printedTexts.take({ name, parent, at, end });
		return true;
	};
	const walk = async (start: number, stop: number, parent: string): Promise<boolean> => {
		for (let at = start; at + 8 <= stop; ) {
			const head = await scanner.bytes(at, 16);
			// The end of the file.
			if (head.length < 8) return true;
			const name = head.toString('latin1', 4, 8);
			// Cameras append their data to the file as they are.
			if (parent === theFile && !/^[ -~]{4}$/.test(name)) {
				if (await scanner.hasData(at)) found.addUnread('behind its boxes');
				return true;
			}
			const isLong = head.readUInt32BE() === 1;
			const declared = isLong && head.length === 16 ? Number(head.readBigUInt64BE(8)) : head.readUInt32BE();
			// The last box of a file may say no length.
			const length = declared === 0 && parent === theFile ? Number.POSITIVE_INFINITY : declared;
			const content = at + (isLong ? 16 : 8);
			if (at + length < content) {
				// A list of a MOV ends with a zero.
				if (await scanner.hasData(at, stop)) found.addUnread('behind its boxes');
				return true;
			}
			if (!(await scanner.mayStep())) return false;
			const end = Math.min(stop, at + length);
			await samples.take({ name, parent, at, content, end });
			// ffprobe reads the first one.
			if (name === 'moov' && parent === theFile && ++indexes > 1) found.addUnread('several moov');
			if (parent === 'stsd') {
				found.isEncrypted ||= encrypted.has(name);
				const description = await scanner.bytes(content, Math.min(end - content, maxDescription));
				metadata.take(name, description);
				if (isCropped(description)) found.addUnread(partOfPictures);
			} else if (parents.get(name)?.includes(parent)) {
				const isTrack = name === 'trak';
				if (isTrack) for (const each of [tracks, printedTexts, metadata]) each.begin();
				if (!(await walk(content + (await boxesBegin(name, content)), end, name))) return false;
				if (isTrack) for (const each of [tracks, printedTexts, metadata]) each.end();
			} else if (!(await takeBox(name, parent, content, end))) return false;
			at += length;
		}
		return true;
	};
	/** The offset of the first box: behind a version, and the number of entries. A MOV has no version in its `meta`. */
	const boxesBegin = async (name: string, content: number): Promise<number> => {
		if (name === 'stsd') return 8;
		return name === 'meta' && (await scanner.bytes(content + 4, 4)).toString('latin1') !== 'hdlr' ? 4 : 0;
	};
	if (!(await walk(0, Number.POSITIVE_INFINITY, theFile))) return undefined;
	for (const part of tracks.unread()) found.addUnread(part);
	printedTexts.finish();
	found.spareTracks = metadata.count;
	const haveOthers = await samples.haveOthers();
	if (haveOthers) found.addUnread('what is in no sample');
	return haveOthers === undefined ? undefined : found;
}

/** Whether a box is known where it is. Some items are numbered, by a list of their names that ffprobe reads. */
const isKnown = (name: string, parent: string) =>
	known.get(parent)?.has(name) === true || (parent === 'ilst' && name.startsWith('\0'));

/** `movBoxes` of an open file. */
export const movBoxesIn = (descriptor: number, signal: AbortSignal) => movBoxes(readerOf(descriptor), signal);

/** The bytes of a description of pictures before its boxes; the size is among them. */
const pictureHead = 78;
const [widthAt, heightAt] = [24, 26];
/** The black edges of DV and other video for television are up to 2.4 % wide, and nobody misses them. */
const leastPart = 0.96;

/** Whether a description of pictures says that a part of them is not shown (a clean aperture). */
function isCropped(description: Buffer): boolean {
	for (let at = pictureHead; at + 24 <= description.length; ) {
		if (description.toString('latin1', at + 4, at + 8) === 'clap') {
			const isPart = (side: number, whole: number) =>
				description.readUInt32BE(side) / description.readUInt32BE(side + 4) <
				description.readUInt16BE(whole) * leastPart;
			return isPart(at + 8, widthAt) || isPart(at + 16, heightAt);
		}
		const length = description.readUInt32BE(at);
		if (length < 8) return false;
		at += length;
	}
	return false;
}

const normalRate = 0x1_00_00;

/**
 * Whether an edit of a list plays its part slower, faster or as one picture that is held, as QuickTime does; every program here plays
 * all at one speed. A list of more edits than any film has may have such ones.
 */
function hasSpeed(list: Buffer): boolean {
	if (list.length > maxEditList) return true;
	if (list.length < 8) return false;
	const [rateAt, length] = list[0] === 1 ? [16, 20] : [8, 12];
	const count = list.readUInt32BE(4);
	for (let n = 0, at = 8; n < count && at + length <= list.length; n++, at += length) {
		// Of a part without media it says nothing.
		const isEmpty = list.readInt32BE(at + rateAt - 4) === -1;
		if (!isEmpty && list.readUInt32BE(at + rateAt) !== normalRate) return true;
	}
	return false;
}

/** XMP, or what cameras say: the date, the lens and the timecode. */
function textsOfXml(bytes: Uint8Array): string[] {
	return new TextDecoder().decode(bytes).includes('<x:xmpmeta') ? textsOfXmp(bytes) : ['XML'];
}

/** Entries of a length, that of a name, the name and its values. Undefined for too many. */
function textsOfWindows(bytes: Uint8Array): string[] | undefined {
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	const names: string[] = [];
	for (let at = 0; at + 8 <= bytes.length; ) {
		const [length, nameLength] = [view.getUint32(at), view.getUint32(at + 4)];
		if (length < 8) break;
		if (names.length === maxProperties) return undefined;
		names.push(new TextDecoder().decode(bytes.subarray(at + 8, at + 8 + Math.min(nameLength, 100))));
		at += length;
	}
	// Windows gives a film of any container those that its own one has (ASF).
	return names.filter((name) => !isTechnical(name, 'asf')).map((name) => plainName(name).replace(/^wm\//, ''));
}

/** Boxes of several texts. */
const withTexts: ReadonlyMap<string, (bytes: Uint8Array) => string[] | undefined> = new Map([
	['Xtra', textsOfWindows],
	['xml ', textsOfXml],
]);
