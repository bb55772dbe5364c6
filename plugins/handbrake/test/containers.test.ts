import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import type { VideoContainer } from '@stowage/rules';
import test from 'ava';
import { keptBytes } from '../../../packages/core/test/memory.js';
import { usualMs } from '../../../test/processorTime.js';
import { asfObjects } from '../src/films/containers/asf/asfObjects.js';
import { aviChunks } from '../src/films/containers/avi/aviChunks.js';
import { delayIn } from '../src/films/containers/avi/aviDelay.js';
import { flvTags } from '../src/films/containers/flvTags.js';
import { matroskaElements } from '../src/films/containers/matroska/matroskaElements.js';
import { movBoxes } from '../src/films/containers/mov/movBoxes.js';
import { programPackets } from '../src/films/containers/mpeg/programPackets.js';
import { transportPackets } from '../src/films/containers/mpeg/transportPackets.js';
import { unendedIn } from '../src/films/containers/oggEnds.js';
import type { ReadAt } from '../src/films/containers/reading/readAt.js';
import { type Contents, Findings, Scanner } from '../src/films/containers/reading/scanner.js';
import { realChunks } from '../src/films/containers/realChunks.js';
import { walkContainer } from '../src/films/containers/walkContainer.js';
import { textsOfXmp } from '../src/films/containers/xmp.js';
import { setCreationTime } from '../src/films/edits/setCreationTime.js';
import { setDurations } from '../src/films/edits/setDurations.js';
import { boxesOf, nameWithRoom, withTags } from '../src/films/edits/writeTags.js';
import { unreadParts } from '../src/films/losses/losses.js';
import { film, h264, picture, removeFilms, subtitles, tone } from './conversions.js';

test.after.always(removeFilms);

const { signal } = new AbortController();

type Walker = (readAt: ReadAt, signal: AbortSignal) => Promise<Contents | undefined>;

const walked = (walk: Walker, ...parts: readonly Uint8Array[]) => {
	const bytes = Buffer.concat(parts);
	return walk(async (at, length) => bytes.subarray(at, at + length), signal);
};

const unreadBy =
	(walk: Walker) =>
	async (...parts: readonly Uint8Array[]) => [...((await walked(walk, ...parts))?.unread ?? ['unknown'])];

const bytesOf = (content: Uint8Array | string) =>
	typeof content === 'string' ? Buffer.from(content, 'latin1') : content;
const joined = (...contents: readonly (Uint8Array | string)[]) => Buffer.concat(contents.map(bytesOf));
const hex = (text: string) => Buffer.from(text, 'hex');
const big = (value: number, length = 4) => {
	const bytes = Buffer.alloc(length);
	bytes.writeUIntBE(value, 0, length);
	return bytes;
};
const little = (value: number) => big(value).reverse();

const positions = 'N59E30 '.repeat(100);
const xmp = '<x:xmpmeta><dc:subject><rdf:li>holiday</rdf:li></dc:subject></x:xmpmeta>';

const box = (name: string, ...content: (Uint8Array | string)[]) => {
	const inside = joined(...content);
	return joined(big(8 + inside.length), name, inside);
};

test('boxes of MP4 and MOV that are read by nobody are named also where only some are known', async (t) => {
	const unread = unreadBy(movBoxes);
	const media = box('mdat', 'x'.repeat(100));
	const uuid = (id: string, ...content: string[]) => box('uuid', hex(id), ...content);
	// Of a dashboard camera and a camera for photographs.
	t.deepEqual(await unread(media, uuid('9b630f8d637440ec8204bc5ff5091728', positions)), ['uuid 9b630f8d']);
	const canon = uuid('85c0b687820f11e08111f4ce462b6a48', positions);
	t.deepEqual(await unread(media, box('moov', canon)), ['uuid 85c0b687']);
	t.deepEqual(await unread(media, box('moov', box('udta', box('meta', big(0), box('hdlr', 'x'), canon)))), [
		'uuid 85c0b687',
	]);
	const inTexts = (...boxes: Buffer[]) => unread(media, box('moov', box('udta', ...boxes)));
	t.deepEqual(await inTexts(box('GPSd', positions)), ['GPSd']);
	t.deepEqual(await inTexts(box('\u00a9xsp', positions)), ['\u00a9xsp']);
	t.deepEqual(await inTexts(box('\u00a9TIM', '\0\x0b\x55\xc4', '01:00:00:00')), ['\u00a9TIM']);
	t.deepEqual(await inTexts(joined(big(0), positions)), ['behind its boxes']);
	const items = (...boxes: Buffer[]) => inTexts(box('meta', big(0), box('hdlr', 'x'), box('ilst', ...boxes)));
	t.deepEqual(await items(box('purl', box('data', positions))), ['purl']);
	t.deepEqual(await items(box('\u00a9ART', box('data', 'Anna'), box('data', 'Bert'))), ['several \u00a9ART']);
	t.deepEqual(await unread(media, box('moov', box('trak', box('mdia', box('gps ', positions))))), ['gps ']);
	t.deepEqual(await unread(media, box('moof', box('traf', box('gps ', positions)))), ['gps ']);
	t.deepEqual(await unread(media, box('moov', box('mvhd', 'x'), box('cmov', positions))), ['cmov']);
	t.deepEqual(await unread(media, box('moov', box('mvhd', 'x')), box('moov', box('udta', box('\xa9nam', 'Ours')))), [
		'several moov',
	]);
});

test('an MP4 or MOV of whose pictures a part is not shown is named, but for the edges of television', async (t) => {
	const unread = unreadBy(movBoxes);
	const film = (...boxes: Uint8Array[]) => {
		const sizes = [Buffer.alloc(24), big(720, 2), big(576, 2), Buffer.alloc(50)];
		const description = box('stsd', big(0), big(1), box('avc1', ...sizes, ...boxes));
		const media = box('mdia', box('minf', box('vmhd', 'x'), box('stbl', description)));
		return unread(box('mdat', ''), box('moov', box('mvhd', 'x'), box('trak', media)));
	};
	const clean = (...sides: number[]) => box('clap', ...sides.map((each) => big(each)), big(0), big(1), big(0), big(1));
	const cropped = ['a crop of its pictures'];
	t.deepEqual(await film(box('avcC', 'x'.repeat(40)), clean(720, 1, 400, 1), big(0)), cropped);
	t.deepEqual(await film(clean(1200, 2, 576, 1)), cropped);
	t.deepEqual(await film(clean(703, 1, 576, 1)), []);
	t.deepEqual(await film(clean(7200, 10, 576, 1), big(0)), []);
	t.deepEqual(await film(clean(7200, 0, 576, 0)), []);
	t.deepEqual(await film(box('avcC', 'clap'), big(0), clean(1, 1, 1, 1)), []);
	t.deepEqual(await film(), []);
});

test('boxes that mobile phones, cameras and shops write into an MP4 or MOV are known', async (t) => {
	const unread = unreadBy(movBoxes);
	const media = box('mdat', 'x'.repeat(100));
	const data = box('data', big(1), big(0), 'x');
	const keys = [box('keys', 'x'), box('ilst', box('\0\0\0\x01', data), box('\0\0\0\x02', data))];
	const phone = [box('\u00a9xyz', 'x'), box('smta', 'x'), box('Xtra'), box('meta', box('hdlr', 'x'), ...keys)];
	const shop = ['\u00a9nam', 'covr', 'stik', 'cnID', 'xid ', '----'].map((name) => box(name, data));
	const bought = box('meta', big(0), box('hdlr', 'x'), box('ilst', ...shop, box('covr', data, data)), box('free'));
	const windows = box('udta', box('WLOC', 'x'), box('name', 'x'), box('tsel', 'x'), big(0));
	const cut = ['\u00a9TIM', '\u00a9TSC', '\u00a9TSZ'].map((name) => box(name, '\0\x0b\x55\xc4', '00:00:00:00'));
	const drm = box('uuid', hex('d08a4f1810f34a82b6c832d8aba183d3'), 'x');
	const track = box('trak', box('tkhd', 'x'), windows, box('mdia', box('mdhd', 'x'), box('minf', box('stbl'))), drm);
	const kind = box('uuid', hex('50524f4621d24fcebb88695cfac9c740'), 'x'.repeat(100));
	const part = [box('moof', box('mfhd', 'x'), box('traf', box('tfhd', 'x'), box('trun', 'x'))), media];
	t.deepEqual(
		await unread(
			kind,
			media,
			box('moov', box('mvhd', 'x'), track, box('udta', ...phone, ...cut), box('meta', box('hdlr', 'x'), ...keys)),
		),
		[],
	);
	t.deepEqual(await unread(media, box('moov', box('udta', bought, box('chpl', 'x'), big(0))), ...part, ...part), []);
});

test('a box of an MP4 is judged by no byte behind it, by all of its rest, and also where the file is cut off in it', async (t) => {
	const unread = unreadBy(movBoxes);
	const inTexts = (...boxes: Uint8Array[]) => unread(box('moov', box('udta', ...boxes)));
	// The length of the name is a digit in ASCII.
	const zero = box('\u00a9TIM', '\0\x0b\x55\xc4', '00:00:00:00');
	t.deepEqual(await inTexts(zero, box('WLOC', 'x'.repeat(0x31 - 8))), []);
	t.deepEqual(await inTexts(box('WLOC', 'x'), Buffer.alloc(300)), []);
	t.deepEqual(await inTexts(box('WLOC', 'x'), joined(Buffer.alloc(300), positions)), ['behind its boxes']);
	const item = box('\u00a9nam', box('data', big(1), big(0), 'x'));
	const tagged = box('moov', box('udta', box('meta', big(0), box('hdlr', 'x'), box('ilst', item))));
	for (let length = 1; length < tagged.length; length++) {
		t.deepEqual(await unread(tagged.subarray(0, length)), [], `${length} bytes`);
	}
});

test('names, languages and kinds of tracks of an MP4 or MOV that neither program reads are named where they tell tracks apart', async (t) => {
	const unread = unreadBy(movBoxes);
	const packed = (language: string) =>
		big(
			[...language].reduce((code, letter) => (code << 5) | (letter.charCodeAt(0) - 0x60), 0),
			2,
		);
	const track = (kind: string, { plain = 'und', full = '', texts = [] as Buffer[], version = 0 } = {}) => {
		const times = '\0'.repeat(version === 1 ? 31 : 19);
		const elng = full === '' ? [] : [box('elng', big(0), full, '\0')];
		const media = [
			box('mdhd', big(version, 1), times, packed(plain)),
			box('hdlr', big(0), big(0), kind, '\0'.repeat(20)),
		];
		return box('trak', box('mdia', ...media, ...elng), ...(texts.length === 0 ? [] : [box('udta', ...texts)]));
	};
	const film = (...tracks: Buffer[]) => unread(box('moov', track('vide'), ...tracks, box('udta', box('\xa9nam', 'x'))));
	const named = (kind: string, name: string) => track(kind, { texts: [box('name', name)] });
	t.deepEqual(await film(named('soun', 'Main'), named('soun', 'Commentary')), ['names of tracks']);
	t.deepEqual(await film(named('sbtl', 'Signs'), track('sbtl')), ['names of tracks']);
	// Tell it from no other one, or are no names.
	t.deepEqual(await film(named('soun', 'Main'), named('vide', 'Film'), named('sbtl', 'Signs')), []);
	t.deepEqual(await film(named('soun', 'Stereo'), named('soun', 'Stereo\0'), named('text', 'Chapters')), []);
	t.deepEqual(await unread(box('moov', track('soun'), track('soun'), box('udta', box('name', 'Ours')))), ['name']);
	const said = (plain: string, full: string, version = 0) => track('soun', { plain, full, version });
	t.deepEqual(await film(said('spa', 'es-419'), said('spa', 'es-ES')), ['languages of tracks']);
	t.deepEqual(await film(said('und', 'es'), track('sbtl')), ['languages of tracks']);
	t.deepEqual(await film(said('spa', 'es-419'), track('sbtl', { plain: 'spa', full: 'es-ES' })), []);
	t.deepEqual(await film(said('ger', 'de', 1), said('fra', 'fr'), said('zho', 'cmn')), []);
	const marked = (name: string, ...content: string[]) => film(track('soun', { texts: [box(name, ...content)] }));
	t.deepEqual(await marked('tagc', 'public.accessibility.describes-video'), ['kinds of tracks']);
	t.deepEqual(await marked('tagc', 'public.main-program-content'), []);
	const role = '\0\0\0\0urn:mpeg:dash:role:2011\0';
	t.deepEqual(await marked('kind', role, 'commentary\0'), []);
	t.deepEqual(await marked('kind', role, 'easyreader\0'), ['kinds of tracks']);
	t.deepEqual(await marked('kind', '\0\0\0\0about:html-kind\0', 'main-desc\0'), ['kinds of tracks']);
});

test('of several texts of one name in an MP4 or MOV, in a list, in several ones or in several languages, those are named that are not printed', async (t) => {
	const unread = unreadBy(movBoxes);
	const film = (...boxes: Buffer[]) => unread(box('moov', ...boxes));
	const text = (words: string, language = 0) => joined(big(words.length, 2), big(language, 2), words);
	const item = (name: string, words: string) => box(name, box('data', big(1), big(0), words));
	const items = (...each: Buffer[]) => box('meta', big(0), box('hdlr', 'x'), box('ilst', ...each));
	const [one, two] = ['Grandmother tells of 1945', 'second comment'];
	const comment = (words: string) => box('\xa9cmt', text(words));
	t.deepEqual(await film(box('udta', comment(one), comment(two))), ['several \xa9cmt']);
	t.deepEqual(await film(box('udta', items(item('\xa9cmt', one), item('\xa9cmt', two)))), ['several \xa9cmt']);
	t.deepEqual(await film(box('udta', comment(one), items(item('\xa9cmt', two)))), ['several \xa9cmt']);
	t.deepEqual(await film(box('udta', box('\xa9cmt', text(one), text(two, 4)))), ['several languages of \xa9cmt']);
	t.deepEqual(await film(box('udta', box('cprt', big(0), one), box('cprt', big(0), two))), ['several cprt']);
	// FFmpeg writes the comment of a MOV twice, by a name that is not printed first.
	const described = (words: string) => box('\xa9des', text(words));
	t.deepEqual(await film(box('udta', described(one), comment(one))), []);
	t.deepEqual(await film(box('udta', described(two), comment(one))), ['\xa9des']);
	t.deepEqual(await film(box('udta', comment(one)), box('trak', box('udta', described(one)))), ['\xa9des']);
	// The same ones again, those of programs and of tracks, room behind them, and items without numbers in the list.
	t.deepEqual(
		await film(box('udta', comment(one), items(item('\xa9cmt', one), item('\xa9too', 'x'), item('\xa9too', 'y')))),
		[],
	);
	t.deepEqual(
		await film(
			box('trak', box('udta', comment(one))),
			box('trak', box('udta', comment(two))),
			box('udta', comment('x')),
		),
		[],
	);
	t.deepEqual(await film(box('udta', box('\xa9nam', text(one), big(0)), item('\xa9cmt', one))), []);
	const own = (name: string, ...words: string[]) =>
		box(
			'----',
			box('mean', big(0), 'com.apple.iTunes'),
			box('name', big(0), name),
			...words.map((each) => box('data', big(1), big(0), each)),
		);
	t.deepEqual(await film(box('udta', items(own('iTunMOVI', 'x'), own('CAST', one), own('CAST', two)))), [
		'several CAST',
	]);
	t.deepEqual(await film(box('udta', items(own('CAST', one, two)))), ['several CAST']);
	for (const name of ['iTunNORM', 'tool'])
		t.deepEqual(await film(box('udta', items(own(name, one), own(name, two)))), []);
	t.deepEqual(
		await film(box('udta', items(own('CAST', one), own('MOOD', two), item('covr', 'x'), item('covr', 'y')))),
		[],
	);
	const many = Array.from({ length: 1001 }, (_, n) => own(`NOTE ${n}`, one));
	t.deepEqual(await film(box('udta', items(...many.slice(1)))), []);
	t.deepEqual(await film(box('udta', items(...many))), ['more texts than any film has']);
	const key = (name: string) => joined(big(8 + name.length), 'mdta', name);
	const keyed = (names: readonly string[], words: readonly string[]) =>
		box(
			'meta',
			box('hdlr', 'x'),
			box('keys', big(0), big(names.length), ...names.map(key)),
			box('ilst', ...words.map((each, n) => item(`\0\0\0${String.fromCharCode(n + 1)}`, each))),
		);
	t.deepEqual(await film(keyed(['title', 'title'], [one, two])), ['several title']);
	t.deepEqual(await film(keyed(['title', 'comment'], [one, two]), box('udta', keyed(['comment'], [two]))), []);
	t.deepEqual(await film(keyed(['title'], [one]), box('udta', keyed(['title'], [two]))), ['several title']);
});

/** A film of these samples, in one chunk each, with what is between them, and what its tables say of them. */
const sampled = (
	parts: readonly { sample?: Uint8Array; other?: Uint8Array | string }[],
	{ sizes, sound, isLong = false }: { sizes?: Uint8Array; sound?: Uint8Array; isLong?: boolean } = {},
) => {
	const head = isLong
		? joined(big(1), 'mdat', big(0), big(16 + lengthOf(parts)))
		: joined(big(8 + lengthOf(parts)), 'mdat');
	let at = head.length;
	const offsets: Buffer[] = [];
	const samples = parts.flatMap(({ sample }) => (sample === undefined ? [] : [sample]));
	for (const { sample, other = '' } of parts) {
		if (sample !== undefined) offsets.push(big(at, isLong ? 6 : 4));
		at += (sample?.length ?? 0) + other.length;
	}
	const lengths =
		sizes ?? box('stsz', big(0), big(0), big(samples.length), ...samples.map(({ length }) => big(length)));
	const places = isLong
		? box('co64', big(0), big(offsets.length), ...offsets.map((offset) => joined(hex('0000'), offset)))
		: box('stco', big(0), big(offsets.length), ...offsets);
	const runs = box('stsc', big(0), big(1), big(1), big(1), big(1));
	const described = sound === undefined ? [] : [box('stsd', big(0), big(1), sound)];
	const table = box('stbl', ...described, box('stts', 'x'), runs, lengths, places);
	const kind = sound === undefined ? box('vmhd', 'x') : box('smhd', 'x');
	const index = box('moov', box('mvhd', 'x'), box('trak', box('mdia', box('minf', kind, table))));
	return [head, ...parts.flatMap(({ sample, other }) => [sample ?? '', other ?? '']).map(bytesOf), index];
};
const lengthOf = (parts: readonly { sample?: Uint8Array; other?: Uint8Array | string }[]) =>
	parts.reduce((sum, { sample, other }) => sum + (sample?.length ?? 0) + (other?.length ?? 0), 0);

test('data between the samples of an MP4 is named, as dashboard cameras write their positions, and what is empty there is not', async (t) => {
	const unread = unreadBy(movBoxes);
	const other = ['what is in no sample'];
	const sample = Buffer.from(Array.from({ length: 500 }, (_, n) => (n * 7) & 0xff));
	const camera = box('free', 'GPS ', positions);
	for (const isLong of [false, true]) {
		const between = (...others: (Uint8Array | string)[]) =>
			unread(...sampled([{ sample, other: joined(...others) }, { sample }], { isLong }));
		t.deepEqual(await between(''), []);
		t.deepEqual(await between(camera), other);
		t.deepEqual(await between(box('free', Buffer.alloc(500)), camera), other);
		t.deepEqual(await between(positions), other);
		// To a round place of the disk, and the name of a program.
		t.deepEqual(await between(Buffer.alloc(32_000)), []);
		t.deepEqual(
			await between(box('free', 'IsoMedia File Produced with GPAC'), box('skip', Buffer.alloc(9000, 0xff))),
			[],
		);
	}
	t.deepEqual(await unread(...sampled([{ other: camera }, { sample }])), other);
	t.deepEqual(await unread(...sampled([{ sample }, { sample, other: camera }])), other);
	// A few bytes behind each sample, again and again.
	const few = (count: number, text: string) => Array.from({ length: count }, () => ({ sample, other: text }));
	t.deepEqual(await unread(...sampled(few(1000, 'N59E30 '))), other);
	t.deepEqual(await unread(...sampled(few(100, 'N59E30 '))), []);
	t.deepEqual(await unread(...sampled(few(1000, '\0\0\0\0'))), []);
	// Of a recorder that has written fragments first.
	const fragments = [box('moov', box('mvhd', 'x')), box('moof', box('mfhd', positions)), joined(big(1000), 'mdat')];
	const whole = [{ other: joined(...fragments) }, { sample, other: joined(box('moof', positions), big(700), 'mdat') }];
	t.deepEqual(await unread(...sampled([...whole, { sample }])), []);
	t.deepEqual(await unread(...sampled([...whole, { sample, other: camera }])), other);
});

test('an MP4 whose samples lie in more of a file than any film has is not known, for their places would take memory each', async (t) => {
	const film = (count: number) => {
		const places = Buffer.alloc(8 * count);
		for (let n = 0; n < count; n++) places.writeUIntBE(n * 2 ** 22, 8 * n + 2, 6);
		const offsets = box('co64', big(0), big(count), places);
		const lengths = box('stsz', big(0), big(8), big(count));
		const table = box('stbl', box('stsc', big(0), big(1), big(1), big(1), big(1)), lengths, offsets);
		return box('moov', box('trak', box('mdia', box('minf', box('vmhd', 'x'), table))));
	};
	const unread = unreadBy(movBoxes);
	t.deepEqual(await unread(film(1000)), []);
	t.deepEqual(await unread(film(2 ** 17 + 1)), ['unknown']);
});

test('all samples of an MP4 are known, however its tables say their sizes', async (t) => {
	const unread = unreadBy(movBoxes);
	const other = ['what is in no sample'];
	const sample = Buffer.from(Array.from({ length: 200 }, (_, n) => (n * 7) & 0xff));
	const [whole, more] = [
		[{ sample }, { sample }],
		[{ sample, other: positions }, { sample }],
	];
	const compact = box('stz2', big(0), big(8), big(2), hex('c8c8'));
	const alike = box('stsz', big(0), big(200), big(2));
	for (const sizes of [compact, alike]) {
		t.deepEqual(await unread(...sampled(whole, { sizes })), []);
		t.deepEqual(await unread(...sampled(more, { sizes })), other);
	}
	t.deepEqual(await unread(...sampled(whole, { sizes: box('stz2', big(0), big(4), big(4), hex('8888')) })), [
		'unknown',
	]);
	// Sound of QuickTime is counted in samples of one byte, whatever they have: 100 channels of two bytes, or a packet of 200 bytes.
	const sound = (version: number, channels: number, ...content: Uint8Array[]) =>
		box(
			'sowt',
			Buffer.alloc(8),
			big(version, 2),
			Buffer.alloc(6),
			big(channels, 2),
			big(16, 2),
			big(0),
			big(0),
			...content,
		);
	const one = { sizes: box('stsz', big(0), big(1), big(2)) };
	const packets = sound(1, 2, big(1), big(100), big(200), big(2), Buffer.alloc(30));
	const newer = sound(2, 3, big(72), Buffer.alloc(24), big(200), big(1), Buffer.alloc(10));
	for (const described of [sound(0, 100, Buffer.alloc(50)), packets, newer]) {
		t.deepEqual(await unread(...sampled(whole, { ...one, sound: described })), []);
		t.deepEqual(await unread(...sampled(more, { ...one, sound: described })), other);
	}
	// Fragments: sizes of each sample, of the fragment, and of the film.
	const samples = joined(sample, sample);
	const film = box(
		'moov',
		box('mvhd', 'x'),
		box('mvex', box('trex', big(0), big(1), big(1), big(0), big(200), big(0))),
	);
	const fragment = (flags: number, head: Uint8Array, run: Uint8Array, ...media: Uint8Array[]) => {
		const track = box('traf', box('tfhd', big(flags), big(1), head), run);
		return joined(box('moof', box('mfhd', 'x'), track), box('mdat', ...media));
	};
	const run = (flags: number, offset: number, ...content: Uint8Array[]) =>
		box('trun', big(flags | 1), big(2), big(offset), ...content);
	const listed = (...media: Uint8Array[]) =>
		fragment(0x20000, hex(''), run(0x300, 93, big(1), big(200), big(1), big(200)), ...media);
	const ofFragment = (...media: Uint8Array[]) => fragment(0x20010, big(200), run(0, 81), ...media);
	const ofFilm = (...media: Uint8Array[]) => fragment(0x20000, hex(''), run(4, 81, big(0)), ...media);
	for (const each of [listed, ofFragment, ofFilm]) {
		t.deepEqual(await unread(film, each(samples), each(samples)), []);
		t.deepEqual(await unread(film, each(samples), each(samples, Buffer.from(positions)), each(samples)), other);
	}
});

test('samples of an MP4 by the million are added up in a moment, while others are served', async (t) => {
	const [count, runs] = [1_000_000, box('stsc', big(0), big(1), big(1), big(1), big(1))];
	const offsets = Buffer.alloc(count * 4);
	for (let n = 0; n < count; n++) offsets.writeUInt32BE(100 + ((n * 7919) % count) * 100, n * 4);
	const track = (...offsets: Uint8Array[]) =>
		box('trak', box('mdia', box('minf', box('stbl', runs, box('stsz', big(0), big(100), big(1)), ...offsets))));
	const index = box('moov', track(box('stco', big(0), big(count), offsets)));
	let turns = 0;
	const timer = setInterval(() => void turns++, 5);
	const ms = await usualMs(async () => {
		const found = await walked(movBoxes, index, box('mdat', 'x')).finally(() => clearInterval(timer));
		t.deepEqual([...(found?.unread ?? ['unknown'])], []);
	});
	t.true(ms < 8000, `${ms} ms`);
	t.true(turns > 20, `${turns} turns of others`);
	// Of more than any film has.
	const many = joined(...Array.from({ length: 6 }, () => track(box('stco', big(0), big(count), offsets))));
	t.is(await walked(movBoxes, box('moov', many), box('mdat', 'x')), undefined);
});

const chunk = (name: string, ...content: (Uint8Array | string)[]) => {
	const inside = joined(...content);
	return joined(name, little(inside.length), inside, Buffer.alloc(inside.length % 2));
};
const list = (form: string, ...content: Uint8Array[]) => chunk('LIST', form, ...content);
const avi = (...content: Uint8Array[]) => chunk('RIFF', 'AVI ', ...content);

test('chunks of an AVI that no program knows are named, wherever cameras put their data', async (t) => {
	const unread = unreadBy(aviChunks);
	const track = list('strl', chunk('strh', 'x'.repeat(56)), chunk('strf', 'x'), chunk('JUNK', Buffer.alloc(4120)));
	const head = list('hdrl', chunk('avih', 'x'.repeat(56)), track, track, list('odml', chunk('dmlh', 'x')));
	const info = list('INFO', chunk('ISFT', 'Lavf'), chunk('INAM', 'Ours'));
	const movi = list(
		'movi',
		chunk('00dc', 'x'),
		chunk('00__', 'x'),
		chunk('01wb', 'xy'),
		list('rec ', chunk('00db', 'x')),
		chunk('ix01', 'x'),
	);
	const room = chunk('JUNK', 'VirtualDub build 32842/release', Buffer.alloc(4000));
	const whole = [head, info, room, movi, chunk('idx1', 'x')];
	const later = chunk('RIFF', 'AVIX', list('movi', chunk('01wb', 'x')));
	t.deepEqual(await unread(avi(...whole), later, Buffer.alloc(100)), []);
	// Joined, or written into a pipe.
	t.deepEqual(await unread(avi(...whole), avi(...whole)), []);
	const open = joined('RIFF', little(0), 'AVI ', head, 'LIST', little(0xffffffff), 'movi', chunk('00dc', 'x'));
	t.deepEqual(await unread(open, chunk('01wb', 'x'), chunk('idx1', 'x')), []);
	t.deepEqual(await unread(avi(...whole, chunk('gps0', positions), chunk('gsen', positions))), ['gps0', 'gsen']);
	t.deepEqual(await unread(avi(head, list('movi', chunk('00dc', 'x'), chunk('02gp', positions)))), ['02gp']);
	t.deepEqual(await unread(avi(list('hdrl', track, chunk('gps ', positions)), movi)), ['gps ', '01wb', 'ix01']);
	t.deepEqual(await unread(avi(...whole, chunk('JUNK', positions))), ['JUNK']);
	t.deepEqual(await unread(avi(...whole, list('ncdt', chunk('nctg', positions)))), ['ncdt']);
	t.deepEqual(await unread(avi(list('hdrl', list('strl', chunk('strh', 'x'), chunk('strd', positions))))), ['strd']);
	t.deepEqual(await unread(avi(...whole), hex('0102030405'), Buffer.from(positions)), ['what is in no chunk']);
	t.deepEqual(await unread(avi(list('INFO', chunk('IART', 'Anna'), chunk('IART', 'Bert')))), ['several IART']);
	const [empty, frames] = [
		chunk('00dc'),
		list('movi', chunk('00dc'), list('rec ', chunk('00db')), chunk('01wb'), chunk('02dc')),
	];
	const repeating = avi(head, frames);
	const emptyIn = async (...parts: Uint8Array[]) => [...((await walked(aviChunks, ...parts))?.emptyFrames ?? [])];
	t.deepEqual(await emptyIn(repeating), [[0, 2]]);
	t.deepEqual(await emptyIn(repeating, chunk('RIFF', 'AVIX', list('movi', empty))), [[0, 3]]);
	// Of another film behind it, outside of it, and one that is cut off.
	t.deepEqual(await emptyIn(repeating, repeating), [[0, 2]]);
	t.deepEqual(await emptyIn(avi(head, empty, list('movi', joined('00dc', little(9))), Buffer.from('x'.repeat(9)))), []);
	const described = await walked(aviChunks, avi(...whole, chunk('_PMX', xmp)));
	t.deepEqual([[...(described?.texts ?? [])], [...(described?.unread ?? [])]], [['keywords'], []]);
});

/** A packet of a transport stream; with `begins` a unit begins in it. */
const packet = (pid: number, payload: Uint8Array, begins = false) =>
	joined(hex('47'), big((begins ? 0x4000 : 0) | pid, 2), hex('10'), payload, Buffer.alloc(184 - payload.length, 0xff));

const table = (id: number, ...content: (Uint8Array | string)[]) => {
	const inside = joined(...content);
	return joined(big(id, 1), big(0xb000 | (inside.length + 9), 2), big(1, 2), hex('c10000'), inside, big(0));
};
const programs = (...pids: number[]) => table(0, ...pids.flatMap((pid, n) => [big(n, 2), big(0xe000 | pid, 2)]));
const program = (pcr: number, tracks: readonly number[], descriptors = Buffer.alloc(0)) => {
	const listed = tracks.map((pid) => joined(hex('1b'), big(0xe000 | pid, 2), hex('f000')));
	return table(2, big(0xe000 | pcr, 2), big(0xf000 | descriptors.length, 2), descriptors, ...listed);
};
const tableAt = (pid: number, section: Uint8Array) => packet(pid, joined(hex('00'), section), true);

test('packets of a transport stream are named whose number is in no table', async (t) => {
	const unread = unreadBy(transportPackets);
	const pes = hex('000001e0000080');
	const picture = [packet(0x100, pes, true), packet(0x100, Buffer.alloc(184, 7))];
	const tables = [tableAt(0, programs(0x10, 0x1000)), tableAt(0x1000, program(0x101, [0x100]))];
	const broadcast = [
		...[packet(0x11, Buffer.from('names')), packet(0x12, Buffer.from('events')), packet(0x1fff, Buffer.from('x'))],
		...[tableAt(0x1ffb, hex('c7f00d')), tableAt(0x1d00, hex('cbf00d')), packet(0x1d00, Buffer.from('events'))],
	];
	// A clock without data, and what is known to be damaged.
	const clock = joined(hex('470222'), hex('20b710'), Buffer.alloc(182));
	const damaged = joined(hex('478777'), Buffer.alloc(185, 9));
	const whole = [...tables, ...picture, ...broadcast, clock, damaged, ...picture];
	t.deepEqual(await unread(...whole), []);
	const camera = packet(0x300, joined(big(0), 'freeGPS ', positions.slice(0, 150)), true);
	t.deepEqual(await unread(...whole, camera, ...picture), ['PID 0x300']);
	t.deepEqual(await unread(...whole, packet(0x300, Buffer.from(positions.slice(0, 150)))), ['PID 0x300']);
	// Also where its units look like packets of a track, unless there is no table.
	t.deepEqual(await unread(...whole, packet(0x300, pes, true)), ['PID 0x300']);
	t.deepEqual(await unread(...picture, ...picture), []);
	t.deepEqual(await unread(...picture, camera), ['PID 0x300']);
	// The keys of what was encrypted; a table of several packets.
	const keys = hex('09040001e555');
	t.deepEqual(
		await unread(tables[0] as Buffer, tableAt(0x1000, program(0x101, [0x100], keys)), packet(0x555, keys), ...picture),
		[],
	);
	const many = joined(
		hex('00'),
		program(
			0x101,
			Array.from({ length: 100 }, (_, n) => 0x100 + n),
		),
	);
	const parts = [0, 184, 368].map((at) => packet(0x1000, many.subarray(at, at + 184), at === 0));
	t.deepEqual(await unread(tables[0] as Buffer, ...parts, packet(0x163, pes, true), ...picture), []);
	t.deepEqual(await unread(tables[0] as Buffer, ...parts, packet(0x164, pes, true), ...picture), ['PID 0x164']);
	// Of a Blu-ray disc, with a time before each packet.
	const timed = (packets: readonly Buffer[]) => packets.flatMap((each) => [big(7), each]);
	t.deepEqual(await unread(...timed(whole)), []);
	t.deepEqual(await unread(...timed([...whole, camera])), ['PID 0x300']);
	// Between packets and behind them: zeros and a packet that is not whole are nothing.
	t.deepEqual(await unread(...whole, Buffer.alloc(1000), ...whole, (picture[1] as Buffer).subarray(0, 100)), []);
	t.deepEqual(await unread(...whole, Buffer.from(positions), ...whole), ['what is in no packet']);
	t.deepEqual(await unread(...whole, Buffer.from('N59E30')), ['what is in no packet']);
	// More than a window.
	const long = Array.from({ length: 1200 }, () => picture).flat();
	t.deepEqual(await unread(...tables, ...long, ...long, camera, ...long, Buffer.from('x'), ...long), [
		'what is in no packet',
		'PID 0x300',
	]);
	t.deepEqual(await unread(Buffer.alloc(1000)), ['unknown']);
});

test('private data in the heads of packets of a transport stream is named, and what broadcasters say there is not', async (t) => {
	const unread = unreadBy(transportPackets);
	const tables = [tableAt(0, programs(0x10, 0x1000)), tableAt(0x1000, program(0x101, [0x100]))];
	const begin = packet(0x100, hex('000001e0000080'), true);
	/** With these flags, what they announce, and private data. */
	const headed = (flags: string, before: string, data: Uint8Array | string) => {
		const head = joined(hex(flags), hex(before), big(data.length, 1), data);
		const whole = joined(hex('47010030'), big(head.length, 1), head);
		return joined(whole, Buffer.alloc(188 - whole.length, 7));
	};
	const whole = (...packets: Uint8Array[]) => unread(...tables, begin, ...packets, begin, begin);
	const clocks = '0011'.repeat(6).concat('05');
	const position = joined(big(0xf0, 1), big(14, 1), 'N59E30 N59E30 ');
	for (const [flags, before] of [
		['02', ''],
		['12', '112233445566'],
		['1e', clocks],
	] as const) {
		t.deepEqual(await whole(headed(flags, before, position)), ['private data of packets']);
		t.deepEqual(await whole(headed(flags, before, joined(hex('0203010203'), position))), ['private data of packets']);
		t.deepEqual(await whole(headed(flags, before, hex('0203010203df06454250300102ffffff'))), []);
		t.deepEqual(await whole(headed(flags, before, '')), []);
		// Without the flag it is filling.
		t.deepEqual(
			await whole(
				headed(
					flags.replace(/[2e]$/, (digit) => (digit === 'e' ? 'c' : '0')),
					before,
					position,
				),
			),
			[],
		);
	}
	// More than there is room for, in a packet that is damaged or not whole.
	t.deepEqual(await whole(joined(hex('470100300302ffff'), Buffer.alloc(180, 7))), []);
	t.deepEqual(await whole(joined(hex('47010030ff1e'), hex(clocks), hex('ff'), Buffer.alloc(168, 7))), []);
});

test('encrypted packets of a transport or program stream are found, by their heads and by those of what is in them', async (t) => {
	const tables = [tableAt(0, programs(0x10, 0x1000)), tableAt(0x1000, program(0x101, [0x100]))];
	const sound = (flags: string) => packet(0x100, joined(hex('000001c00000'), hex(flags), hex('0000')), true);
	const isEncrypted = async (...packets: Uint8Array[]) =>
		(await walked(transportPackets, ...tables, sound('80'), ...packets, sound('84')))?.isEncrypted;
	/** One whose content is encrypted by such a key; without a content, such as one with a clock, it is of none. */
	const by = (key: string, content: string) => joined(hex('470100'), hex(key), hex(content), Buffer.alloc(176, 7));
	t.false(await isEncrypted(by('10', '0102030405060708'), by('20', 'b700030405060708')));
	for (const key of ['50', '90', 'd0']) t.true(await isEncrypted(by(key, '0102030405060708')), key);
	t.true(await isEncrypted(by('b0', '0100030405060708')));
	t.false(await isEncrypted(by('a0', 'b700030405060708')));
	// What only fills up, what is damaged, and a table, whose content may look like that of a track.
	t.false(await isEncrypted(joined(hex('471fff50'), Buffer.alloc(184, 7)), joined(hex('47810050'), Buffer.alloc(184))));
	t.false(await isEncrypted(tableAt(0x1d00, hex('cbf00dffff'))));
	for (const flags of ['90', 'a0', 'b0']) t.true(await isEncrypted(sound(flags)), flags);

	const inPack = async (...units: string[]) =>
		(await walked(programPackets, ...['000001bb0000', ...units, '000001b9'].map(hex)))?.isEncrypted;
	t.false(await inPack('000001e00004808000aa', '000001bd000484800020', '000001be0003b0b0b0', '000001bf0003b0b0b0'));
	// Of MPEG-1: without times, and behind the size of a buffer.
	t.false(await inPack('000001c000020faa', '000001c0000460200faa'));
	for (const kind of ['e0', 'c0', 'bd', 'fd']) t.true(await inPack(`000001${kind}00049080${'00aa'}`), kind);
});

/** An element of Matroska, whose length has two bytes; `undefined` says none. */
const element = (id: string, ...content: (Uint8Array | string)[]) => {
	const inside = joined(...content);
	return joined(hex(id), big(0x10000000 | inside.length), inside);
};
const endless = (id: string, ...content: Uint8Array[]) => joined(hex(id), hex('01ffffffffffffff'), ...content);

const segment = '18538067';
const cluster = '1f43b675';
const header = element('1a45dfa3', element('4282', 'matroska'));
const trackOf = (number: number, kind = 1, ...more: Uint8Array[]) =>
	element('ae', element('d7', big(number, 1)), element('83', big(kind, 1)), element('e0', 'x'), ...more);
const tracksOf = (...tracks: Uint8Array[]) => element('1654ae6b', element('bf', 'sums'), ...tracks);
const block = (number: number) => element('a3', big(0x80 | number, 1), hex('000080'), 'x'.repeat(50));
const group = (...more: Uint8Array[]) =>
	element('a0', element('a1', hex('81000000'), 'x'), element('9b', 'x'), ...more);
const clustered = (...blocks: Uint8Array[]) => element(cluster, element('e7', '\0'), ...blocks);
const tagOf = (of: Uint8Array, ...texts: (readonly [string, string])[]) =>
	element(
		'7373',
		element('63c0', of),
		...texts.map(([name, value]) => element('67c8', element('45a3', name), element('4487', value))),
	);
const chapterOf = (...more: Uint8Array[]) =>
	element(
		'b6',
		element('73c4', '\x01'),
		element('91', '\0'),
		element('80', element('85', 'One'), element('437c', 'eng')),
		...more,
	);

test('elements of Matroska that no program knows are named, and so is what ffprobe leaves out of those it reads', async (t) => {
	const unread = unreadBy(matroskaElements);
	const film = (...more: Uint8Array[]) =>
		unread(header, element(segment, tracksOf(trackOf(1)), ...more, clustered(block(1))));
	t.deepEqual(await film(element('3b3b3b', positions)), ['element 3b3b3b']);
	t.deepEqual(await film(clustered(block(1), block(2))), ['blocks of no track']);
	t.deepEqual(await film(clustered(block(1), element('4444', positions))), ['element 4444']);
	t.deepEqual(await film(clustered(group(element('75a1', positions)))), ['additions to its pictures or subtitles']);
	const additional = (...more: Uint8Array[]) =>
		walked(matroskaElements, header, element(segment, tracksOf(trackOf(1)), clustered(block(1), group(...more))));
	t.is((await additional(element('75a1', positions)))?.hasAdditions, true);
	t.is((await additional())?.hasAdditions, false);
	const file = (length: number) => element('61a7', element('466e', 'a.ttf'), element('465c', 'x'.repeat(length)));
	const attached = async (...files: Uint8Array[]) => {
		const list = element('1941a469', ...files);
		const cut = joined(header, element(segment, tracksOf(trackOf(1)), list));
		return Promise.all(
			[cut, cut.subarray(0, -1)].map(async (each) => (await walked(matroskaElements, each))?.attached),
		);
	};
	t.deepEqual(await attached(file(3000), file(0), file(500)), [
		{ count: 2, bytes: 3500 },
		{ count: 1, bytes: 3000 },
	]);
	t.deepEqual(await film(tracksOf(trackOf(2, 1, element('4242', positions)))), ['element 4242']);
	t.deepEqual(await film(tracksOf(trackOf(2, 0x20))), ['tracks of another kind']);
	const shown = (...sides: Uint8Array[]) =>
		film(tracksOf(trackOf(2, 1, element('e0', element('b0', '\x80'), ...sides))));
	t.deepEqual(await shown(element('54aa', '\0')), []);
	t.deepEqual(await shown(element('54aa', '\0'), element('54bb', '\x3c')), ['a crop of its pictures']);
	const additions = (kind: string) => trackOf(2, 1, element('41e4', element('41e7', kind)));
	t.deepEqual(await film(tracksOf(additions('\x79'))), ['element 41e4']);
	t.deepEqual(await film(element('ec', positions)), ['Void']);
	const film1 = element('68ca', '\x32');
	const tags = (...each: Uint8Array[]) => film(element('1254c367', ...each));
	t.deepEqual(await tags(tagOf(film1, ['ARTIST', 'Anna'], ['ARTIST', 'Bert'])), ['several ARTIST']);
	t.deepEqual(await tags(tagOf(film1, ['ARTIST', 'Anna']), tagOf(film1, ['Artist', 'Bert'])), ['several ARTIST']);
	const ofPrograms = ['DURATION', 'BPS-eng', 'NUMBER_OF_FRAMES', '_STATISTICS_TAGS', 'ENCODER', 'SOURCE_ID'];
	for (const name of ofPrograms) t.deepEqual(await tags(tagOf(film1, [name, 'x'], [name, 'y'])), [], name);
	for (const name of ['ENCODERS OF THE DVD', 'DURATION OF TAKES'])
		t.deepEqual(await tags(tagOf(film1, [name, 'x'], [name, 'y'])), [`several ${name}`]);
	t.deepEqual(await tags(tagOf(element('63c4', '\x01'), ['TITLE', 'One'])), ['tags of chapters']);
	t.deepEqual(await tags(element('7373', element('67c8', element('45a3', 'MAP'), element('4485', positions)))), [
		'binary tags',
	]);
	const chapters = (...each: Uint8Array[]) => film(element('1043a770', ...each));
	t.deepEqual(await chapters(element('45b9', chapterOf(chapterOf()))), ['chapters within chapters']);
	t.deepEqual(await chapters(element('45b9', chapterOf(element('80', element('85', 'Eins'))))), [
		'several names of chapters',
	]);
	t.deepEqual(await chapters(element('45b9', chapterOf()), element('45b9', chapterOf())), [
		'several lists of chapters',
	]);
	t.deepEqual(await chapters(element('45b9', element('45dd', '\x01'), chapterOf())), [
		'chapters in an order of their own',
	]);
	t.deepEqual(await chapters(element('45b9', chapterOf(element('6944', positions)))), ['commands of chapters']);
	t.deepEqual(await unread(header, element(segment, tracksOf(trackOf(1))), Buffer.from(`\0\0\0GPS ${positions}`)), [
		'what is in no element',
	]);
	const nested = (depth: number): Uint8Array => (depth === 0 ? Buffer.alloc(0) : element('67c8', nested(depth - 1)));
	t.deepEqual(await tags(element('7373', nested(100))), ['unknown']);
});

test('a language of a Matroska track that neither program reads is named where it tells tracks apart', async (t) => {
	const unread = unreadBy(matroskaElements);
	const film = (...tracks: readonly (readonly [number, string, string])[]) => {
		const told = tracks.map(([kind, plain, full], n) =>
			trackOf(n + 2, kind, ...(plain === '' ? [] : [element('22b59c', plain)]), element('22b59d', full)),
		);
		return unread(header, element(segment, tracksOf(trackOf(1), ...told), clustered(block(1))));
	};
	const lost = ['languages of tracks'];
	t.deepEqual(await film([0x11, 'spa', 'es-419'], [0x11, 'spa', 'es-ES']), lost);
	t.deepEqual(await film([0x11, 'spa', 'es-419'], [0x11, 'spa', '']), lost);
	t.deepEqual(await film([0x11, 'chi', 'zh-Hans'], [0x11, 'eng', 'en'], [0x11, 'chi', 'zh-Hant']), lost);
	// Of other languages none needs its country.
	t.deepEqual(await film([0x11, 'por', 'pt-BR'], [0x11, 'eng', 'en-US'], [0x11, 'ger', 'de']), []);
	t.deepEqual(await film([2, 'und', 'de']), lost);
	// Without the plain one it is English.
	t.deepEqual(await film([2, '', 'de']), lost);
	t.deepEqual(await film([2, '', 'en'], [2, 'ger', 'de\0'], [2, 'chi', 'cmn'], [0x11, 'por', 'pt-BR']), []);
	t.deepEqual(await film([1, 'und', 'en-US'], [2, 'und', 'und']), []);
});

test('a film that programs write as Matroska has nothing that is not known', async (t) => {
	const unread = unreadBy(matroskaElements);
	const room = element('ec', Buffer.alloc(5000));
	// What was there before the tags were written anew.
	const former = element('ec', '\0\0', tagOf(element('63ca', 'ALBUM'), ['TITLE', 'One'], ['ARTIST', 'x'.repeat(200)]));
	const statistics = (track: string) => tagOf(element('63c5', track), ['BPS', '1'], ['DURATION', '1'], ['BPS', '2']);
	const tags = element(
		'1254c367',
		tagOf(element('68ca', '\x32'), ['TITLE', 'One']),
		statistics('\x01'),
		statistics('\x02'),
	);
	const font = element(
		'1941a469',
		element('61a7', element('466e', 'a.ttf'), element('465c', 'x'), element('46ae', 'x')),
	);
	const info = element(
		'1549a966',
		element('2ad7b1', 'x'),
		element('7ba9', 'One'),
		element('4d80', 'x'),
		element('5741', 'x'),
	);
	const dolby = trackOf(2, 1, element('41e4', element('41e7', 'dvcC'), element('41ed', 'x')));
	const parts = [
		...[
			element('114d9b74', 'x'),
			room,
			info,
			tracksOf(trackOf(1), dolby),
			element('1043a770', element('45b9', chapterOf(), chapterOf())),
		],
		...[font, former, tags, element('1c53bb6b', 'x')],
	];
	const blocks = [block(1), group(element('fb', 'x')), block(2)];
	t.deepEqual(
		await unread(header, element(segment, ...parts, clustered(...blocks), clustered(...blocks)), Buffer.alloc(50)),
		[],
	);
	// Written into a pipe, and joined.
	const live = [header, endless(segment, ...parts, endless(cluster, ...blocks), endless(cluster, ...blocks))];
	t.deepEqual(await unread(...live), []);
	t.deepEqual(
		await unread(
			header,
			endless(segment, tracksOf(trackOf(1)), clustered(block(1))),
			header,
			endless(segment, tracksOf(trackOf(1))),
		),
		[],
	);
	// Some programs write numbers of 8 bytes.
	const long = tracksOf(element('ae', element('d7', big(0, 2), big(1, 6)), element('83', big(0, 2), big(1, 6))));
	t.deepEqual(await unread(header, element(segment, long, clustered(block(1)))), []);
	// Cut off within a block.
	t.deepEqual(await unread(...live, block(1).subarray(0, 20)), []);
});

const flvTag = (kind: number, ...content: (Uint8Array | string)[]) => {
	const inside = joined(...content);
	return joined(big(kind, 1), big(inside.length, 3), Buffer.alloc(7), inside, big(11 + inside.length));
};
const note = (name: string, ...content: (Uint8Array | string)[]) =>
	flvTag(18, hex('02'), big(name.length, 2), name, ...content);

test('notes of an FLV that no program reads are named, such as moments with names', async (t) => {
	const unread = unreadBy(flvTags);
	const head = joined('FLV\x01\x05', big(9), big(0));
	const film = [flvTag(9, 'picture'), flvTag(8, 'sound')];
	const moments = (count: number) => joined('\0\x09cuePoints\x0a', big(count));
	const whole = [head, note('onMetaData', moments(0)), ...film, note('onLastSecond'), ...film];
	t.deepEqual(await unread(...whole), []);
	t.deepEqual(await unread(...whole, ...whole, Buffer.alloc(100)), []);
	t.deepEqual(await unread(...whole, note('onCuePoint', positions), ...film), ['onCuePoint']);
	t.deepEqual(await unread(head, note('onMetaData', moments(2)), ...film), ['cuePoints']);
	t.deepEqual(await unread(...whole, flvTag(18, '\x03'), flvTag(18)), ['a note without a name']);
	t.deepEqual(await unread(...whole, flvTag(15, positions)), ['tags of kind 15']);
	t.deepEqual([...((await walked(flvTags, ...whole, note('onXMPData', xmp)))?.texts ?? [])], ['keywords']);
});

const object = (id: string, ...content: (Uint8Array | string)[]) => {
	const inside = joined(...content);
	return joined(hex(id), little(24 + inside.length), big(0), inside);
};

test('objects of an ASF file that no program reads are named, such as commands at moments of the film', async (t) => {
	const unread = unreadBy(asfObjects);
	const extended = (...objects: Uint8Array[]) =>
		object('b503bf5f2ea9cf118ee300c00c205365', Buffer.alloc(22), ...objects);
	const head = (...objects: Uint8Array[]) => object('3026b2758e66cf11a6d900aa0062ce6c', Buffer.alloc(6), ...objects);
	const traits = object('a1dcab8c47a9cf118ee400c00c205365', 'x');
	const room = object('74d40618dfca0945a4ba9aabcb96aae8', Buffer.alloc(5000));
	const media = object('3626b2758e66cf11a6d900aa0062ce6c', 'x'.repeat(100));
	const index = object('90080033b1e5cf1189f400a0c90349cb', 'x');
	t.deepEqual(await unread(head(traits, extended(room)), media, index), []);
	const commands = object('301afb1e620bd011a39b00a0c90348f6', positions);
	t.deepEqual(await unread(head(traits, commands), media), ['commands at moments of the film']);
	t.deepEqual(await unread(head(traits, extended(object('11'.repeat(16), positions))), media), ['object 11111111']);
	t.deepEqual(await unread(head(object('74d40618dfca0945a4ba9aabcb96aae8', positions)), media), ['padding']);
	t.deepEqual(await unread(head(traits), media, Buffer.from(positions)), ['object 4e353945']);
	// A million lists within each other would take the server's memory.
	t.deepEqual(await unread(head(traits, head(traits)), media), ['object 3026b275']);
	t.deepEqual(await unread(head(traits, extended(extended(room))), media), ['object b503bf5f']);
	const secret = await walked(asfObjects, head(object('fbb3112223bdd211b4b700a0c955fc6e', 'x')), media);
	t.true(secret?.isEncrypted);
	const texts = await walked(asfObjects, head(traits), media, object('cbcf7abea997e8429c71999491e3afac', xmp));
	t.deepEqual([...(texts?.texts ?? [])], ['keywords']);
});

test('texts of an ASF file are named of which ffprobe prints one only, or nothing', async (t) => {
	const number = (value: number, bytes: 2 | 4 = 2) => {
		const buffer = Buffer.alloc(bytes);
		buffer.writeUIntLE(value, 0, bytes);
		return buffer;
	};
	const text = (value: string) => Buffer.from(`${value}\0`, 'utf16le');
	type Said = readonly [name: string, value: string, kind?: number, track?: number];
	const list = (id: string, all: readonly Said[], entry: (...each: Said) => Buffer[]) =>
		object(id, number(all.length), ...all.flatMap((each) => entry(...each)));
	const plain = (...all: Said[]) =>
		list('40a4d0d207e3d21197f000a0c95ea850', all, (name, value, kind = 0) => [
			...[number(text(name).length), text(name), number(kind), number(text(value).length), text(value)],
		]);
	const library = (...all: Said[]) =>
		list('941c23449894d149a1411d134e457054', all, (name, value, kind = 0, track = 0) => [
			...[number(0), number(track), number(text(name).length), number(kind), number(text(value).length, 4)],
			...[text(name), text(value)],
		]);
	const unread = (plainList: Buffer, ...libraries: Buffer[]) =>
		unreadBy(asfObjects)(
			object(
				'3026b2758e66cf11a6d900aa0062ce6c',
				Buffer.alloc(6),
				plainList,
				object('b503bf5f2ea9cf118ee300c00c205365', Buffer.alloc(22), ...libraries),
			),
		);
	const genre: Said = ['WM/Genre', 'Drama'];
	t.deepEqual(await unread(plain(genre, ['Author', 'Ada']), library(genre)), []);
	t.deepEqual(await unread(plain(genre, ['WM/Genre', 'Comedy'])), ['several WM/Genre']);
	t.deepEqual(await unread(plain(genre), library(['wm/genre', 'Comedy'])), ['several wm/genre']);
	t.deepEqual(await unread(plain(), library(['Notes', 'one', 0, 1], ['Notes', 'two', 0, 2])), []);
	t.deepEqual(await unread(plain(['Places', 'N59', 1], ['WM/Picture', 'x', 1], ['WM/Picture', 'y', 1])), ['Places']);
	t.deepEqual(await unread(plain(['WM/EncodingTime', '1'], ['WM/EncodingTime', '2'], ['IsVBR', '1'])), []);
	const cut = plain(genre, ['WM/Genre', 'Comedy']);
	t.deepEqual(await unread(object(cut.toString('hex', 0, 16), cut.subarray(24, 60))), []);
});

test('chunks of RealMedia and streams of MPEG that no program reads are named', async (t) => {
	const real = unreadBy(realChunks);
	const part = (name: string, content = 'x'.repeat(10)) => joined(name, big(8 + content.length), content);
	const whole = ['.RMF', 'PROP', 'CONT', 'MDPR', 'DATA', 'INDX'].map((name) => part(name));
	t.deepEqual(await real(...whole), []);
	t.deepEqual(await real(...whole, part('RMMD', positions)), ['RMMD']);
	const mpeg = unreadBy(programPackets);
	const pes = (stream: number, content: Uint8Array | string) =>
		joined(hex('000001'), big(stream, 1), big(content.length, 2), content);
	const room = [pes(0xbe, Buffer.alloc(200, 0xff)), pes(0xbe, joined(hex('0f'), Buffer.alloc(199, 0xff)))];
	const film = [pes(0xe0, Buffer.alloc(200, 7)), pes(0xc0, 'sound'), pes(0xbb, 'x'), pes(0xfd, 'x'), ...room];
	t.deepEqual(await mpeg(...film), []);
	// Of a DVD.
	const navigation = [pes(0xbf, Buffer.alloc(0x3d4)), pes(0xbf, joined(hex('01'), Buffer.alloc(0x3f9)))];
	t.deepEqual(await mpeg(...navigation, ...film, ...navigation), []);
	t.deepEqual(await mpeg(...navigation, ...film, pes(0xbf, positions.slice(0, 200))), ['stream 0xbf']);
	t.deepEqual(await mpeg(...film, pes(0xfc, positions.slice(0, 200)), ...film), ['stream 0xfc']);
	t.deepEqual(await mpeg(...film, pes(0xbe, positions.slice(0, 200))), ['padding']);
});

test('padding is judged alike in each container: by all of it, behind the name of a program', async (t) => {
	const asPadding = async (...content: (Uint8Array | string)[]) => [
		...(await unreadBy(movBoxes)(box('free', ...content))),
		...(await unreadBy(aviChunks)(avi(chunk('JUNK', ...content)))),
		...(await unreadBy(asfObjects)(object('74d40618dfca0945a4ba9aabcb96aae8', ...content))),
	];
	const signature = 'VirtualDub build 32842/release';
	for (const filler of [0, 0x20, 0xff]) {
		t.deepEqual(await asPadding(Buffer.alloc(5000, filler)), []);
		t.deepEqual(await asPadding(signature, Buffer.alloc(200_000, filler)), []);
		const used = ['free', 'JUNK', 'padding'];
		t.deepEqual(await asPadding(Buffer.alloc(300, filler), positions, Buffer.alloc(300, filler)), used);
		t.deepEqual(await asPadding(signature, Buffer.alloc(200_000, filler), positions), used);
	}
	t.deepEqual(await asPadding(signature), []);
	// What is longer than any film's can not be looked through.
	const endless = new Scanner(async (_, length) => Buffer.alloc(length), signal, 1000);
	t.true(await endless.takePadding(0, Number.POSITIVE_INFINITY));
});

test('what a camera writes into padding is named also where it is a few bytes in each of many parts', async (t) => {
	const place = (n: number) => `0GPS$GPRMC,12351${n},A,5919.81${n},N`.padEnd(76);
	const parts = [0, 1, 2].map(place);
	const asPadding = (
		fill: (each: string) => Uint8Array,
		walk: Walker,
		hold: (...parts: Uint8Array[]) => Uint8Array = joined,
	) => unreadBy(walk)(hold(...parts.map(fill)));
	t.deepEqual(await asPadding((each) => box('free', each), movBoxes), ['free']);
	t.deepEqual(await asPadding((each) => chunk('JUNK', each), aviChunks, avi), ['JUNK']);
	t.deepEqual(await asPadding((each) => object('74d40618dfca0945a4ba9aabcb96aae8', each), asfObjects), ['padding']);
	t.deepEqual(await asPadding((each) => joined(hex('ec'), big(0x80 | each.length, 1), each), matroskaElements), [
		'Void',
	]);
	const boxes = unreadBy(movBoxes);
	// A few bytes that programs leave there, and four of each place: all together count.
	const few = (...texts: string[]) => boxes(...texts.map((text) => box('free', text, Buffer.alloc(100))));
	t.deepEqual(await few('N59E'), []);
	t.deepEqual(await few('N59E', 'N60E', 'N61E', 'N62E'), []);
	t.deepEqual(await few('N59E', 'N60E', 'N61E', 'N62E', 'N63E'), ['free']);
	// Between samples they count together with those.
	const sample = Buffer.from(Array.from({ length: 500 }, (_, n) => (n * 7) & 0xff));
	const [head, ...media] = sampled([{ sample, other: box('free', 'N59E30 N60', Buffer.alloc(99)) }, { sample }]);
	t.deepEqual(await boxes(head as Uint8Array, ...media), []);
	const besides = box('free', 'N59E30 N60', Buffer.alloc(100));
	t.deepEqual(await boxes(head as Uint8Array, ...media, besides), ['what is in no sample']);
	// A film has one name of a program.
	const program = 'VirtualDub build 32842/release';
	t.deepEqual(await few(program, program), []);
	t.deepEqual(await few(program, 'VirtualDub 5919.810,N'), ['free']);
	t.deepEqual(await few('5919.810,N,01803.516,E'), ['free']);
});

test('room for indexes that ffmpeg leaves in an AVI is known', async (t) => {
	const unread = unreadBy(aviChunks);
	const room = (track: string, ...content: (Uint8Array | string)[]) =>
		chunk('JUNK', hex('0400000000000000'), track, ...content, Buffer.alloc(4000));
	const long = chunk('JUNK', 'odmldmlh', little(248), Buffer.alloc(248));
	const tracks = Array.from({ length: 20 }, (_, n) => room(`${10 + n}wb`));
	t.deepEqual(await unread(avi(...tracks, long)), []);
	t.deepEqual(await unread(avi(...tracks, long, room('01wb', positions))), ['JUNK']);
});

test('packets that fill up a transport stream, and padding of MPEG, are named where they have data', async (t) => {
	const unread = unreadBy(transportPackets);
	const pes = hex('000001e0000080');
	const film = [tableAt(0, programs(0x10, 0x1000)), tableAt(0x1000, program(0x101, [0x100])), packet(0x100, pes, true)];
	const place = (n: number) => packet(0x1fff, Buffer.from(`$GPRMC,12351${n},A,5919.81${n},N`));
	const used = ['packets that fill up'];
	t.deepEqual(await unread(...film, place(0)), used);
	t.deepEqual(await unread(...film, ...[0, 1, 2].map((n) => packet(0x1fff, Buffer.from(`N5918.${n}`)))), used);
	// One content again and again, and one that is known to be damaged.
	const counted = packet(0x1fff, Buffer.from('stuffing'));
	const damaged = joined(hex('479fff10'), Buffer.from(positions.slice(0, 184)));
	t.deepEqual(await unread(...film, ...Array.from({ length: 1000 }, () => counted), damaged), []);
	const mpeg = (content: Uint8Array | string) => joined(hex('000001be'), big(content.length, 2), content);
	const room = mpeg(joined(hex('0f'), Buffer.alloc(2000, 0xff)));
	t.deepEqual(await unreadBy(programPackets)(...Array.from({ length: 100 }, () => room)), []);
	const behind = joined(Buffer.alloc(1000, 0xff), positions, Buffer.alloc(300, 0xff));
	t.deepEqual(await unreadBy(programPackets)(room, mpeg(behind)), ['padding']);
});

test('events of an MP4 are named that are none of a server that streams it', async (t) => {
	const unread = unreadBy(movBoxes);
	const media = box('mdat');
	const events = (kind: string) => [
		box('emsg', big(0), kind, '\0\0', Buffer.alloc(16), 'x'),
		box('emsg', big(0x01000000), Buffer.alloc(20), kind, '\0\0', 'x'),
	];
	for (const kind of ['urn:mpeg:dash:event:2012', 'urn:scte:scte35:2013:bin'])
		t.deepEqual(await unread(...events(kind), media), []);
	for (const event of [...events('urn:camera:gps'), box('emsg', positions)])
		t.deepEqual(await unread(event, media), ['emsg']);
});

test('a link of a track to one of forced subtitles is named, others are not', async (t) => {
	const unread = unreadBy(movBoxes);
	const linked = (...kinds: string[]) =>
		box('moov', box('trak', box('tref', ...kinds.map((kind) => box(kind, big(3))))), box('trak'));
	t.deepEqual(await unread(linked('chap', 'tmcd', 'folw', 'fall', 'cdsc')), []);
	t.deepEqual(await unread(linked('chap', 'forc')), ['forc']);
});

test('of XMP each property that people fill in is named, whichever it is, and none that programs fill in', (t) => {
	const packet = (
		inner: string,
		attributes = '',
	) => `<?xpacket begin=""?><x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Adobe XMP">
		<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="uuid:1" ${attributes}
		>${inner}</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>\0`;
	const texts = (inner: string, attributes = '') => textsOfXmp(Buffer.from(packet(inner, attributes)));
	const programs = `xmp:CreateDate="2021-11-02T10:00:00Z" xmp:ModifyDate='2021' xmp:CreatorTool="Premiere" xmp:Rating="0" dc:format="H.264"
		xmpDM:videoFrameRate="25" xmpDM:startTimeScale="25" tiff:Orientation="1" exif:ExposureTime="1/50" exif:PixelXDimension="1920"
		photoshop:City="" photomechanic:Tagged="False" xmpMM:InstanceID="xmp.iid:1" tiff:Software="x"`;
	const history = `<xmpMM:History><rdf:Seq><rdf:li stEvt:action="saved" stEvt:softwareAgent="Premiere"/></rdf:Seq></xmpMM:History>
		<xmpMM:Ingredients><rdf:Bag><rdf:li stRef:filePath="a.mov"><dc:title>a</dc:title></rdf:li></rdf:Bag></xmpMM:Ingredients>
		<xmpDM:videoFrameSize stDim:w="1920" stDim:h="1080" stDim:unit="pixel"/><xmpDM:duration><rdf:Description xmpDM:value="10"/></xmpDM:duration>
		<creatorAtom:windowsAtom creatorAtom:uncProjectPath="P:/Family.prproj"/><!-- <dc:title>x</dc:title> -->
		<exif:Flash exif:Fired="False" exif:Mode="2"/><dc:subject><rdf:Bag/></dc:subject>
		<xmpDM:Tracks><rdf:Bag><rdf:li><rdf:Description xmpDM:trackName="Comment" xmpDM:frameRate="f25"/></rdf:li></rdf:Bag></xmpDM:Tracks>`;
	t.deepEqual(texts(history, programs), []);
	t.deepEqual(
		texts('', 'xmpDM:scene="14" xmpDM:shotName=\'In the garden\' photoshop:Country="Norway" exif:GPSLatitude="59,30N"'),
		[...['scene', 'shotname', 'country', 'place']],
	);
	const list = (name: string, text: string) =>
		`<${name}><rdf:Bag><rdf:li xml:lang="x">${text}</rdf:li></rdf:Bag></${name}>`;
	t.deepEqual(texts(list('dc:contributor', 'Uncle Bob') + list('xmpRights:UsageTerms', '<![CDATA[Only us]]>')), [
		...['contributor', 'usageterms'],
	]);
	const marker = '<rdf:li><rdf:Description xmpDM:startTime="50" xmpDM:name="She tells of 1945"/></rdf:li>';
	t.deepEqual(
		texts(`<xmpDM:Tracks><rdf:Bag><rdf:li xmpDM:trackName="Comment"><xmpDM:markers>${marker}</xmpDM:markers></rdf:li></rdf:Bag>
		</xmpDM:Tracks>`),
		['markers'],
	);
	t.deepEqual(texts('<mwg-rs:Regions><rdf:li mwg-rs:Name="Ida" mwg-rs:Type="Face"/></mwg-rs:Regions>'), ['people']);
	t.deepEqual(
		texts(
			'<tiff:Make>Canon</tiff:Make><exif:UserComment><rdf:Alt><rdf:li>At sea</rdf:li></rdf:Alt></exif:UserComment>',
		),
		[...['camera', 'usercomment']],
	);
	t.deepEqual(texts('<p:WebStatement rdf:resource="https://example.org"/>'), ['webstatement']);
	// Of a second mention, and by prefixes of its own.
	t.deepEqual(texts('<dc:title/><dc:title>Ours</dc:title>'), ['title']);
	const own =
		'xmlns:a="http://ns.adobe.com/xap/1.0/" xmlns:b="http://purl.org/dc/elements/1.1/" a:CreatorTool="x" b:subject="sea"';
	t.deepEqual(texts('', own), ['keywords']);
	t.deepEqual(textsOfXmp(Buffer.from(packet('', programs), 'utf16le')), ['XMP']);
	t.deepEqual(textsOfXmp(Buffer.from('')), []);
});

test('a megabyte of XMP takes a moment of the processor, and many count as many steps', async (t) => {
	const names = ['title', 'description', 'subject', 'creator', 'rights'].map((name) => `dc:${name}`);
	const inner = `${'<a>'.repeat(340_000)}Ours`;
	const long = names.reduce((inside, name) => `<${name}>${inside}</${name}>`, inner);
	const bytes = Buffer.from(long);
	// The least of three: the first one also takes the time to compile it, and any the collector's.
	const ms = [];
	for (let tries = 0; tries < 3; tries++) ms.push(await usualMs(() => t.deepEqual(textsOfXmp(bytes), ['copyright'])));
	t.true(Math.min(...ms) < 200, `${ms} ms`);
	t.deepEqual(textsOfXmp(Buffer.from('<dc:title><a>0</a></dc:title><dc:rights><a> </a></dc:rights>')), []);
	for (const part of [
		'<',
		'<a b',
		'<a b="',
		'<!--',
		'<![CDATA[',
		'<a b="x" ',
		'</',
		'<a x=" ',
		' ',
		'a',
		'<a  ',
		"<a b='",
	]) {
		const ms = await usualMs(() => textsOfXmp(Buffer.from(part.repeat(2 ** 20 / part.length))));
		t.true(ms < 1000, `${part}: ${ms} ms`);
	}
	const scanner = new Scanner(async (_, length) => Buffer.alloc(length), signal, 20_000);
	t.is((await scanner.text(0, 2 ** 20)).length, 2 ** 20);
	t.true(await scanner.mayStep());
	await scanner.text(0, 2 ** 20);
	t.false(await scanner.mayStep());
});

/** A packet of XMP of so many bytes, with properties whose names are in no other one. */
const xmpOf = (n: number, properties: number, length: number) => {
	const name = (at: number) => `p${n}x${at}${'y'.repeat(200)}`;
	const each = Array.from({ length: properties }, (_, at) => `<${name(at)}>Ours</${name(at)}>`).join('');
	return `${each}<end${n}beyond>`.padEnd(length);
};

test('texts of XMP are named by a hundred short names at most, and of more packets than any film has no more are read', async (t) => {
	const found: Record<string, (packets: readonly string[]) => Promise<Contents | undefined>> = {
		onXMPData: (packets) =>
			walked(flvTags, joined('FLV\x01\x05', big(9), big(0)), ...packets.map((each) => note('onXMPData', each))),
		_PMX: (packets) => walked(aviChunks, avi(...packets.map((each) => chunk('_PMX', each)))),
		'object cbcf7abe': (packets) =>
			walked(asfObjects, ...packets.map((each) => object('cbcf7abea997e8429c71999491e3afac', each))),
	};
	const many = Array.from({ length: 3 }, (_, n) => xmpOf(n, 60, 100_000));
	const long = Array.from({ length: 6 }, (_, n) => xmpOf(n, 1, 1_000_000));
	for (const [name, find] of Object.entries(found)) {
		const texts = [...((await find(many))?.texts ?? [])];
		t.is(texts.length, 100, name);
		t.deepEqual(
			texts.filter((text) => text.length > 100),
			[],
			name,
		);
		const few = await find(long.slice(0, 4));
		t.deepEqual([few?.texts.size, [...(few?.unread ?? [])]], [4, []], name);
		const more = await find(long);
		t.deepEqual([more?.texts.size, [...(more?.unread ?? [])]], [4, [name]], name);
	}
});

test('what is found in a film is kept without what it was found in', (t) => {
	const found = new Findings();
	const before = keptBytes();
	for (let n = 0; n < 50; n++) {
		const xmp = `<property${n}beyond>${'Ours'.repeat(250_000)}</property${n}beyond>`;
		for (const text of textsOfXmp(Buffer.from(xmp))) found.addText(text);
		found.addUnread(xmp.slice(1, 20));
	}
	t.deepEqual([found.texts.size, found.unread.size], [50, 50]);
	const kept = keptBytes() - before;
	t.true(kept < 10_000_000, `${kept} bytes`);
});

test('walkers name a hundred parts at most, end at a bound and are ended by a signal', async (t) => {
	const many = Array.from({ length: 1000 }, (_, n) => chunk(`${1000 + n}`, 'x'));
	t.is((await unreadBy(aviChunks)(avi(...many))).length, 100);
	const scanner = new Scanner(async () => Buffer.alloc(0), signal, 2);
	t.deepEqual([await scanner.mayStep(), await scanner.mayStep(), await scanner.mayStep()], [true, true, false]);
	const ended = new AbortController();
	ended.abort(new Error('ended'));
	const walk = (walker: Walker) => walker(async (_, length) => Buffer.alloc(length, 'JUNK'), ended.signal);
	for (const walker of [movBoxes, aviChunks, flvTags, asfObjects, matroskaElements, transportPackets, realChunks])
		await t.throwsAsync(walk(walker), { message: 'ended' });
});

test('of a film that can not be read any more it is not known what else it has, and that is no failure', async (t) => {
	// Reading it fails as that of a disk does.
	const broken = await open('/proc/self/mem');
	t.teardown(() => broken.close());
	await t.throwsAsync(broken.read(Buffer.alloc(1), 0, 1, 0), { code: 'EIO' });
	for (const container of ['mov', 'matroska', 'avi', 'mpegts', 'mpeg', 'flv', 'asf', 'rm'] as const)
		t.is(await walkContainer(container, broken.fd, signal), undefined, container);
	t.is(await delayIn(broken.fd), undefined);
	t.is(await unendedIn(broken.fd, 10_000, signal), undefined);
	t.deepEqual(unreadParts(undefined), ['parts of it that could not be read']);
});

test('the time of its making is written where a film has one, whatever its length, and nothing else is changed', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-times-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = path.join(folder, 'film');
	const box = (name: string, content: string) => {
		const bytes = `${Buffer.from(name).toString('hex')}${content}`;
		return (bytes.length / 2 + 4).toString(16).padStart(8, '0') + bytes;
	};
	const set = async (container: 'mov' | 'matroska', hex: string, time: number) => {
		await writeFile(at, Buffer.from(hex, 'hex'));
		const opened = await open(at, 'r+');
		await setCreationTime(opened.fd, container, time).finally(() => opened.close());
		return (await readFile(at)).toString('hex');
	};
	const [time, later] = [Date.UTC(2024, 4, 6), Date.UTC(2100, 0, 1)];
	const [short, long] = (['00000000', '01000000'] as const).map(
		(version) => (when: string) =>
			box(
				'moov',
				`${box('mvhd', `${version}${when}${'11'.repeat(24)}`)}${box('trak', box('mdia', box('mdhd', `00000000${'22'.repeat(12)}`)))}`,
			),
	) as [(when: string) => string, (when: string) => string];
	const changed = (hex: string) => hex.replace('22222222', 'e25dce00');
	const film = box('ftyp', '69736f6d') + box('mdat', '00');
	t.is(await set('mov', film + short('33'.repeat(4)), time), changed(film + short('e25dce00')));
	t.is(await set('mov', film + long('33'.repeat(8)), time), changed(film + long('00000000e25dce00')));
	t.is(
		await set('mov', film + long('33'.repeat(8)), later),
		film + long('0000000170ac0780'),
		'a short field has no room for it',
	);
	const header = '1a45dfa380ec8100';
	const [scale, none] = ['2ad7b1830f4240', '00'.repeat(8)];
	const film2 = (when: string) => `${header}18538067ff1549a96692${scale}446188${when}`;
	t.is(await set('matroska', film2(none), time), film2(nanoseconds(time)));
	// Behind a checksum of all that follows.
	const checked = (when: string) => {
		const sum = Buffer.alloc(4);
		sum.writeUInt32LE(crc32(Buffer.from(`${scale}446188${when}`, 'hex')));
		return `${header}18538067ff1549a96698bf84${sum.toString('hex')}${scale}446188${when}`;
	};
	t.is(await set('matroska', checked(none), time), checked(nanoseconds(time)));
	for (const year of [1500, 2400])
		t.is(await set('matroska', film2(none), Date.UTC(year, 0)), film2(none), 'the field has no room for it');
	for (const broken of ['', '00', film.slice(0, -2), `${header}18538067ff1549a966ff`, header, box('moov', '0000')])
		for (const container of ['mov', 'matroska'] as const) t.is(await set(container, broken, time), broken);
	// Which can only be read.
	await writeFile(at, Buffer.from(film + short('33'.repeat(4)), 'hex'));
	const opened = await open(at, 'r');
	await t.notThrowsAsync(setCreationTime(opened.fd, 'mov', time).finally(() => opened.close()));
});

interface Timed {
	scale: number;
	/** What the headers of the track and of its media, and its edits with where they begin, say of its length. */
	said: { track: number; media: number; edits: (readonly [number, number])[] };
	/** How many samples are how long, and how much later than they are read so many are shown. */
	lengths: (readonly [number, number])[];
	shifts?: (readonly [number, number])[];
}

/** An MP4 as HandBrake makes it, whose boxes have this version; `movie` is the length of the whole. */
function timedFilm(version: 0 | 1, movie: number, tracks: readonly Timed[]): Buffer {
	const bytes = version === 1 ? 8 : 4;
	const long = (value: number) => {
		const field = Buffer.alloc(8);
		field.writeBigInt64BE(BigInt(value));
		return field.subarray(8 - bytes);
	};
	const head = (version as number) === 1 ? '\x01\0\0\0' : '\0\0\0\0';
	const times = '7'.repeat(2 * bytes);
	const pairs = (entries: readonly (readonly [number, number])[]) => {
		const table = Buffer.alloc(8 + 8 * entries.length);
		table.writeUInt32BE(entries.length, 4);
		for (const [n, [count, value]] of entries.entries()) {
			table.writeUInt32BE(count, 8 + 8 * n);
			table.writeUInt32BE(value, 12 + 8 * n);
		}
		return table;
	};
	return Buffer.concat([
		box('ftyp', 'isom'),
		box(
			'moov',
			box('mvhd', head, times, big(1000), long(movie), '8'.repeat(80)),
			...tracks.map(({ scale, said, lengths, shifts }, n) =>
				box(
					'trak',
					box('tkhd', head, times, big(n + 1), big(0), long(said.track), '9'.repeat(60)),
					...(said.edits.length === 0
						? []
						: [
								box(
									'edts',
									box(
										'elst',
										...[head, big(said.edits.length)],
										...said.edits.flatMap(([length, from]) => [long(length), long(from), '\0\x01\0\0']),
									),
								),
							]),
					box(
						'mdia',
						box('mdhd', head, times, big(scale), long(said.media), '\x55\xc4\0\0'),
						box(
							'minf',
							box('stbl', box('stts', pairs(lengths)), ...(shifts === undefined ? [] : [box('ctts', pairs(shifts))])),
						),
					),
				),
			),
		),
		box('mdat', 'x'.repeat(20)),
	]);
}

test('an MP4 says no longer durations than its samples have, whatever its tracks and versions, and nothing else is changed', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-times-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = path.join(folder, 'film');
	const set = async (bytes: Buffer) => {
		await writeFile(at, bytes);
		const opened = await open(at, 'r+');
		await setDurations(opened.fd, signal).finally(() => opened.close());
		return readFile(at);
	};
	// 30 frames a second, of which one is shown for 10 s. The last one that is read is shown before others, and lasts as long as two.
	const still: Timed = {
		scale: 90_000,
		said: { track: 22_000, media: 1_980_000, edits: [[22_000, 6000]] },
		lengths: [
			[59, 3000],
			[1, 900_000],
			[29, 3000],
			[1, 6000],
		],
		shifts: [
			[57, 6000],
			[1, 906_000],
			[32, 6000],
		],
	};
	const sound: Timed = {
		scale: 48_000,
		said: { track: 12_980, media: 624_064, edits: [[12_980, 1024]] },
		lengths: [
			[609, 1024],
			[1, 448],
		],
	};
	const lines: Timed = { scale: 1000, said: { track: 5000, media: 5000, edits: [] }, lengths: [[1, 5000]] };
	const right: Timed = { ...still, said: { track: 13_000, media: 1_170_000, edits: [[13_000, 6000]] } };
	const late = (seconds: number, media: number): Timed => ({
		...still,
		said: {
			track: 2000 + seconds,
			media,
			edits: [
				[2000, -1],
				[seconds, 6000],
			],
		},
	});
	for (const version of [0, 1] as const) {
		const made = (movie: number, ...tracks: readonly Timed[]) => timedFilm(version, movie, tracks);
		t.deepEqual(await set(made(22_000, still, sound, lines)), made(13_000, right, sound, lines));
		t.deepEqual(await set(made(13_000, right, sound, lines)), made(13_000, right, sound, lines));
		// Behind the sound, as it begins later.
		t.deepEqual(await set(made(24_000, sound, late(22_000, 1_980_000))), made(15_000, sound, late(13_000, 1_170_000)));
		// Without an edit, and of several ones, which HandBrake doesn't write.
		const plain = (said: number): Timed => ({ ...lines, said: { track: said, media: said, edits: [] } });
		t.deepEqual(await set(made(9000, plain(9000))), made(5000, plain(5000)));
		const parts: Timed = {
			...lines,
			said: {
				track: 7000,
				media: 5000,
				edits: [
					[5000, 0],
					[2000, 0],
				],
			},
		};
		t.deepEqual(await set(made(7000, parts)), made(7000, parts));
		// With tables that are not as they should be.
		const broken = [
			{ ...still, shifts: [[1, 0] as const] },
			{ ...still, lengths: [[2 ** 32 - 1, 2 ** 32 - 1] as const] },
			{ ...still, scale: 0 },
		].map((track) => made(22_000, track));
		for (const bytes of [...broken, made(22_000, still).subarray(0, 300), Buffer.alloc(0), made(22_000)])
			t.deepEqual(await set(bytes), bytes);
	}
	// The last frame that is shown has the length of the still one.
	const last: Timed = {
		...right,
		lengths: [
			[60, 3000],
			[1, 900_000],
			[29, 3000],
		],
		shifts: [
			[88, 6000],
			[1, 9000],
			[1, 3000],
		],
	};
	t.deepEqual(
		await set(timedFilm(0, 22_000, [{ ...last, said: still.said }])),
		timedFilm(0, 12_967, [{ ...last, said: { track: 12_967, media: 1_167_000, edits: [[12_967, 6000]] } }]),
	);
});

test('the long tables of an MP4 are added up while others are served', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-times-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const at = path.join(folder, 'film');
	const each = Array.from({ length: 2 ** 18 }, () => [1, 3000] as const);
	const said = { track: 10 ** 9, media: 2 ** 31, edits: [] };
	await writeFile(at, timedFilm(0, 10 ** 9, [{ scale: 90_000, said, lengths: each, shifts: each }]));
	const opened = await open(at, 'r+');
	let turns = 0;
	const timer = setInterval(() => turns++, 1);
	await setDurations(opened.fd, signal).finally(() => opened.close());
	clearInterval(timer);
	const bytes = await readFile(at);
	t.is(bytes.readUInt32BE(bytes.indexOf('mvhd') + 20), Math.ceil((2 ** 18 * 1000) / 30));
	t.true(turns >= 16, `${turns} turns`);
});

test('tags of phones take the room of a long name in an index, which keeps its length, or are left out', async (t) => {
	const tags = { location: '+52.5+013.4/', 'com.apple.quicktime.make': 'Apple', 'com.apple.photos.x': '1' };
	const boxes = boxesOf(new Map(Object.entries(tags)));
	if (boxes === undefined) return t.fail();
	const index = (name: string, ...user: Uint8Array[]) =>
		box(
			'moov',
			box('mvhd', 'x'),
			box(
				'trak',
				box('tkhd', 'x'),
				box('mdia', box('hdlr', Buffer.alloc(8), 'soun', Buffer.alloc(12), name, '\0'), box('minf', 'y')),
				...user,
			),
			box('udta', 'z'.repeat(8)),
		);
	const long = nameWithRoom(boxes);
	for (const whole of [index(long), index(long, box('udta', box('name', long)))]) {
		const tagged = withTags(Buffer.from(whole), long, boxes);
		t.is(tagged?.length, whole.length);
		const text = tagged?.toString('latin1') ?? '';
		t.regex(text, /Audio\0.*minf.*\xa9xyz.*\+52\.5\+013\.4\/.*com\.apple\.quicktime\.make.*Apple.*free\0+$/s);
		t.false(text.includes('Audio_') || text.includes('photos'));
	}
	t.is(withTags(Buffer.from(index('Mono')), long, boxes), undefined);
	// The tables of many hours are copied once.
	const table = box('stbl', Buffer.alloc(2 ** 25, '_'));
	const hours = Buffer.from(
		box(
			'moov',
			box('trak', box('mdia', box('hdlr', 'vide'), box('minf', table))),
			Buffer.from(index(long)).subarray(8),
		),
	);
	const before = process.memoryUsage().arrayBuffers;
	t.is(withTags(hours, long, boxes)?.length, hours.length);
	const copied = process.memoryUsage().arrayBuffers - before;
	t.true(copied < 1.5 * hours.length, `${copied} bytes`);
	// Other tracks keep their names and what is in them, and so do those of another form.
	const others = [
		box('trak', box('mdia', box('hdlr', Buffer.alloc(8), 'sbtl', Buffer.alloc(12), 'Audio_description\0'))),
		box('trak', box('mdia', box('hdlr', Buffer.alloc(8), 'soun', Buffer.alloc(12), long), '\0'), box('udta', 'sound')),
		box('trak', box('mdia', box('mdia', box('hdlr', Buffer.alloc(8), 'soun', Buffer.alloc(12), long)))),
	];
	const beside = Buffer.from(box('moov', Buffer.from(index(long)).subarray(8), ...others));
	const found = withTags(beside, long, boxes);
	for (const other of others) t.true(found?.includes(other));
	t.is(withTags(Buffer.from(index(long)).subarray(0, -1), long, boxes), undefined);
	t.is(withTags(Buffer.from(box('moov', '\0\0\0\x01trak')), long, boxes), undefined);
	// A track with more parts than any film has stays as it is, and so does an index.
	const many = Buffer.concat(Array(20_000).fill(box('free')));
	const crowded = Buffer.from(box('trak', many, box('mdia', box('hdlr', Buffer.alloc(20), long))));
	t.true(
		withTags(Buffer.from(box('moov', Buffer.from(index(long)).subarray(8), crowded)), long, boxes)?.includes(crowded),
	);
	t.is(withTags(Buffer.from(box('moov', Buffer.from(index(long)).subarray(8), many)), long, boxes), undefined);
	// Whatever HandBrake has written, it is read in little more time than it takes to copy that.
	const longest = nameWithRoom({ list: Buffer.alloc(4000), texts: Buffer.alloc(0) });
	const nearly = `x${longest.slice(6)}`.repeat(2 ** 10);
	const likeIt = box('udta', 'Audio'.repeat(2 ** 15), nearly, longest.slice(0, 40).repeat(2 ** 16));
	const hostile = Buffer.from(box('moov', box('trak', likeIt)));
	const ms = await usualMs(() => withTags(hostile, longest, boxes));
	t.true(ms < 2000, `${ms} ms`);
	t.is(boxesOf(new Map([['com.apple.photos.x', '1']])), undefined);
	t.is(boxesOf(new Map([['location', 'x'.repeat(5000)]])), undefined);
});

const nanoseconds = (time: number) => (BigInt(time - Date.UTC(2001, 0, 1)) * 1_000_000n).toString(16).padStart(16, '0');

const sources = [...picture('160x90', 0.4), ...tone(440, 0.4)];
const modern = [...h264, '-c:a', 'aac'];
const about = [
	'-metadata',
	'title=One',
	'-metadata',
	'artist=Anna',
	'-metadata',
	'date=2031',
	'-metadata',
	'comment=Ours',
];

/** Films of the ordinary kinds, by their names. */
const ordinary: Readonly<Record<string, readonly [VideoContainer, readonly string[]]>> = {
	'index.mp4': ['mov', [...sources, ...modern, ...about, '-movflags', '+faststart']],
	'parts.mp4': ['mov', [...sources, ...modern, '-movflags', 'frag_keyframe+empty_moov', '-g', '10']],
	'stream.mp4': ['mov', [...sources, ...modern, '-movflags', 'cmaf+frag_every_frame', '-g', '5']],
	'implied.mp4': ['mov', [...sources, ...modern, '-movflags', 'frag_keyframe+omit_tfhd_offset', '-g', '5']],
	'first.mp4': ['mov', [...sources, ...modern, '-movflags', 'frag_keyframe+separate_moof', '-g', '5']],
	'room.mp4': ['mov', [...sources, ...modern, '-moov_size', '100000']],
	'sound.mov': ['mov', [...sources, ...h264, '-c:a', 'pcm_s24le', '-ac', '2', '-timecode', '01:00:00:00']],
	'packets.mov': ['mov', [...sources, '-c:v', 'mjpeg', '-c:a', 'adpcm_ima_qt', '-ac', '2']],
	'halved.mov': ['mov', [...sources, '-c:v', 'mjpeg', '-c:a', 'pcm_mulaw', '-ac', '2']],
	'chapters.mp4': [
		'mov',
		[...sources, '-i', 'film.srt', '-i', 'film.txt', '-map_metadata', '3', ...modern, '-c:s', 'mov_text'],
	],
	'phone.mp4': [
		'mov',
		[...sources, ...modern, '-movflags', 'use_metadata_tags', '-metadata', 'com.android.version=12'],
	],
	'place.mov': ['mov', [...sources, ...modern, '-metadata', 'location=+59.3+18.0/', '-metadata', 'make=Us']],
	'show.m4v': [
		'mov',
		[...sources, ...modern, ...about, '-f', 'ipod', '-metadata', 'show=Us', '-metadata', 'track=1/2'],
	],
	'lines.mkv': ['matroska', [...sources, '-i', 'film.srt', ...modern, ...about, '-c:s', 'srt']],
	'browser.webm': ['matroska', [...sources, '-c:v', 'libvpx', '-cpu-used', '8', '-c:a', 'libopus', '-live', '1']],
	'old.avi': ['avi', [...sources, ...about, '-c:v', 'mpeg4', '-c:a', 'mp3']],
	'broadcast.mts': ['mpegts', [...sources, ...modern, '-f', 'mpegts', '-metadata', 'service_name=Us']],
	'disc.mpg': ['mpeg', [...sources, '-c:v', 'mpeg2video', '-c:a', 'mp2', '-f', 'dvd']],
	'windows.wmv': ['asf', [...sources, ...about, '-c:v', 'wmv2', '-c:a', 'wmav2']],
	'clip.flv': ['flv', [...sources, '-c:v', 'flv', '-c:a', 'mp3', '-ar', '44100', '-flvflags', 'add_keyframe_index']],
};

test('films of ordinary programs have nothing that no program knows', async (t) => {
	await subtitles('film.srt');
	const chapter = (title: string, start: number) =>
		`[CHAPTER]\nTIMEBASE=1/10\nSTART=${start}\nEND=${start + 2}\ntitle=${title}\n`;
	await subtitles('film.txt', `;FFMETADATA1\n${chapter('One of them', 0)}${chapter('Two', 2)}`);
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-containers-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	for (const [name, [container, args]] of Object.entries(ordinary)) {
		const at = path.join(folder, name);
		await film(name, args, at);
		const opened = await open(at);
		const found = await walkContainer(container, opened.fd, signal).finally(() => opened.close());
		t.deepEqual([[...(found?.unread ?? ['unknown'])], [...(found?.texts ?? [])]], [[], []], name);
	}
});
