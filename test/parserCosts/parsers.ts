import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
	compareNames,
	describeClient,
	escapeControls,
	escapeJson,
	findDoctype,
	normalizeName,
	PathSet,
	parsePath,
	pathsTo,
	type StoragePath,
	searchMatcher,
	shownName,
	sniff,
	videoContainer,
	zipFileName,
} from '@stowage/rules';
import { timeOf } from '../../cli/src/commandLine/times.js';
import { installedUnit } from '../../cli/src/service/installedUnit.js';
import { Table } from '../../cli/src/terminal/table.js';
import { hasSessionCookie, keepOwnCookies } from '../../packages/core/src/accounts/ownCookies.js';
import { type Aggregate, shortened } from '../../packages/core/src/audit/aggregate.js';
import { parseAuditLine } from '../../packages/core/src/audit/auditLine.js';
import { JsonShape } from '../../packages/core/src/bodies/JsonShape.js';
import { isHostPattern } from '../../packages/core/src/config/allowedHosts.js';
import { parseNetwork } from '../../packages/core/src/config/networks.js';
import { configSchema, parseByteSize, parseDuration } from '../../packages/core/src/config/schema.js';
import { withoutSecrets } from '../../packages/core/src/config/secrets.js';
import { createClientReader } from '../../packages/core/src/http/requests/proxy.js';
import { checkRawPath, decodePath, originForm } from '../../packages/core/src/http/requests/rawPath.js';
import { namedFolders } from '../../packages/core/src/members/folderNames.js';
import { checkPreconditions } from '../../packages/core/src/responses/preconditions.js';
import { parseRanges } from '../../packages/core/src/responses/ranges.js';
import { userFileHeaders } from '../../packages/core/src/responses/userFileHeaders.js';
import { parseUnrecordedName } from '../../packages/core/src/trees/trash/recording/unrecordedNames.js';
import { parseChecksum, parseFileDigest } from '../../packages/core/src/uploads/checksum.js';
import { createFormParser } from '../../packages/core/src/uploads/form/formParser.js';
import { parsePartHeader } from '../../packages/core/src/uploads/form/partHeader.js';
import { parseUploadMetadata } from '../../packages/core/src/uploads/resumable/uploadMetadata.js';
import { endsAbove } from '../../packages/database/src/searchIndex/IndexReader.js';
import { unescapeOctal } from '../../packages/plugin-api/src/disk/systemMounts.js';
import { decoderErrors } from '../../plugins/handbrake/src/encode.js';
import { asfObjects } from '../../plugins/handbrake/src/films/containers/asf/asfObjects.js';
import { aviChunks } from '../../plugins/handbrake/src/films/containers/avi/aviChunks.js';
import { aviDelay } from '../../plugins/handbrake/src/films/containers/avi/aviDelay.js';
import { flvTags } from '../../plugins/handbrake/src/films/containers/flvTags.js';
import { matroskaElements } from '../../plugins/handbrake/src/films/containers/matroska/matroskaElements.js';
import { movBoxes } from '../../plugins/handbrake/src/films/containers/mov/movBoxes.js';
import { programPackets } from '../../plugins/handbrake/src/films/containers/mpeg/programPackets.js';
import { transportPackets } from '../../plugins/handbrake/src/films/containers/mpeg/transportPackets.js';
import type { ReadAt } from '../../plugins/handbrake/src/films/containers/reading/readAt.js';
import { realChunks } from '../../plugins/handbrake/src/films/containers/realChunks.js';
import { textsOfXmp } from '../../plugins/handbrake/src/films/containers/xmp.js';
import { frameReader } from '../../plugins/handbrake/src/films/frames/decodeFilm.js';
import { countPackets } from '../../plugins/handbrake/src/films/packets/countPackets.js';
import type { SubtitleTrack } from '../../plugins/handbrake/src/films/probing/Film.js';
import { parseProbe } from '../../plugins/handbrake/src/films/probing/probe.js';
import { parseScan } from '../../plugins/handbrake/src/films/probing/scan.js';
import { boxesOf, hasEffect } from '../../plugins/handbrake/src/films/subtitles/effects.js';
import { subtitleReader } from '../../plugins/handbrake/src/films/subtitles/lines.js';
import { rowsOf, textOf } from '../../plugins/handbrake/src/films/subtitles/shownText.js';
import { parseEncoders } from '../../plugins/handbrake/src/HandBrake.js';
import { lineReader, parseProgress } from '../../plugins/handbrake/src/progress.js';
import { keepFirstFrame } from '../../plugins/preview/src/images/child/keepFirstFrame.js';
import { mayApplyProfile } from '../../plugins/preview/src/images/child/mayApplyProfile.js';
import { minimizeMetadata } from '../../plugins/preview/src/images/child/minimizeMetadata.js';
import { readsTwice } from '../../plugins/preview/src/images/child/readsTwice.js';
import { isPrivateName } from '../../plugins/storage-local/src/root/privateFolder.js';
import { parseStagedId } from '../../plugins/storage-local/src/writing/stagedIds.js';
import { parseLocation } from '../../web/src/features/files/location/location.js';
import { tagsOf } from '../../web/src/features/previews/audio/tags.js';
import { openZip } from '../../web/src/features/previews/common/bytes/zip.js';
import { mayTakeLong } from '../../web/src/features/previews/common/images/decodingCost.js';
import { describeImage } from '../../web/src/features/previews/common/images/imageFormat.js';
import { pixelsOfIconMetadata } from '../../web/src/features/previews/common/images/metadata.js';
import { maxPixels, pixelsOf, pixelsOfAddress } from '../../web/src/features/previews/common/images/pixels.js';
import { dataAddresses } from '../../web/src/features/previews/common/markup/drawingPictures.js';
import {
	idsIn,
	idsOfAddress,
	namesAddresses,
	splitRules,
} from '../../web/src/features/previews/common/markup/drawingReferences.js';
import { drawsTooMuch } from '../../web/src/features/previews/common/markup/drawings.js';
import { htmlAsXml, textOfHtml } from '../../web/src/features/previews/common/markup/htmlAsXml.js';
import {
	hasTooManyTracks,
	isShapedByPicture,
	namesTooManyAreas,
} from '../../web/src/features/previews/common/markup/layoutCost.js';
import { isOwnCall } from '../../web/src/features/previews/common/markup/links.js';
import { countElements } from '../../web/src/features/previews/common/markup/markupBounds.js';
import { sanitise } from '../../web/src/features/previews/common/markup/sanitise.js';
import { isNestedTooDeep, stylesCostTooMuch } from '../../web/src/features/previews/common/markup/styleCost.js';
import { valuesCostTooMuch } from '../../web/src/features/previews/common/markup/styleValues.js';
import { hasTooManyTags } from '../../web/src/features/previews/common/tagCount/countTags.js';
import { languageIn } from '../../web/src/features/previews/document/languageIn.js';
import { withPlainSymbols } from '../../web/src/features/previews/document/symbols.js';
import { readText, writeText } from '../../web/src/features/previews/editor/bytes/textBytes.js';
import { overlapsOf } from '../../web/src/features/previews/editor/search/overlaps.js';
import { replaceAddresses } from '../../web/src/features/previews/inFrame/cssAddresses.js';
import { isNumber } from '../../web/src/features/previews/text/isNumber.js';
import { htmlTree, markdownTree } from '../../web/src/features/previews/text/markdownTree.js';
import { runTextTask } from '../../web/src/features/previews/text/runTextTask.js';
import { colouredBlocks, textBlocks } from '../../web/src/features/previews/text/sourceBlocks.js';
import { plainStyles } from '../../web/src/features/previews/video/cueStyles.js';
import { toVtt } from '../../web/src/features/previews/video/subtitles.js';
import { isEveryday } from '../everyday.js';
import { isLong } from '../long.js';

/** A long text, of which every parser reads one of each fragment. */
export const largeKilobytes = isLong ? 1024 : isEveryday ? 128 : 256;

export interface Parser {
	name: string;
	/** Pieces of what it reads, also such as have no end. They are repeated alone and in pairs. */
	fragments: readonly string[];
	run(text: string): unknown;
	/** For what comes in parts, between which others are served: takes all but the end of a text, and returns what then works at once. */
	lastStep?(text: string): () => unknown;
	/**
	 * A library's, which runs in a worker of the page that is ended after half a minute (`runInWorker.ts`): what is
	 * longer than a kilobyte may take it that long.
	 */
	isEnded?: true;
	/** It runs in the thread of the page, which stands still meanwhile. */
	isOfPage?: true;
}

const bytesOf = (text: string) => Buffer.from(text, 'latin1');
const peers = { addressOf: () => '10.0.0.1', isTrusted: (address: string) => address.startsWith('10.') };
const readClient = createClientReader(peers, '');
const request = (headers: Record<string, string>) => ({ headers, socket: {} }) as never;
const noElements = { querySelectorAll: () => [] } as never;
const emptyRoot = { querySelectorAll: () => [], children: [] } as never;
/** A document of one element with this style of its own. */
const styledElement = (style: string) => {
	const element = { localName: 'p', parentElement: null, childElementCount: 0, classList: [], id: '' };
	const getAttribute = (name: string) => (name === 'style' ? style : null);
	return { querySelectorAll: () => [{ ...element, getAttribute }] } as never;
};
const xml = ['<!---->', '<!--', '<?a?>', '<?', '<!DOCTYPE', '"', "'", '[', ']', '>', ' ', '\n', '<a b="c">', '-->'];
const css = ['url(', 'url("a")', 'image-set(', '--a:', '\\', '"', "'", '(', ')', '{', '}', ';', '/*', 'a', ' '];
const sharedFolder = (name: string, n: number) => ({
	...{ id: `${n}`, owner: { id: `${n}`, username: n === 0 ? 'ada' : 'bob' }, path: name as StoragePath },
	...{ nextPath: undefined, itemId: '', role: 'view' as const, createdAt: n },
});

const walked =
	(head: string, walk: (readAt: ReadAt, signal: AbortSignal) => Promise<unknown>) => async (text: string) => {
		const bytes = bytesOf(head + text);
		await walk(async (at, length) => bytes.subarray(at, at + length), new AbortController().signal);
	};

const containers: readonly Parser[] = [
	{
		name: 'boxes of a film',
		fragments: [
			'\0\0\0\x08moov',
			'\0\0\0\x0cfreeabcd',
			'\0\xff\0\0udta',
			'\0\0\0\x18uuid',
			'\0\0\0\0',
			'\x7f\0\0\0meta',
		],
		run: walked('', movBoxes),
	},
	{
		name: 'tables of samples of a film',
		fragments: [
			'\0\0\x10\0stco\0\0\0\0\0\0\x03\xfc',
			'\0\0\0\x14stsz\0\0\0\0\0\0\0\x01\xff\xff\xff\xff',
			'\0\0\x10\0stsz\0\0\0\0\0\0\0\0\0\0\x03\xf8',
			'\0\0\x10\0stsc\0\0\0\0\0\0\x01\x53',
			'\0\0\0\x01\0\0\0\x01',
			'\0\0\0\x08',
		],
		run: walked(['moov', 'trak', 'mdia', 'minf', 'stbl'].map((name) => `\x7f\xff\xff\xff${name}`).join(''), movBoxes),
	},
	{
		name: 'what is between the samples of a film',
		fragments: ['\0\0\0\x08free', '\0\0\x10\0skip', '\0\0\0\x10mdat', '\x7f\xff\xff\xffmoof', '\0'],
		run: walked('\x7f\xff\xff\xffmdat', movBoxes),
	},
	{
		name: 'fragments of a film',
		fragments: [
			'\0\0\0\x10tfhd\0\x02\0\0\0\0\0\x01',
			'\0\0\0\x10trun\0\0\x02\0\0\0\0\x08',
			'\0\0\x10\0trun\0\0\x0f\0\xff\xff\xff\xff',
			'\0\0\0\x08moof',
			'\0\0\0\x08traf',
			'\0\0\0\x01',
		],
		run: walked('\x7f\xff\xff\xffmoof\x7f\xff\xff\xfftraf', movBoxes),
	},
	{
		name: 'moments of an iPhone in a film',
		fragments: [
			'\0\0\0\x10mebx\0\0\0\0\0\0\0\x01',
			'\0\0\x0f\0keys',
			'\0\0\0\x10\0\0\0\x01',
			'\0\0\0\x08keyd',
			'\0\0\0\x08',
			'\0',
		],
		run: walked(
			`${['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'].map((name) => `\x7f\xff\xff\xff${name}`).join('')}\0\0\0\0\0\0\0\x01`,
			movBoxes,
		),
	},
	{
		name: 'chunks of an AVI',
		fragments: [
			'RIFF\xff\xff\xff\x7fAVI ',
			'LIST\x04\0\0\0INFO',
			'JUNK\0\x10\0\0',
			'IART\0\0\0\0',
			'00dc\x01\0\0\0',
			'_PMX\0\x10\0\0',
			'\0',
		],
		run: walked('', aviChunks),
	},
	{
		name: 'elements of Matroska',
		fragments: [
			'\x18\x53\x80\x67\xff',
			'\xec\x80',
			'\x12\x54\xc3\x67\x4f\xff',
			'\x73\x73\x4f\xff',
			'\x67\xc8\x88\x45\xa3\x81a',
			'\xb6\x4f\xff',
			'\xa3\x81\x81',
			'\0',
		],
		run: walked('', matroskaElements),
	},
	{
		name: 'packets of a transport stream',
		fragments: [
			`G@\0\x10\0${'\0\0\0'.repeat(61)}`,
			`G\0\0\x10${'\x02\xb0\x08'.repeat(61)}a`,
			`G@\0\x10\0\0\xb0\xff${'a'.repeat(180)}`,
			'G',
			'\0',
		],
		run: walked(`G\0\0\x10${'\xff'.repeat(184)}G`, transportPackets),
	},
	{
		name: 'notes of an FLV',
		fragments: ['\x12\0\0\x05', '\0\0\0\0', '\0\0\x02\0\x01a', 'FLV\x01', '\x09', '\0'],
		run: walked('', flvTags),
	},
	{
		name: 'objects of an ASF',
		fragments: [
			`\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c${'\xff\xff\0\0\0\0\0\0'}`,
			`a${'\0'.repeat(15)}\x18${'\0'.repeat(7)}`,
			'\0',
		],
		run: walked('', asfObjects),
	},
	{
		name: 'texts of an ASF',
		fragments: ['\x02\0a\0\0\0\x02\0b\0', '\0', '\xff'],
		run: walked(
			`\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c\xff\xff\xff\0\0\0\0\0${'\0'.repeat(6)}` +
				'\x40\xa4\xd0\xd2\x07\xe3\xd2\x11\x97\xf0\0\xa0\xc9\x5e\xa8\x50\0\0\x0f\0\0\0\0\0',
			asfObjects,
		),
	},
	{
		name: 'chunks of RealMedia',
		fragments: ['PROP\0\0\0\x08', 'a\0\0\0', 'DATA\0\0\0\x09', '\0'],
		run: walked('', realChunks),
	},
	{
		name: 'packets of a program stream',
		fragments: ['\0\0\x01\xbe\0\xff', '\0\0\x01\xf0\0\0', '\0\0\x01\0', '\xff', '\0'],
		run: walked('', programPackets),
	},
];

const names = ['a', '.', '/', '..', ' ', '\u00A0', '1', '0', '(', 'é', '가', '\u0301', '\uD800', '😀', '\t'];

/** What a parser of tags may find in a file, whatever precedes it. */
const soundParts = [
	'TXXX\0\0\0\x05\0\0\x03a\0b',
	'\0\0\0\x08moov',
	'\0\0\0\x10free\0\0\0\0\0\0\0\0',
	'OggS\0\0',
	'\x01\x01\x1A\x45\xDF\xA3',
	'LIST\x04\0\0\0INFO',
	'\xFF\xFB\x90\x64',
	'(1)',
	'\0',
];
const soundHeads: Readonly<Record<string, string>> = {
	'audio/mpeg': 'ID3\x04\0\0\0\x3F\x7F\x7F',
	'audio/mp4': '\0\0\0\x10ftypM4A \0\0\0\0',
	'audio/flac': 'fLaC\0\0\0\x22',
	'audio/ogg': 'OggS\0\x02',
	'audio/wav': 'RIFF\xFF\xFF\xFF\x7FWAVE',
	'audio/x-ape': 'MAC ',
	'audio/webm': '\x1A\x45\xDF\xA3',
};

/** A Blob takes longer than what is read of it. */
const blobAtOnce = (bytes: Buffer) =>
	({
		...{ size: bytes.length, type: '' },
		slice: (begin: number, end: number) => ({
			arrayBuffer: async () => new Uint8Array(bytes.subarray(begin, end)).buffer,
		}),
	}) as unknown as Blob;

const tagsIn = (text: string, type: string) => tagsOf(new Blob([bytesOf(text)], { type })).catch(() => undefined);

/**
 * As a parser should not be: the measurement has to find it. It reads no more than the longest text by which growth is judged, or the
 * square of the largest would take half a minute; and that several times, or a fast machine takes too little time for a comparison.
 */
export const slowParser: Parser = {
	name: 'a slow parser',
	fragments: [' ', 'a'],
	run: (text) => {
		const read = text.slice(0, (isLong ? 256 : 32) * 1024);
		for (let times = 0; times < 2; times++) read.replace(/\s+$/, '');
	},
};

/** Everything that reads texts or bytes from outside, as far as it is ours, and the libraries that run in workers of the page. */
export const parsers: readonly Parser[] = [
	{ name: 'first bytes', fragments: [...xml, '<smil', '#EXTM3U', '\0', 'RIFF'], run: (text) => sniff(bytesOf(text)) },
	{ name: 'document type', fragments: xml, run: findDoctype },
	{
		name: 'containers of videos',
		fragments: [
			'\0\0\0\x18ftypisom',
			'\0\0\0\x08',
			'moov',
			'\x1A\x45\xDF\xA3',
			'G',
			'\0\0\x01',
			'\xBA',
			'RIFF',
			'ID3',
			'a',
		],
		run: (text) => videoContainer(bytesOf(text.slice(0, 4096))),
	},
	{
		name: 'EXIF data of images',
		fragments: [
			'\xFF\xE1\0\x40Exif\0\0MM\0*\0\0\0\x08\xFF\xFF',
			'\x01\x12\0\x03\0\0\0\0\0\0\0\0',
			'\0\0\0\x04zTXta\0\0x....',
			'\0\0\0\x40eXIfMM\0*\0\0\0\x08\xFF\xFF',
			'EXIF\0\0\0\x40',
			'\0\0\0\x08mini',
			'infe\x03',
			'Exif',
			'\xFF',
			'\xFF\0',
			'\0',
		],
		run(text) {
			for (const format of ['jpeg', 'png', 'webp', 'avif'] as const) minimizeMetadata(bytesOf(text), format);
		},
	},
	{
		name: 'frames of animations',
		fragments: [
			'ANMF',
			'ANM',
			'A',
			'fcTL',
			'fcT',
			'!\xF9\x04',
			'\xFF\xDA',
			'\xFF',
			'\0',
			'\0\0\0\x08trak',
			'\0\0\0\x08stsc',
		],
		run(text) {
			keepFirstFrame(bytesOf(text), 'webp');
			pixelsOf(
				bytesOf(
					`\0\0\0\x10ftypavif\0\0\0\0\0\0\0\x1Cmeta\0\0\0\x14ispe\0\0\0\0\0\0\0\x02\0\0\0\x02\0\xFF\xFF\xFFmoov${text}`,
				),
			);
			pixelsOf(bytesOf(`GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0${text}`));
			const png = bytesOf(`\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\0\0\0\0${text}`);
			pixelsOf(png);
			mayTakeLong(png);
			const jpeg = bytesOf(`\xFF\xD8\xFF\xC2\0\x11\x08\0\x01\0\x01${text}`);
			pixelsOf(jpeg);
			pixelsOf(bytesOf(`RIFF\0\0\0\0WEBPVP8X\x0A\0\0\0\x02\0\0\0\0\0\0\0\0\0${text}`));
		},
	},
	{
		name: 'colour profiles of pictures',
		// Blocks that are empty, as they are, and of 258 times the letter before.
		fragments: [
			...['\0\0\0\x04iCCPa\0\0x\x9C', '\0\0\0\xFF\xFF', '\x4B\x1C\0', '\xFF\xE2\0\x02', '\0', 'a', 'i', 'iC'],
			...['\x02\x08\x20\x80\0', '\0\0\0\0iCCP', '\0\x01\0\0iCCP'],
		],
		run(text) {
			pixelsOfIconMetadata(bytesOf(`\0\0\x01\0${text}`), maxPixels);
			for (const length of ['\0\0\0\x04', '\x7F\xFF\xFF\xFF']) {
				const profile = `${length}iCCPa\0\0x\x9C${text}`;
				pixelsOf(bytesOf(`\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\0\0\0\0${profile}`));
			}
			pixelsOf(bytesOf(`\xFF\xD8\xFF\xC0\0\x11\x08\0\x01\0\x01\x03${'\0'.repeat(9)}${text}`));
		},
	},
	{
		name: 'ICC profiles of images',
		fragments: ['D2B4\0\0\0\0\0\0\0\0', '\xFF', '\0'],
		run: (text) => mayApplyProfile(bytesOf(text)),
	},
	{
		name: 'strips of TIFF images',
		// Directories, each of whose entries names the whole file as lengths of strips that are 0.
		fragments: ['II*\0\x08\0\0\0\xff\xff', '\x17\x01\x01\0\0\x03\0\0\x08\0\0\0', '\0', '\xff'],
		run: (text) => readsTwice(bytesOf(text), 'tiff'),
	},
	{
		name: 'pictures',
		fragments: [
			'\xFF\xD8',
			'\xFF\xC4\0\x02',
			'\xFF\xE0\0\0',
			'\xFF',
			'\0\0\0\x08meta',
			'\0\0\0\x08free',
			'ispe',
			'!\xFE\0',
		],
		run: (text) => {
			for (const head of ['', '\xFF\xD8', 'GIF89a\0\0\0\0\0\0\0', '\0\0\0\x10ftypavis\0\0\0\0']) {
				describeImage(bytesOf(head + text));
			}
		},
	},
	{
		name: 'user agents',
		fragments: ['Version/1 ', 'Version/', 'Mozilla/', 'Safari/', 'Mobile ', ' ', '.'],
		run: describeClient,
	},
	{ name: 'names', fragments: names, run: normalizeName },
	{ name: 'names as a page shows them', fragments: ['\u202A', '\u2069', '\uD800', '😀', 'a', ' '], run: shownName },
	{
		name: 'names of shared folders',
		fragments: ['a', ' (ada', ' (ada)', ' (ada 2)', ' (', ')', ' 1', '1.', '.', 'é'],
		run: (text) => namedFolders(['', ' (ada)'].map((end, n) => sharedFolder(`${text}${end}`, n))),
	},
	{ name: 'paths', fragments: names, run: parsePath },
	{
		name: 'folders above a path',
		fragments: ['a/', `${'é'.repeat(20)}/`, '/', 'a', 'é'],
		run(text) {
			endsAbove(text);
			pathsTo(text as StoragePath);
			new PathSet([`${text}a`, text.slice(0, text.length / 2)]).covers(text);
		},
	},
	{ name: 'private names', fragments: ['.', ' ', 'a', '．', '.stowage'], run: isPrivateName },
	{ name: 'order of names', fragments: names, run: (text) => compareNames(text, `${text}a`) },
	{
		name: 'search',
		fragments: names,
		run: (text) => searchMatcher({ term: `${text.slice(0, 24)}b` })({ name: text, type: 'file', size: 0, mtime: 0 }),
	},
	{
		name: 'names of archives',
		fragments: names,
		run: (text) => zipFileName([{ path: text as never, type: 'directory' }], new Date(0)),
	},
	{
		name: 'headers of names',
		fragments: [...names, '"', '%', "'"],
		run: (name) => userFileHeaders({ name, isInline: false, isKept: false, isPdf: false }),
	},
	{
		name: 'headers of parts',
		fragments: [';a=b', ';', ' ', 'a=b', ';a="', '\\', '"', ";a*=utf-8''", '%41', '='],
		run: (text) => parsePartHeader([`form-data; name="a"${withOwnNames(text)}`]),
	},
	{
		name: 'forms',
		fragments: [
			'--b\r\n',
			'\r\n',
			'Content-Disposition: form-data; name="a"',
			'; filename="f"',
			'--',
			'b',
			'\r',
			'\n',
			': ',
		],
		run: readForm,
	},
	{
		name: 'JSON before it is parsed',
		fragments: ['{', '[', '"', '\\', ',', ']', 'a', ' '],
		run: (text) => new JsonShape().add(bytesOf(text)),
	},
	{
		name: 'controls',
		fragments: ['\x1B', '\x9B', '\u202E', '\u200D', '\u2028', '\uD800', '😀', 'a', '\n'],
		run: (text) => [escapeControls(text), escapeJson(text)],
	},
	{
		name: 'lists on a terminal',
		fragments: ['a', 'aא', '字', 'e\u0301', '👩‍👩‍👧', ' ', '/'],
		run: (text) => (['cut', 'wrap'] as const).map((fit) => new Table([{ title: 'PATH', fit }]).lines([[text]], 80)),
	},
	{ name: 'tus metadata', fragments: ['filename YQ==', ',', ' ', '=', 'a', 'a,'], run: parseUploadMetadata },
	{
		name: 'checksums',
		fragments: ['sha256 ', 'sha-256=:', 'A', '=', ' ', ':'],
		run: (text) => [attempt(() => parseChecksum(text)), attempt(() => parseFileDigest(text))],
	},
	{
		name: 'ranges',
		fragments: ['bytes=', '0-1', ',', '-', ' ', '9'],
		run: (text) => parseRanges(`bytes=${text}`, 1000),
	},
	{
		name: 'preconditions',
		fragments: ['"a"', 'W/', ',', '*', ' ', 'Mon, 01 Jan 2031', '('],
		run: (text) =>
			checkPreconditions(
				{ method: 'GET', headers: { 'if-none-match': text, 'if-unmodified-since': text } },
				{ etag: '"b"', mtime: 0 },
			),
	},
	{
		name: 'cookies',
		fragments: ['sid=Fe26.2*', 'sid=', 'device=a~', ';', ' ', '=', '*', 'a'],
		run: (text) => [
			hasSessionCookie({ raw: { req: { headers: { cookie: text } } } } as never),
			keepOwnCookies({ cookie: text }, { session: 'sid', device: 'device', share: 'share', binding: '__Host-sid-a' }),
		],
	},
	{
		name: 'forwarded headers',
		fragments: ['10.0.0.1', ',', '[', '::1', ']', ':80', ' ', '1.', 'a'],
		run: (text) => readClient(request({ 'x-forwarded-for': text, 'x-forwarded-proto': text, host: text })),
	},
	{
		name: 'request lines',
		fragments: ['/', '%2F', '%', 'a', '.', '?', 'http://', '#'],
		run: (text) => [attempt(() => checkRawPath(text)), attempt(() => decodePath(text, '/')), originForm(text)],
	},
	{ name: 'hosts', fragments: ['a', '.', ':', '[', ']', '*.', '1', '@', '/'], run: isHostPattern },
	{ name: 'networks', fragments: ['10.', ':', '/', '1', 'f'], run: parseNetwork },
	{
		name: 'sizes and spans',
		fragments: ['1', '.', ' ', 'mb', 'day', 's'],
		run: (text) => [parseByteSize(text), parseDuration(text)],
	},
	{
		name: 'settings',
		fragments: ['/', 'a', '.', '..', 'unix:', '*.', ',', ' '],
		run: (text) => configSchema.safeParse({ basePath: text, allowedHosts: text, listen: text, trustedProxies: [text] }),
	},
	{
		name: 'secrets in addresses',
		fragments: ['mysql://', ':', '@', 'a', '/', 'password'],
		run: (text) => withoutSecrets({ [text]: text, databaseUrl: text }),
	},
	{
		name: 'times of the command line',
		fragments: ['2031-', '01', 'T', ':', ' ', '1d', 'Z', '+'],
		run: (text) => timeOf('--since', text, { isUtc: true, ambiguous: 'first', now: 0 }),
	},
	{ name: 'mounts', fragments: ['\\040', '\\', '0', ' ', 'a'], run: unescapeOctal },
	{
		name: 'units of systemd',
		fragments: ['[Service]\n', 'ReadWritePaths=', ' ', '\t', '"', "'", '-', '=', '\\\n', '\n', 'a', 'User=a\n', '['],
		run: unitFile,
	},
	{ name: 'the audit log', fragments: ['{"time":"', '{', '"', '[', '\\', 'a'], run: parseAuditLine },
	{
		name: 'long paths of the audit log',
		fragments: ['/', 'a', 'é', '😀', '\uD800', 'a/'],
		run: (path) =>
			shortened({ entry: { action: 'upload', outcome: 'ok', path }, count: 1, first: 0, last: 0 } as Aggregate),
	},
	{
		name: 'names of deleted items',
		fragments: [`${'0'.repeat(32)}.WyJhIiwxLCJhIiwiIl0.`, 'a', '.', '-', '%', '%2F', ' '],
		run: parseUnrecordedName,
	},
	{ name: 'ids of staged files', fragments: ['copy-', '0', 'a', '-', 'f'], run: parseStagedId },
	{
		name: "HandBrake's progress",
		fragments: ['Encoding: task 1 of 1, ', '1', '.', ' %', ' (', 'h', '\r', '\n'],
		run: (text) => eachLine(text),
	},
	{ name: "HandBrake's encoders", fragments: [' -e, ', ' ', '\n', 'x264', '   -'], run: parseEncoders },
	{
		name: 'the headers of an AVI',
		fragments: ['LIST', '\0\0\0\0', 'hdrl', 'strl', 'strh', '\xFF\xFF\xFF\x7F', '\x04\0\0\0', 'a'],
		run: async (text) => {
			const bytes = bytesOf(`RIFF\0\0\0\0AVI ${text}`);
			await aviDelay(async (at, length) => bytes.subarray(at, at + length));
		},
	},
	...containers,
	{
		name: 'XMP of a film',
		fragments: [
			...xml,
			' xmlns:a="http://ns.adobe.com/xap/1.0/"',
			'<xmpDM:Tracks>',
			'</a>',
			'<![CDATA[',
			']]>',
			' a="',
			'=',
			'/',
			'\0',
		],
		run: (text) => textsOfXmp(bytesOf(text)),
	},
	{
		name: 'lines of subtitles of a film',
		fragments: ['{\\', '{', '}', '\\i1', '<', '<font ', '<br', '>', '&amp;', '&', ',', '\\N', '\n', ' ', '\0', 'a'],
		run: (text) => {
			for (const kind of ['text', 'ASS', 'WebVTT', 'text of MP4'] as const) {
				const shown = textOf(kind, bytesOf(text));
				rowsOf(kind, shown);
				hasEffect(kind, shown);
			}
		},
	},
	{
		name: 'samples of subtitles of a film',
		fragments: ['\0\0\0\x08encd', '\0\0\x0f\0styl', '\0\0\0\0', 'a'],
		run: (text) => boxesOf(bytesOf(`\0\0${text}`)),
	},
	{
		name: "ffprobe's packets of subtitles",
		fragments: [
			'[PACKET]\n',
			'[STREAM]\n',
			'stream_index=2\n',
			'index=2\n',
			'flags=',
			'D',
			'00000000: ',
			'6161 ',
			'61',
			'\n',
			'[/PACKET]\n',
			'[/STREAM]\n',
		],
		run: (text) => {
			const reader = subtitleReader([{ index: 2, kind: 'text of MP4' }]);
			for (const line of text.split('\n')) reader.take(line);
			reader.read();
		},
	},
	{
		name: 'packets of subtitles of a film',
		fragments: ['a\n', 'a\r', 'a\\N', '{\\i1}', '{\\', '<font ', ' \n', '\0'],
		run: (text) => subtitlePacket(text, 'ASS')(),
		lastStep: (text) => {
			const ends = (['text', 'ASS', 'WebVTT'] as const).map((kind) => subtitlePacket(text, kind));
			return () => ends.map((end) => end());
		},
	},
	{ name: "ffprobe's report", fragments: ['{"streams":', '{', '[', '"', '}', ',', '\n'], run: parseProbe },
	{
		name: "ffprobe's packets and HandBrake's log",
		fragments: ['0,', '1.2', '417,', 'N/A,', 'K_', ',', '-', '\n', 'a', 'error', '['],
		run: eachPacket,
	},
	{
		name: "ffprobe's frames",
		fragments: ['stream_index=0', 'pts_time=1.2', 'width=640', 'side_data_type=', 'Stereo 3D', '|', '=', '\n', 'a'],
		run: eachFrame,
	},
	{ name: "HandBrake's scan", fragments: ['JSON Title Set: {', '{', '[', '"', '}', ',', '\n'], run: parseScan },
	{
		name: 'subtitles',
		fragments: [
			'00:00:01,000',
			' ',
			'-->',
			'WEBVTT\n',
			'00:01.000 --> 00:02.000\n',
			'00:01.000 --> 00:02.000 ',
			'line:-9',
			'\n\n',
			'\n',
			'\r',
			'<font',
			'>',
			'<',
			'{\\an8}',
			'{\\',
			'1',
			'\t',
			'\n1\n00:00:01 , 5 --> 00:00:02\n',
		],
		run: toVtt,
	},
	{
		name: 'styles of subtitles',
		fragments: ['STYLE', '\n', '::cue', '(', ')', '{', '}', 'color', ':', 'rgb(', 'a', ' ', ';', '/*', '*/', '"', ','],
		run: plainStyles,
	},
	{
		name: 'tags of sounds',
		isEnded: true,
		fragments: soundParts,
		run: async (text) => {
			for (const [type, head] of Object.entries(soundHeads)) await tagsIn(`${head}${text}`, type);
		},
	},
	{
		name: 'counts of tags',
		// The length of a text is read in two ways, of which one leads to the end of the file.
		fragments: [
			'Taaa\x80\x80\x80\x81\x01\x01x',
			'CHAP\x80\x80\x80\x81\x01\x01',
			'CTOC\0\0\x7F\x7F\0\0a\0\x03\xFF',
			'\0',
			'a',
		],
		run: (text) => hasTooManyTags(blobAtOnce(bytesOf(`ID3\x04\0\0\x7F\x7F\x7F\x7F${text}`))),
	},
	{
		name: 'Markdown',
		isEnded: true,
		fragments: ['*', '_a', '[', '](', '<', '`', '> ', '- ', '|', '\n', '![', '  ', 'a', '&'],
		run: markdownTree,
	},
	...['javascript', 'xml', 'css', 'python', 'bash', 'c', 'markdown', 'sql', 'yaml'].map((language) => ({
		name: `${language} in colours`,
		isEnded: true as const,
		fragments: ['/*', '"', "'", '`', '<', '(', '{', '\n', ' ', 'a', '0', '=', '$', '\\'],
		run: (text: string) => runTextTask({ kind: 'highlight', text: text, language }),
	})),
	{
		name: 'tables',
		isEnded: true,
		fragments: ['"', ',', ';', '\t', '\n', '\r', 'a', '""', ' '],
		run: (text) => runTextTask({ kind: 'table', text, delimiter: '' }),
	},
	{
		name: 'encodings',
		isEnded: true,
		fragments: ['\xE4', '\x1B$B', '\x82\xA0', '\xFF', 'a', '\0', '\x81', '\xB0\xA1'],
		run: (text) => runTextTask({ kind: 'detect', bytes: bytesOf(text) }),
	},
	...(['UTF-8', 'Shift_JIS', 'windows-1252', 'GB18030', 'Big5', 'ISO-2022-JP'] as const).map((encoding) => ({
		name: `${encoding} in the editor`,
		isOfPage: true as const,
		// Also lines of codes that are read and not written.
		fragments: ['\n', '\r', 'a', '\x82\xA0', '\xE4', '\xFA\x40', '\x80\n', '\xF9\xF9\n', '\x1B(J\x1B(Ba\n'],
		run: (text: string) => {
			const read = readText(Uint8Array.from(bytesOf(text)), encoding);
			return read && writeText(read, `a${read.text}`);
		},
	})),
	{ name: 'what is selected in the editor', fragments: ['a', 'ab', 'aab', ' ', '\uD800'], run: overlapsOf },
	{ name: 'numbers in tables', fragments: ['-', ' ', '$', '1', ',', '%'], run: isNumber },
	{
		name: 'handlers in markup',
		fragments: ['<a', ' on', 'onclick', '=', '"', "'", '>', ' ', '/', '<!'],
		run: sanitise,
	},
	{
		name: 'HTML in Markdown',
		fragments: ['<b>', '</b>', '<b ', '<p>', '<!--', '<style>', '"', '&amp;', 'x'],
		run: htmlTree,
	},
	{
		name: 'bounds of markup',
		fragments: [...xml, '</', '<a>', '<![CDATA[', '<!ENTITY', '&#60;'],
		run: (text) => countElements(text, Number.POSITIVE_INFINITY),
	},
	{
		name: 'HTML of books',
		fragments: ['<b>', '</b>', '<b ', '<svg/>', '<!--', '<style>', '"', '&amp;', 'x'],
		run: (text) => [htmlAsXml(text), textOfHtml(text, 5000)],
	},
	{ name: 'lines of texts', fragments: ['\n', 'a', '😀', '\uD800', ' '], run: textBlocks },
	{
		name: 'coloured lines',
		fragments: ['\n', '<span class="hljs-a">', '</span>', '&lt;', 'a'],
		run: colouredBlocks,
	},
	{
		name: 'styles',
		fragments: [
			...[':is(', ')', '{', '}', '&', '~', ',', '@media ', '[', ' ', '</style', '<![CDATA['],
			...['url(', '"', '\\', '\n', '<!--', '/*'],
		],
		run: (text) => [isNestedTooDeep(text), stylesCostTooMuch(noElements, [text]), sanitise(`<style>${text}`)],
	},
	{
		name: 'functions of selectors',
		fragments: [':a()', '.a()', '\\a()'],
		run: (text) => stylesCostTooMuch(noElements, [`${text}{}`]),
	},
	{
		name: 'values of styles',
		fragments: [
			...['{', '}', ';', ':', '(', ')', '"', '\\', 'a', '--', '@a-', 'content:"a";', '--a:var(--a) var(--b);'],
			...['counter(a,b)', 'attr(a)', 'initial-value:a;', 'all:inherit;', '@keyframes a{', 'animation:a,none;'],
		],
		run: (text) => [
			stylesCostTooMuch(noElements, [text]) || valuesCostTooMuch(noElements, [text]),
			valuesCostTooMuch(styledElement(text), []),
		],
	},
	{
		name: 'declarations of one rule with a long prelude',
		fragments: ['initial-value:a;', 'content:"a";', '--a:b;'],
		run: (text) => valuesCostTooMuch(noElements, [`@property ${'a'.repeat(text.length)}{${text}}`]),
	},
	{
		name: 'filters of one rule with a long prelude',
		fragments: ['filter:blur(1px);', 'filter:var(--a);', '--a:blur(1px);'],
		run: (text) => drawsTooMuch(emptyRoot, [`${'a,'.repeat(text.length)}{${text}}`]),
	},
	{ name: 'areas of grids', fragments: ['grid', ':', '"a"', ';', '{', '}', '\\', '/*', '('], run: namesTooManyAreas },
	{ name: 'shapes', fragments: ['circle(', 'a', ' ', ',', ')', 'calc(', '('], run: isShapedByPicture },
	{ name: 'grids', fragments: ['repeat(', '9', ' ', ',', ')', 'r\\65peat(', '\\'], run: hasTooManyTracks },
	{ name: 'addresses in CSS', fragments: css, run: (text) => replaceAddresses(text, () => undefined) },
	{
		name: 'references of drawings',
		fragments: [...css, '#', '%', '%ff', '\\75 rl('],
		run: (text) => [splitRules(text), idsIn(text), idsOfAddress(`#${text}`), namesAddresses(text)],
	},
	{
		name: 'addresses with contents in drawings',
		fragments: ['data:', 'd', '\t', 'ata:image/png;base64,', ',', 'iVBO', '%0A', '\\64 ata:', ' ', '"'],
		run: (text) => dataAddresses(text).map(pixelsOfAddress),
	},
	{
		name: 'the language of a document',
		fragments: ['<w:lang', ' w:val="', 'de', '-CH', '"', '>', ' ', '<'],
		run: languageIn,
	},
	{
		name: 'symbols of a document',
		fragments: ['\uf0b7', 'a', 'Wingdings'],
		run: (text) => withPlainSymbols(text, text),
	},
	{
		name: 'addresses of links',
		fragments: ['https://nas/', '/', 'api/', '%61', '..', '%', '\\', '@', ':'],
		run: (text) => isOwnCall(text, { href: 'https://nas/', basePath: '' }),
	},
	{
		name: 'addresses of the page',
		fragments: ['/', 'a', '%2F', '%', '..', '?'],
		run: (text) => parseLocation(`/browser/${text}`, new URLSearchParams({ search: text, sort: text })),
	},
	{
		name: 'directories of archives',
		fragments: [directoryEntry(), 'PK\x05\x06', 'PK\x01\x02', '\0', 'a'],
		run: (text) => openZip(bytesOf(text + directoryEnd), 1e6),
	},
];

/** No parameter may occur twice. */
function withOwnNames(text: string): string {
	let count = 0;
	return text.replaceAll(';a', () => `;a${count++}`);
}

/** Two parsers of one text: a refusal by the first must not hide the other. */
function attempt(parse: () => unknown): unknown {
	try {
		return parse();
	} catch (error) {
		return error;
	}
}

function eachLine(text: string): void {
	const take = lineReader(parseProgress);
	// In the pieces that a pipe brings.
	for (let at = 0; at < text.length; at += 64) take(text.slice(at, at + 64));
}

/** Has a packet of subtitles read up to its end. Returns what ends it. */
function subtitlePacket(text: string, kind: SubtitleTrack['kind']): () => void {
	const reader = subtitleReader([{ index: 2, kind }]);
	for (const line of ['[PACKET]', 'stream_index=2']) reader.take(line);
	const digits = bytesOf(text).toString('hex').replaceAll(/../g, '$& ');
	for (let at = 0; at < digits.length; at += 48) reader.take(`00000000: ${digits.slice(at, at + 48)}`);
	return () => reader.take('[/PACKET]');
}

async function eachPacket(text: string): Promise<void> {
	const errors = decoderErrors();
	const inLines = async (onLine: (line: string) => void) => {
		const take = lineReader(onLine);
		for (let at = 0; at < text.length; at += 64) take(text.slice(at, at + 64));
		return { code: 0 };
	};
	const ffprobe = { run: (_: unknown, { onLine }: { onLine(line: string): void }) => inLines(onLine) };
	await countPackets(ffprobe as never, 3, new AbortController().signal);
	await inLines((line) => errors.take(line));
}

function eachFrame(text: string): void {
	const { take } = frameReader(() => {});
	for (const line of text.split('\n')) take(line);
}

async function readForm(text: string): Promise<void> {
	const headers = { 'content-type': 'multipart/form-data; boundary=b' };
	const { parser } = createFormParser({ headers } as never, () => {});
	parser.on('file', (_, file) => file.resume());
	parser.end(bytesOf(text));
	await once(parser, 'close');
}

async function unitFile(text: string): Promise<void> {
	const root = await mkdtemp(path.join(os.tmpdir(), 'stowage-unit-'));
	try {
		const folder = path.join(root, 'etc/systemd/system');
		await mkdir(folder, { recursive: true });
		await writeFile(path.join(folder, 'stowage.service'), `[Service]\n${text}`);
		await installedUnit(root);
	} finally {
		await rm(root, { recursive: true });
	}
}

function directoryEntry(): string {
	const entry = Buffer.alloc(47);
	entry.writeUInt32LE(0x02014b50);
	entry.writeUInt16LE(1, 28);
	return entry.toString('latin1');
}

/** 65,535 entries, the first of them at the beginning. */
const directoryEnd = `PK\x05\x06${'\0'.repeat(4)}${'\xFF'.repeat(4)}${'\0'.repeat(10)}`;
