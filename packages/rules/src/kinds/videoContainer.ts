/** The containers of video that are recognized by their first bytes. */
export type VideoContainer =
	| 'mov'
	| 'matroska'
	| 'avi'
	| 'mpegts'
	| 'mpeg'
	| 'mpegvideo'
	| 'ogg'
	| 'flv'
	| 'asf'
	| 'rm';

/**
 * The container of a video by its first 4 kB; undefined for anything else. Programs that guess a format search a file's text for the
 * names of playlists, up to the first NUL, and then open the files that a playlist names. So a few bytes of a container are not enough:
 * lengths, versions and markers are checked, and no text is a video. Reads each byte a few times at most.
 */
export function videoContainer(head: Uint8Array): VideoContainer | undefined {
	const found = checks.find(([, isOne]) => isOne(head));
	return found === undefined || isReadAsText(head) ? undefined : found[0];
}

const checks: readonly [VideoContainer, (head: Uint8Array) => boolean][] = [
	['mov', (head) => hasFileTypeBox(head) || beginsWithAtom(head)],
	['matroska', isMatroska],
	['avi', (head) => text(head, 0, 4) === 'RIFF' && ['AVI LIST', 'AVI JUNK'].includes(text(head, 8, 16))],
	['ogg', (head) => begins(head, 'OggS\0') && byteAt(head, 5) < 8 && text(head, 0, 512).includes('theora')],
	['flv', (head) => begins(head, 'FLV\x01') && (byteAt(head, 4) & 0xfa) === 0 && text(head, 5, 9) === '\0\0\0\x09'],
	['asf', (head) => begins(head, asfHeader) && text(head, 28, 30) === '\x01\x02'],
	['rm', (head) => begins(head, '.RMF\0\0\0\x12')],
	['mpeg', isProgramStream],
	['mpegvideo', isVideoSequence],
	// As broadcast, and as cameras and Blu-ray discs have it, with a time before each packet.
	[
		'mpegts',
		(head) => areTransportPackets(head, 0, 188) || (areTransportPackets(head, 4, 192) && !beginsWithTags(head)),
	],
];

const asfHeader = '\x30\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C';

const text = (head: Uint8Array, start: number, end: number) => String.fromCharCode(...head.subarray(start, end));
const begins = (head: Uint8Array, what: string) => text(head, 0, what.length) === what;
const byteAt = (head: Uint8Array, at: number) => head[at] ?? 0;
const numberAt = (head: Uint8Array, at: number) =>
	byteAt(head, at) * 2 ** 24 + byteAt(head, at + 1) * 2 ** 16 + byteAt(head, at + 2) * 2 ** 8 + byteAt(head, at + 3);

/** Names in the playlists and manifests for which a file's text is searched. */
const playlistNames =
	/<mpd|<smil|<asx|<playlist|<compositionplaylist|<smoothstreamingmedia|#extm3u|ffconcat|dash:profile/;

/** No container has 4 kB without a NUL. */
function isReadAsText(head: Uint8Array): boolean {
	const end = head.indexOf(0);
	return end === -1 || playlistNames.test(text(head, 0, end).toLowerCase());
}

const fileTypeLengths = { smallest: 16, largest: 512 };

/** ISO base media and QuickTime: the box with its brands comes first, is short, and another box follows. */
function hasFileTypeBox(head: Uint8Array): boolean {
	if (text(head, 4, 8) !== 'ftyp') return false;
	const length = numberAt(head, 0);
	if (length < fileTypeLengths.smallest || length > Math.min(fileTypeLengths.largest, head.length)) return false;
	if (length % 4 !== 0 || !isBrand(text(head, 8, 12))) return false;
	for (let at = 16; at < length; at += 4) {
		const brand = text(head, at, at + 4);
		// Some cameras reserve room for more brands.
		if (brand !== '\0\0\0\0' && !isBrand(brand)) return false;
	}
	const next = numberAt(head, length);
	return head.length < length + 8 || ((next < 2 || next >= 8) && isBoxName(text(head, length + 4, length + 8)));
}

const isBrand = (name: string) => /^[\w +.-]{4}$/.test(name);
const isBoxName = (name: string) => /^[\w \xa9]{4}$/.test(name);

/** Atoms with which films older than `ftyp` begin, and their shortest lengths in bytes. */
const firstAtoms: Readonly<Record<string, number>> = { moov: 16, mdat: 8, wide: 8, free: 8, skip: 8, pnot: 20 };

function beginsWithAtom(head: Uint8Array): boolean {
	const name = text(head, 4, 8);
	const shortest = Object.hasOwn(firstAtoms, name) ? firstAtoms[name] : undefined;
	if (shortest === undefined) return false;
	const length = numberAt(head, 0);
	// Until the end of the file.
	if (length === 0) return name === 'mdat';
	// A longer one has its length in 64 bits.
	if (length === 1) return numberAt(head, 8) < 2 ** 16 && (numberAt(head, 8) > 0 || numberAt(head, 12) >= 16);
	// Of no text: its first byte is no letter, or, of pictures and sound of 150 MB and more, a NUL follows soon.
	const isNoText = byteAt(head, 0) < 9 || (name === 'mdat' && text(head, 8, 24).includes('\0'));
	return length >= shortest && isNoText && (name !== 'wide' || length === 8);
}

/** EBML: the elements of its header fill it exactly, and one of them says which document follows. */
function isMatroska(head: Uint8Array): boolean {
	if (!begins(head, '\x1a\x45\xdf\xa3')) return false;
	const header = elementLength(head, 4);
	if (header === undefined) return false;
	const end = header.next + header.length;
	if (end > head.length) return false;
	let isVideo = false;
	let at = header.next;
	while (at < end) {
		// Of the header's elements all have an id of two bytes, but for a checksum and a filler.
		const idLength = (byteAt(head, at) & 0x80) === 0 ? 2 : 1;
		const element = elementLength(head, at + idLength);
		if (element === undefined || element.next + element.length > end) return false;
		if (text(head, at, at + idLength) === '\x42\x82') {
			isVideo = /^(?:matroska|webm)\0*$/.test(text(head, element.next, element.next + element.length));
		}
		at = element.next + element.length;
	}
	return at === end && isVideo;
}

/** A length of EBML and where it ends; undefined for an unknown one. */
function elementLength(head: Uint8Array, at: number): { length: number; next: number } | undefined {
	const first = byteAt(head, at);
	const size = Math.clz32(first) - 23;
	if (size > 8) return undefined;
	let length = first & (0xff >> size);
	for (let n = 1; n < size; n++) length = length * 256 + byteAt(head, at + n);
	return { length, next: at + size };
}

const isStartCode = (head: Uint8Array, at: number) => text(head, at, at + 3) === '\0\0\x01';

/** A pack header of MPEG-1 or MPEG-2, with its marker bits. */
function isProgramStream(head: Uint8Array): boolean {
	if (!begins(head, '\0\0\x01\xBA')) return false;
	const marked = (at: number, mask: number, value: number) => (byteAt(head, at) & mask) === value;
	const isSecond = marked(4, 0xc4, 0x44) && marked(6, 4, 4) && marked(8, 4, 4) && marked(9, 1, 1) && marked(12, 3, 3);
	const stuffing = byteAt(head, 13) & 7;
	const isFirst = marked(4, 0xf1, 0x21) && marked(6, 1, 1) && marked(8, 1, 1) && marked(9, 0x80, 0x80);
	return (isSecond && isStartCode(head, 14 + stuffing)) || (isFirst && marked(11, 1, 1) && isStartCode(head, 12));
}

/** A sequence header of MPEG-1 or MPEG-2 video without a container. */
function isVideoSequence(head: Uint8Array): boolean {
	if (!begins(head, '\0\0\x01\xB3')) return false;
	const width = byteAt(head, 4) * 16 + (byteAt(head, 5) >> 4);
	const height = (byteAt(head, 5) & 0x0f) * 256 + byteAt(head, 6);
	const aspect = byteAt(head, 7) >> 4;
	const rate = byteAt(head, 7) & 0x0f;
	const isMarked = (byteAt(head, 10) & 0x20) !== 0;
	// One or two matrices of 64 bytes may come before the next start code.
	const isFollowed = [12, 76, 140].some((next) => isStartCode(head, next));
	return width > 0 && height > 0 && aspect > 0 && rate > 0 && rate <= 8 && isMarked && isFollowed;
}

/** Tags of ID3: programs that guess a format skip them, by a length of up to 256 MB, and look at what follows. */
const beginsWithTags = (head: Uint8Array) => begins(head, 'ID3');

const minPackets = 3;

/** Whether each packet that begins in these bytes has a valid header: some twenty of 4 kB. */
function areTransportPackets(head: Uint8Array, offset: number, stride: number): boolean {
	let packets = 0;
	for (let at = offset; at + 4 < head.length; at += stride) {
		if (!isPacketHeader(head.subarray(at, at + 5))) return false;
		packets++;
	}
	return packets >= minPackets;
}

function isPacketHeader(header: Uint8Array): boolean {
	if (header[0] !== 0x47) return false;
	const adaptation = (byteAt(header, 3) >> 4) & 3;
	if (adaptation === 1) return true;
	// A field of adaptation leaves room for a payload where there is one, and fills the packet where there is none.
	const length = byteAt(header, 4);
	return adaptation === 2 ? length === 183 : adaptation === 3 && length < 183;
}
