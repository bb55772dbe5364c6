import test from 'ava';
import { usualMs } from '../../../../test/processorTime.js';
import { sniff, sniffedBytes, type VideoContainer, videoContainer } from '../../src/index.js';

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

const packet = `G@\0\x10${'\xff'.repeat(184)}`;
const guid = '\x30\x26\xB2\x75\x8E\x66\xCF\x11\xA6\xD9\x00\xAA\x00\x62\xCE\x6C';

const heads: Readonly<Record<string, [string, VideoContainer]>> = {
	MP4: ['\0\0\0\x1cftypisom\0\0\x02\0isomavc1mp41\0\0\0\x08free', 'mov'],
	'QuickTime with room for brands': [`\0\0\0\x20ftypqt  \x20\x05\x03\0qt  ${'\0'.repeat(12)}\0\0\0\x08wide`, 'mov'],
	'QuickTime that begins with its index': ['\0\0\x02\0moov\0\0\0\x6cmvhd', 'mov'],
	'QuickTime with pictures of 200 MB first': ['\x0b\xeb\xc2\0mdat\0\0\x12\x34pictures', 'mov'],
	'QuickTime with pictures of 2 GB first': ['\x77\x35\x94\0mdatpict\0\0ures', 'mov'],
	'QuickTime with more than 4 GB of pictures': ['\0\0\0\x01mdat\0\0\0\x02\0\0\0\0', 'mov'],
	Matroska: [
		'\x1a\x45\xdf\xa3\xa3\x42\x86\x81\x01\x42\xf7\x81\x01\x42\xf2\x81\x04\x42\xf3\x81\x08\x42\x82\x88matroska\x42\x87\x81\x04\x42\x85\x81\x02\x18\x53\x80\x67\x01\0',
		'matroska',
	],
	'WebM with a checksum': ['\x1a\x45\xdf\xa3\x8d\xbf\x84\0\0\0\0\x42\x82\x84webm', 'matroska'],
	AVI: ['RIFF\0\x10\0\0AVI LIST\0\x01\0\0hdrl', 'avi'],
	'Ogg with Theora': ['OggS\0\x02\0\0\0\0\0\0\0\0\x80theora', 'ogg'],
	FLV: ['FLV\x01\x05\0\0\0\x09\0\0\0\0', 'flv'],
	ASF: [`${guid}\xe0\x14\0\0\0\0\0\0\x08\0\0\0\x01\x02`, 'asf'],
	RealMedia: ['.RMF\0\0\0\x12\0\0', 'rm'],
	'MPEG-2 program stream': ['\0\0\x01\xBA\x44\0\x04\0\x04\x01\0\x01\x03\xf8\0\0\x01\xbb', 'mpeg'],
	'MPEG-1 program stream': ['\0\0\x01\xBA\x21\0\x01\0\x01\x80\0\x01\0\0\x01\xbb', 'mpeg'],
	'MPEG-2 video': ['\0\0\x01\xB3\x14\0\xf0\x23\xff\xff\xe0\x18\0\0\x01\xb5', 'mpegvideo'],
	'transport stream': [packet.repeat(20), 'mpegts'],
	'transport stream of a camera': [`\0\0\0\0${packet}`.repeat(20), 'mpegts'],
};
for (const [name, [head, container]] of Object.entries(heads)) {
	test(`${name} is the container ${container}`, (t) => t.is(videoContainer(bytes(head)), container));
}

/** Texts for which a program that guesses formats opens other files, in several spellings. */
const playlists = [
	'<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"></MPD>',
	'<mPd\nprofiles="URN:MPEG:DASH:PROFILE:full:2011">',
	'#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n/home/films/a.ts\n#EXT-X-ENDLIST\n',
	'ffconcat version 1.0\nfile /home/films/a.ts\n',
	'<smil><body><video src="/home/films/a.ts"/></body></smil>',
	'<CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016">',
	'<SmoothStreamingMedia MajorVersion="2">',
];

/** The first bytes of containers, as far as a text could have them. */
const disguises: readonly ((text: string) => string)[] = [
	(text) => text,
	(text) => `\xEF\xBB\xBF \r\n${text}`,
	(text) => `junkftypisom${text}`,
	(text) => `\x08\x08\x08\x08ftypisom${text}`,
	(text) => `\0\0\0\0ftypisom${text}`,
	(text) => `\0\0\x10\0ftyp${text}`,
	(text) => `\0\0\0\x18ftyp\n\n\n\n${text}`,
	(text) => `\0\0\0\x19ftypisom\0\0\x02\0isomavc1x${text}`,
	(text) => `\x08\x08\x08\x08moov${text}`,
	(text) => `\x08mdatmdat${text}`,
	(text) => `\0\0\0\x02moov${text}`,
	(text) => `\x1a\x45\xdf\xa3${text}`,
	(text) => `\x1a\x45\xdf\xa3\x93\x42\x82${text}`,
	// A whole header, with the text in an element that is skipped.
	(text) =>
		`\x1a\x45\xdf\xa3${length(11 + 3 + text.length)}\x42\x82\x88matroska\xec${length(text.length)}${text}\x18\x53\x80\x67\0`,
	(text) => `RIFF${text}`,
	(text) => `RIFF<<<<AVI ${text}`,
	(text) => `RIFF<<<<AVI LIST${text}`,
	(text) => `OggS${text}theora`,
	(text) => `FLV\x01${text}`,
	(text) => `.RMF${text}`,
	(text) => `\0\0\x01\xBA${text}`,
	(text) => `\0\0\x01\xB3${text}`,
	(text) => guid + text,
	(text) => everyPacket(188, 0, 'G', text),
	(text) => everyPacket(188, 0, 'G@@\x10', text),
	(text) => everyPacket(192, 4, 'G@@\x10', text),
	(text) => everyPacket(188, 0, 'G\0\0\0', text),
];

/** A length of EBML in two bytes, neither a NUL. */
const length = (size: number) => String.fromCharCode(0x40 + (size >> 8), size & 0xff);

/** A text, continued in a comment, with these bytes at the beginning of each packet. */
function everyPacket(stride: number, offset: number, header: string, text: string): string {
	const all = [...`${' '.repeat(offset + header.length)}${text}<!--`.padEnd(sniffedBytes, '#')];
	for (let at = offset; at < all.length; at += stride) all.splice(at, header.length, ...header);
	return all.join('').slice(0, sniffedBytes);
}

test('no playlist is a video, whatever its first bytes are', (t) => {
	for (const text of playlists) {
		for (const [n, disguise] of disguises.entries()) {
			for (const fill of ['', ' '.repeat(sniffedBytes), '\0'.repeat(sniffedBytes)]) {
				const head = bytes((disguise(text) + fill).slice(0, sniffedBytes));
				t.is(videoContainer(head), undefined, `${n}: ${text.slice(0, 20)}`);
				t.not(sniff(head), 'video');
			}
		}
	}
});

test('packets whose first time is the beginning of ID3 tags are no video: a playlist may follow the tags', (t) => {
	const packets = (time: string, first: string) => bytes(`${time}${first}${`\0\0\0\0${packet}`.repeat(20)}`);
	const first = `G\0\0\x10\0\0${'\xff'.repeat(182)}`;
	t.is(videoContainer(packets('ID4\x03', first)), 'mpegts');
	const head = packets('ID3\x03', first);
	t.is(videoContainer(head), undefined);
	t.not(sniff(head), 'video');
});

test('a container with random bytes in its place for text and a playlist in it is no video', (t) => {
	// Always the same numbers.
	let state = 1;
	const random = (below: number) => {
		state = (state * 48_271) % 2_147_483_647;
		return state % below;
	};
	for (let round = 0; round < 20_000; round++) {
		const [text = ''] = Object.values(heads)[random(Object.keys(heads).length)] ?? [];
		const playlist = playlists[random(playlists.length)] ?? '';
		const head = bytes(text.slice(0, 400));
		// As if it had no NUL, which a text does not.
		for (const [at, byte] of head.entries()) if (byte === 0) head[at] = 1 + random(255);
		for (let changed = random(4); changed > 0; changed--) head[random(head.length)] = 1 + random(255);
		const at = random(head.length);
		const whole = Uint8Array.from([...head.subarray(0, at), ...bytes(playlist), ...head.subarray(at)]);
		t.is(videoContainer(whole), undefined);
	}
});

test('a file is recognized within a bounded number of steps, whatever its bytes are', async (t) => {
	for (const pattern of [
		'\x1a\x45\xdf\xa3',
		'\x1a\x45\xdf\xa3\x4f\xff\xec\x80',
		'G@@\x10',
		'<MPD',
		'\0\0\x10\0ftypisom',
		'<',
	]) {
		const head = bytes(pattern + pattern.slice(-2).repeat(sniffedBytes)).subarray(0, sniffedBytes);
		const ms = await usualMs(() => {
			for (let round = 0; round < 50; round++) videoContainer(head);
		});
		// Some 20 ms.
		t.true(ms < 1000, `${JSON.stringify(pattern)}: ${ms} ms`);
	}
});
