import type { PreviewKind } from './previews.js';
import { videoContainer } from './videoContainer.js';
import { findDoctype, skipMisc } from './xmlProlog.js';

/** How many of a file's first bytes `sniff` wants to see. */
export const sniffedBytes = 4096;

/**
 * The kind of a file by its first bytes. A playlist names other files, which a player would fetch, so it is never played. Undefined for
 * bytes that are none of these: also for some formats, such as MP3 without a tag, that can't be recognized for certain.
 */
export function sniff(firstBytes: Uint8Array): PreviewKind | 'playlist' | undefined {
	const head = firstBytes.subarray(0, sniffedBytes);
	const latin = (start: number, end: number) => String.fromCharCode(...head.subarray(start, end));
	const begins = (text: string, at = 0) => latin(at, at + text.length) === text;
	if (head.length === 0) return 'text';
	if (begins('\x89PNG\r\n\x1a\n') || begins('\xFF\xD8\xFF')) return 'image';
	// The other formats begin with letters, which a text may begin with, too; none has a first 4 kB that could be a text.
	if (isText(head)) return kindOfText(latin(0, sniffedBytes));
	if (begins('GIF87a') || begins('GIF89a')) return 'image';
	if (begins('II*\0') || begins('MM\0*') || begins('\0\0\x01\0')) return 'image';
	if (begins('BM') && bitmapHeaders.includes(latin(14, 18))) return 'image';
	if (begins('ftyp', 4) && kindOfBrand(latin(8, 12)) !== 'video') return kindOfBrand(latin(8, 12));
	if (videoContainer(head) !== undefined) return 'video';
	if (begins('RIFF')) return riffKinds[latin(8, 12)];
	if (begins('FORM')) return begins('AIF', 8) ? 'audio' : undefined;
	if (begins('OggS')) return 'audio';
	if (begins('ID3') || begins('fLaC') || begins('MThd') || begins('#!AMR')) return 'audio';
	if (latin(0, 1024).includes('%PDF-')) return 'pdf';
	if (begins('PK\x03\x04')) return zipKind(latin(0, 512));
	if (begins('\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1') || richText.test(latin(0, 6))) return 'document';
	// A frame of MPEG audio layer III or of ADTS.
	if (head[0] === 0xff && head.length > 3 && [0xfb, 0xfa, 0xf3, 0xf2, 0xe3, 0xf1, 0xf9].includes(head[1] ?? 0)) {
		return 'audio';
	}
	return isPlaylist(latin(0, sniffedBytes)) ? 'playlist' : undefined;
}

/** The lengths of a bitmap's second header, of which one stands behind the first. */
const bitmapHeaders = [12, 40, 52, 56, 64, 108, 124].map((length) => `${String.fromCharCode(length)}\0\0\0`);

/** The beginning of a rich text: its version, or the first of its commands. */
const richText = /^\{\\rtf[\d\\]/;

/** A PDF and a rich text may be texts throughout. Programs look for the beginning of a PDF in its first kilobyte. */
function kindOfText(head: string): PreviewKind | 'playlist' {
	if (head.slice(0, 1024).includes('%PDF-')) return 'pdf';
	if (richText.test(head)) return 'document';
	return isPlaylist(head) ? 'playlist' : 'text';
}

const riffKinds: Readonly<Record<string, PreviewKind>> = { WEBP: 'image', WAVE: 'audio' };

function kindOfBrand(brand: string): PreviewKind {
	if (['avif', 'avis', 'heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1'].includes(brand)) return 'image';
	return ['M4A ', 'M4B ', 'M4P '].includes(brand) ? 'audio' : 'video';
}

/** A book declares its type in its first entry; an office document begins with one of a few entries. */
function zipKind(head: string): PreviewKind | undefined {
	if (head.slice(30, 58) === 'mimetypeapplication/epub+zip') return 'epub';
	if (head.slice(30, 80).startsWith('mimetypeapplication/vnd.oasis.opendocument')) return 'document';
	return /^(\[Content_Types\]\.xml|_rels\/|docProps\/|word\/|xl\/|ppt\/)/.test(head.slice(30, 64))
		? 'document'
		: undefined;
}

function isPlaylist(head: string): boolean {
	const text = head.slice(head.startsWith('\xEF\xBB\xBF') ? 3 : 0).trimStart();
	if (/^(#EXTM3U|\[playlist\]|ffconcat version|RTSPtextRTSP)/i.test(text)) return true;
	const found = findDoctype(text);
	if (found === 'broken') return false;
	const root = skipMisc(text, found === 'none' ? 0 : found.end);
	return root !== undefined && /^<(smil|MPD|asx|playlist)\b/i.test(text.slice(root, root + 10));
}

/** No text has a NUL or more than a few other control characters, unless it is UTF-16 and says so. */
function isText(head: Uint8Array): boolean {
	if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return true;
	let controls = 0;
	for (const byte of head) {
		if (byte === 0) return false;
		if (byte < 0x20 && byte !== 9 && byte !== 10 && byte !== 12 && byte !== 13 && byte !== 27) controls++;
	}
	return controls <= head.length / 100;
}

/** Kinds whose first bytes are unambiguous, so such files are shown by their content whatever their name is. */
const unambiguousKinds: ReadonlySet<string> = new Set(['image', 'video', 'audio', 'pdf', 'epub']);

/**
 * The kind of viewer that shows a file: the one of its name, unless its first bytes say otherwise. Bytes that no viewer
 * of that kind can show are `unknown`; files that only seem to be wrong are left to the viewer, which shows an error of
 * its own.
 */
export function effectivePreviewKind(named: PreviewKind, firstBytes: Uint8Array): PreviewKind | 'unknown' {
	const found = sniff(firstBytes);
	if (named === 'text') {
		// A source or a table that only speaks of PDFs.
		if (found === 'pdf' && !beginsPdf(firstBytes) && isText(firstBytes.subarray(0, sniffedBytes))) return 'text';
		// A playlist is an ordinary text as long as it is not played.
		if (found === 'playlist') return 'text';
		return found ?? 'unknown';
	}
	if (found === 'playlist') return 'unknown';
	if (found === undefined || !unambiguousKinds.has(found) || found === named) return named;
	// The same containers hold sound and pictures, and a name is the better guess between the two.
	if (isMedia(found) && isMedia(named)) return named;
	// An office document can't begin as a book does; the viewer reports the opposite case.
	return found;
}

const beginsPdf = (head: Uint8Array) => /^%PDF-\d\.\d/.test(String.fromCharCode(...head.subarray(0, 8)));

const isMedia = (kind: PreviewKind) => kind === 'video' || kind === 'audio';
