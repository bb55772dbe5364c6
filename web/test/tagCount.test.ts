import test from 'ava';
import { tagsOf } from '../src/features/previews/audio/tags.js';
import { ReadsTooMuch } from '../src/features/previews/common/bytes/rangedBlob.js';
import { hasTooManyTags } from '../src/features/previews/common/tagCount/countTags.js';

const tooMany = 6000;
const honest = 2000;

type Tags = (count: number) => Buffer;

const blobOf = (bytes: Buffer) => new Blob([new Uint8Array(bytes)]);

const le = (value: number) => Buffer.from(new Uint32Array([value]).buffer);
const be = (value: number) => le(value).reverse();

const vorbis: Tags = (count) => {
	const comments = Array.from({ length: count }, (_, n) => `k${n}=1`).map((text) =>
		Buffer.concat([le(text.length), Buffer.from(text)]),
	);
	return Buffer.concat([le(3), Buffer.from('abc'), le(count), ...comments]);
};

const block = (type: number, content: Buffer) => {
	const head = be(content.length);
	head[0] = type;
	return Buffer.concat([head, content]);
};

/** A stream of Ogg with a packet and the comments, and its first page with sound. */
const ogg = (prefix: string, tags: Buffer) => {
	const page = (granule: number, lengths: number[], content: Buffer) => {
		const head = Buffer.alloc(27);
		head.write('OggS');
		head[5] = granule === 0 && content.length === 4 ? 2 : 0;
		head.writeBigInt64LE(BigInt(granule), 6);
		head[26] = lengths.length;
		return Buffer.concat([head, Buffer.from(lengths), content]);
	};
	const packet = Buffer.concat([Buffer.from(prefix, 'latin1'), tags]);
	const pages = [page(0, [4], Buffer.from('head'))];
	for (let at = 0; at < packet.length; at += 255 * 250) {
		const part = packet.subarray(at, at + 255 * 250);
		const isLast = at + part.length === packet.length;
		const full = Array.from({ length: Math.floor(part.length / 255) }, () => 255);
		pages.push(page(0, isLast ? [...full, part.length % 255] : full, part));
	}
	return Buffer.concat([...pages, page(100, [4], Buffer.from('song'))]);
};

const syncSafe = (value: number) => Buffer.from([value >> 21, (value >> 14) & 127, (value >> 7) & 127, value & 127]);

const id3 =
	(version: 2 | 3 | 4, cover = 0): Tags =>
	(count) => {
		const frame = (name: string, body: Buffer) =>
			version === 2
				? [Buffer.from(name.slice(0, 3)), be(body.length).subarray(1), body]
				: [Buffer.from(name), version === 4 ? syncSafe(body.length) : be(body.length), Buffer.alloc(2), body];
		const texts = Array.from({ length: count }, (_, n) => frame('TXXX', Buffer.from(`\0k${n}\0v`))).flat();
		const frames = Buffer.concat([...frame('APIC', Buffer.alloc(cover, 'x')), ...texts, Buffer.alloc(100)]);
		return Buffer.concat([
			Buffer.from(['I', 'D', '3'].map((c) => c.charCodeAt(0)).concat(version, 0, 0)),
			syncSafe(frames.length),
			frames,
		]);
	};

const box = (name: string, ...content: Buffer[]) => {
	const all = Buffer.concat(content);
	return Buffer.concat([be(8 + all.length), Buffer.from(name, 'latin1'), all]);
};

/** One frame of a tag with a count of values, or of frames within it. */
const id3Frame = (version: 3 | 4, name: string, ...content: (string | Buffer)[]) => {
	const body = Buffer.concat(content.map((part) => Buffer.from(part as string)));
	const frame = Buffer.concat([
		Buffer.from(name),
		version === 4 ? syncSafe(body.length) : be(body.length),
		le(0).subarray(2),
	]);
	return Buffer.concat([
		Buffer.from('ID3'),
		Buffer.from([version, 0, 0]),
		syncSafe(frame.length + body.length),
		frame,
		body,
	]);
};
const framesOf: Tags = (count) => id3(3)(count).subarray(10);

const apeText = (value: string) => {
	const item = Buffer.concat([le(value.length), le(0), Buffer.from(`Artist\0${value}`)]);
	return Buffer.concat([item, Buffer.from('APETAGEX'), le(2000), le(item.length + 32), le(1), Buffer.alloc(12)]);
};

const aiffChunk = (name: string, content: Buffer) =>
	Buffer.concat([Buffer.from(name), be(content.length), content, Buffer.alloc(content.length % 2)]);
const aiff = (...chunks: Buffer[]) => Buffer.concat([Buffer.from('FORM\0\0\0\0AIFF'), ...chunks]);

const items: Tags = (count) => Buffer.concat(Array.from({ length: count }, () => box('----', box('data'))));
const list: Tags = (count) => box('udta', box('meta', be(0), box('hdlr', Buffer.alloc(24)), box('ilst', items(count))));

const element = (id: number[], ...content: Buffer[]) => {
	const all = Buffer.concat(content);
	return Buffer.concat([Buffer.from(id), Buffer.from([0x10]), be(all.length).subarray(1), all]);
};
const simple: Tags = (count) =>
	element(
		[0x12, 0x54, 0xc3, 0x67],
		element(
			[0x73, 0x73],
			...Array.from({ length: count }, () => element([0x67, 0xc8], element([0x45, 0xa3], Buffer.from('NAME')))),
		),
	);
const chapters: Tags = (count) =>
	element([0x10, 0x43, 0xa7, 0x70], element([0x45, 0xb9], ...Array.from({ length: count }, () => element([0xb6]))));
const header = element([0x1a, 0x45, 0xdf, 0xa3]);
const matroska = (...content: Buffer[]) => Buffer.concat([header, element([0x18, 0x53, 0x80, 0x67], ...content)]);
const cluster = element([0x1f, 0x43, 0xb6, 0x75], Buffer.alloc(100));

const chunk = (name: string, content: Buffer) =>
	Buffer.concat([Buffer.from(name), le(content.length), content, Buffer.alloc(content.length % 2)]);
const wave = (...chunks: Buffer[]) => Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), ...chunks]);

const files: Readonly<Record<string, Tags>> = {
	FLAC: (count) =>
		Buffer.concat([
			Buffer.from('fLaC'),
			block(0, Buffer.alloc(34)),
			block(6, Buffer.alloc(500)),
			block(0x84, vorbis(count)),
		]),
	'a FLAC behind tags of ID3': (count) => Buffer.concat([id3(3)(count), Buffer.from('fLaC')]),
	'Ogg Vorbis': (count) => ogg('\x03vorbis', vorbis(count)),
	Opus: (count) => ogg('OpusTags', vorbis(count)),
	Speex: (count) => ogg('', vorbis(count)),
	'FLAC in Ogg': (count) => ogg('\x84\0\0\0', vorbis(count)),
	'a further stream of Ogg behind the first': (count) =>
		Buffer.concat([ogg('OpusTags', vorbis(3)), ogg('OpusTags', vorbis(count))]),
	'a stream of Ogg that tells its tags again': (count) => {
		const again = ogg('OpusTags', vorbis(count));
		const isFirst = 5;
		again[isFirst] = 0;
		return Buffer.concat([ogg('OpusTags', vorbis(3)), again]);
	},
	'ID3v2.2': id3(2),
	'ID3v2.3': id3(3, 3_000_000),
	'ID3v2.4': id3(4, 100_000),
	'a second tag of ID3': (count) => Buffer.concat([id3(3)(1), id3(3)(count)]),
	'ID3 behind a frame without a valid name': (count) => {
		const tag = id3(3)(count);
		tag.write('X-XX', 10);
		return tag;
	},
	'a chapter of ID3': (count) => id3Frame(3, 'CHAP', 'first\0', Buffer.alloc(16), framesOf(count)),
	'the contents of chapters of ID3': (count) => id3Frame(3, 'CTOC', 'all\0\x03\x02a\0b\0', framesOf(count)),
	'the values of a text of ID3': (count) => id3Frame(4, 'TPE1', '\x03', 'a\0'.repeat(count)),
	'the values of a text of ID3 in UTF-16': (count) =>
		id3Frame(4, 'TXXX', '\x01', Buffer.from(`name\0${'a\0'.repeat(count)}`, 'utf16le')),
	'the values of a text of older ID3': (count) => id3Frame(3, 'TCOM', '\0', 'a/'.repeat(count)),
	'the values of an APE text': (count) => Buffer.concat([Buffer.alloc(999), apeText('a\0'.repeat(count))]),
	'APE before tags of ID3v1 and lyrics': (count) =>
		Buffer.concat([apeText('a\0'.repeat(count)), Buffer.from('LYRICSBEGINwords000016LYRICS200TAG'), Buffer.alloc(125)]),
	'APE behind a FLAC': (count) =>
		Buffer.concat([Buffer.from('fLaC'), block(0x80, Buffer.alloc(34)), apeText('a\0'.repeat(count))]),
	'a text of an AIFF': (count) => aiff(aiffChunk('ANNO', Buffer.from('a\0'.repeat(count)))),
	'tags of ID3 in an AIFF': (count) => aiff(aiffChunk('SSND', le(0)), aiffChunk('ID3 ', id3(3)(count))),
	APE: (count) =>
		Buffer.concat([Buffer.alloc(999), Buffer.from('APETAGEX'), le(2000), le(count * 9), le(count), Buffer.alloc(12)]),
	MP4: (count) => Buffer.concat([box('ftyp'), box('moov', box('mvhd', Buffer.alloc(100)), list(count)), box('mdat')]),
	'the values of a tag in MP4': (count) => {
		const values = Array.from({ length: count }, () => box('data'));
		return Buffer.concat([
			box('ftyp'),
			box('moov', box('udta', box('meta', be(0), box('ilst', box('----', ...values))))),
		]);
	},
	'MP4 with its tags at the end': (count) =>
		Buffer.concat([box('ftyp'), box('mdat', Buffer.alloc(999)), box('moov', list(count))]),
	'tags of a track in MP4': (count) => Buffer.concat([box('ftyp'), box('moov', box('trak', list(count)))]),
	Matroska: (count) => matroska(simple(count), cluster),
	'chapters of Matroska': (count) => matroska(chapters(count), cluster),
	'Matroska with its tags at the end': (count) => {
		const place = (at: number) =>
			element(
				[0x11, 0x4d, 0x9b, 0x74],
				element([0x4d, 0xbb], element([0x53, 0xab], be(0x1254c367)), element([0x53, 0xac], be(at))),
			);
		return matroska(place(place(0).length + cluster.length), cluster, simple(count));
	},
	'WAV with a list': (count) =>
		wave(
			chunk('LIST', Buffer.concat([Buffer.from('INFO'), ...Array.from({ length: count }, () => chunk('INAM', le(0)))])),
			chunk('data', le(0)),
		),
	'WAV with tags of ID3': (count) => wave(chunk('data', le(0)), chunk('id3 ', id3(3)(count))),
};

for (const [name, file] of Object.entries(files)) {
	test(`tags by the thousand are found in ${name}`, async (t) => {
		t.false(await hasTooManyTags(blobOf(file(honest))));
		t.true(await hasTooManyTags(blobOf(file(tooMany))));
	});
}

interface Track {
	samples: number;
	edits?: number;
	isPlain?: boolean;
	/** Of each sample; of 0 they have a list, which is left out. */
	bytes?: number;
	kind?: string;
	type?: string;
}

/** A track of a film with so many samples. */
function track({ samples, edits = 1, isPlain = false, bytes = 1, kind = 'soun', type }: Track): Buffer {
	const table = (name: string, ...numbers: number[]) => box(name, be(0), ...numbers.map(be));
	const sound = box(type ?? (isPlain ? 'sowt' : 'mp4a'), Buffer.alloc(28));
	const chunk = isPlain ? 4800 : samples;
	const chunks = isPlain ? samples / chunk : 1;
	return box(
		'trak',
		box('edts', box('elst', be(0), be(edits), Buffer.alloc(12 * edits))),
		box(
			'mdia',
			box('hdlr', be(0), be(0), Buffer.from(kind), Buffer.alloc(13)),
			box(
				'minf',
				box(
					'stbl',
					box('stsd', be(0), be(1), sound),
					table('stts', 1, samples, isPlain ? 1 : 1024),
					table('stsc', 1, 1, chunk, 1),
					table('stsz', bytes, samples),
					box('stco', be(0), be(chunks), Buffer.alloc(4 * chunks)),
				),
			),
		),
	);
}

const ftyp = box('ftyp', Buffer.from('isom\0\0\0\0isom'));
const mvhd = box('mvhd', Buffer.alloc(100));
const mdat = box('mdat', Buffer.alloc(99));
const fragment = box(
	'moof',
	box('mfhd', be(0), be(1)),
	box('traf', box('tfhd', be(0), be(1)), box('trun', be(0), be(1))),
);
const film = (...tracks: Buffer[]) => box('moov', mvhd, ...tracks);
const hidden = (name: string) => {
	const boxes = film(track({ samples: 20_000_000 }));
	boxes.write(name, 4);
	return boxes;
};

const endlessFilms: Readonly<Record<string, Buffer>> = {
	'one track': Buffer.concat([ftyp, film(track({ samples: 20_000_000 }))]),
	'all tracks together': Buffer.concat([ftyp, film(...Array.from({ length: 6 }, () => track({ samples: 2_000_000 })))]),
	'a track with many edits': Buffer.concat([ftyp, film(track({ samples: 10_000, edits: 4000 }))]),
	'a track behind the film': Buffer.concat([ftyp, film(), mdat, track({ samples: 20_000_000 })]),
	'a track between fragments': Buffer.concat([ftyp, film(), fragment, mdat, track({ samples: 20_000_000 }), mdat]),
	'a track in a fragment': Buffer.concat([ftyp, film(), box('moof', track({ samples: 20_000_000 }))]),
	'a film that is called free space': Buffer.concat([ftyp, mdat, hidden('free')]),
	'a film of another name': Buffer.concat([ftyp, hidden('hoov')]),
	'a film behind a box that nobody knows': Buffer.concat([box('abcd'), ftyp, film(track({ samples: 20_000_000 }))]),
	'pictures that only seem to be sound without compression': Buffer.concat([
		...[ftyp, film(track({ samples: 48_000_000, isPlain: true, kind: 'vide' }))],
	]),
	'compressed sound whose samples last as long as those of another': Buffer.concat([
		...[ftyp, film(track({ samples: 48_000_000, isPlain: true, type: 'avc1' }))],
	]),
	'boxes within each other': Buffer.concat([
		ftyp,
		Array.from({ length: 30 }).reduce<Buffer>((b) => box('udta', b), mdat),
	]),
};

for (const [name, bytes] of Object.entries(endlessFilms)) {
	test(`samples by the ten million are found in ${name}`, async (t) => {
		t.true(await hasTooManyTags(blobOf(bytes)));
	});
}

test('a long film, sound without compression, edits and fragments by the thousand are no more than a film has', async (t) => {
	for (const bytes of [
		film(
			track({ samples: 2_200_000, edits: 2, kind: 'vide' }),
			...Array.from({ length: 3 }, () => track({ samples: 1_700_000 })),
		),
		// Two hours.
		film(track({ samples: 345_600_000, isPlain: true, bytes: 4 })),
		film(track({ samples: 3000, edits: 1000 })),
		// As many as are announced, and the list of which is not there.
		film(track({ samples: 4_000_000_000, bytes: 0 })),
	])
		t.false(await hasTooManyTags(blobOf(Buffer.concat([ftyp, bytes, mdat]))));
	const fragments = Array.from({ length: 5000 }, () => [fragment, mdat]).flat();
	t.false(await hasTooManyTags(blobOf(Buffer.concat([ftyp, film(), ...fragments]))));
});

test('a film in fragments is played before all of them are read, and no more once a track by the ten million is found', async (t) => {
	const outcome = async (file: Blob) => {
		let isPlayed = false;
		const isRefused = await hasTooManyTags(file, () => {
			isPlayed = true;
		});
		return { isPlayed, isRefused };
	};
	const fragmented = (count: number, ...rest: Buffer[]) =>
		Buffer.concat([ftyp, film(), ...Array.from({ length: count }, () => [fragment, mdat]).flat(), ...rest]);
	const endless = track({ samples: 20_000_000 });
	t.deepEqual(await outcome(blobOf(fragmented(20))), { isPlayed: false, isRefused: false });
	t.deepEqual(await outcome(blobOf(fragmented(100, endless))), { isPlayed: true, isRefused: true });
	t.deepEqual(await outcome(blobOf(fragmented(20, endless))), { isPlayed: false, isRefused: true });
	const unfilmed = Buffer.concat([ftyp, ...Array.from({ length: 100 }, () => fragment), film(endless)]);
	t.deepEqual(await outcome(blobOf(unfilmed)), { isPlayed: false, isRefused: true }, 'a film behind its fragments');

	/** As of a server, of which no more than so many bytes are read. */
	const bounded = (bytes: Buffer, max: number) => {
		const blob = blobOf(bytes);
		const slice = (begin: number, end: number) => {
			if (begin > max) throw new ReadsTooMuch();
			return blob.slice(begin, end);
		};
		return { size: blob.size, type: blob.type, slice } as unknown as Blob;
	};
	t.deepEqual(await outcome(bounded(fragmented(5000), 500_000)), { isPlayed: true, isRefused: false });
	const far = Buffer.concat([ftyp, film(), box('free', Buffer.alloc(600_000)), mdat]);
	t.deepEqual(await outcome(bounded(far, 500_000)), { isPlayed: false, isRefused: true });
});

/** A file of which is known how many bytes were asked for. */
function measured(bytes: Buffer) {
	const read = { bytes: 0 };
	const slice = (begin: number, end: number) => {
		const part = new Uint8Array(bytes.subarray(begin, end));
		read.bytes += part.length;
		return { arrayBuffer: async () => part.buffer };
	};
	return { read, file: { size: bytes.length, type: '', slice } as unknown as Blob };
}

/** An ID3 tag that goes on for as long as there are frames. */
const endlessId3 = (version: 3 | 4, frames: Buffer, rest = 0) =>
	Buffer.concat([
		Buffer.from('ID3'),
		Buffer.from([version, 0, 0, 127, 127, 127, 127]),
		frames,
		Buffer.alloc(rest, 'x'),
	]);
const many = (count: number, part: string | Buffer) => Buffer.alloc(count * part.length, part, 'latin1');

const overlapping: Readonly<Record<string, Buffer>> = {
	'frames of ID3 within the lengths of others': endlessId3(4, many(4500, 'Taaa\x80\x80\x80\x81\x01\x01x'), 200_000),
	'chapters of ID3 without the end of a name': endlessId3(
		4,
		many(2200, 'CHAP\x80\x80\x80\x81\x01\x01xaaaa\x80\x80\x80\x81\x01\x01x'),
		200_000,
	),
	'contents of chapters of ID3 that have no names': endlessId3(
		3,
		many(500, Buffer.concat([Buffer.from('CTOC\0\0\x01\x03\0\0\0\x03\xFF', 'latin1'), Buffer.alloc(256)])),
		200_000,
	),
	'an entry of a list in Matroska': matroska(
		element([0x11, 0x4d, 0x9b, 0x74], element([0x4d, 0xbb], many(200_000, '\x81\x80'))),
	),
	'empty packets of Ogg': many(
		2500,
		Buffer.concat([Buffer.from('OggS'), Buffer.alloc(22), Buffer.from([255]), Buffer.alloc(255)]),
	),
};

for (const [name, bytes] of Object.entries(overlapping)) {
	test(`the bytes of a file are looked at some times only: ${name}`, async (t) => {
		const { read, file } = measured(bytes);
		t.true(await hasTooManyTags(file));
		t.true(read.bytes < 4 * bytes.length + 1.5e6, `${read.bytes} of ${bytes.length}`);
	});
}

test('of an audiobook whose chapters have pictures no more is read than where their frames begin', async (t) => {
	const chapter = (version: 3 | 4) =>
		id3Frame(
			version,
			'CHAP',
			'first\0',
			Buffer.alloc(16),
			id3Frame(version, 'TIT2', '\x03One').subarray(10),
			id3Frame(version, 'APIC', Buffer.alloc(70_000, 'x')).subarray(10),
		).subarray(10);
	for (const version of [3, 4] as const) {
		const { read, file } = measured(endlessId3(version, many(100, chapter(version)), 100));
		t.false(await hasTooManyTags(file));
		t.true(read.bytes < 4_000_000, `${read.bytes}`);
	}
});

test('a count that no file could have is none, and what is cut off or of no known format has no tags', async (t) => {
	const cover = Buffer.concat([Buffer.from('fLaC'), block(0x84, Buffer.concat([le(0), le(0xff_ff_ff_ff)]))]);
	t.false(await hasTooManyTags(blobOf(cover)));
	for (const file of [
		Buffer.alloc(0),
		Buffer.from('OggS'),
		Buffer.from('ID3'),
		Buffer.from('text'),
		header,
		Buffer.alloc(99),
	]) {
		t.false(await hasTooManyTags(blobOf(file)));
	}
	for (const file of Object.values(files)) {
		const whole = file(3);
		for (let end = 0; end < Math.min(whole.length, 400); end++) {
			t.false(await hasTooManyTags(blobOf(whole.subarray(0, end))));
		}
	}
});

test('a long text is one tag, also in UTF-16', async (t) => {
	const text = 'Words that somebody sings. '.repeat(1000);
	for (const body of [
		Buffer.from(`\x03${text}`),
		Buffer.concat([Buffer.from([1, 255, 254]), Buffer.from(text, 'utf16le')]),
	])
		t.false(await hasTooManyTags(blobOf(id3Frame(4, 'TXXX', body))));
});

test('the reader of tags goes by the format as which they were counted, whatever the name of the file says', async (t) => {
	const song = id3Frame(4, 'TIT2', '\x03Song');
	t.is((await tagsOf(new Blob([song], { type: 'audio/x-ms-wma' }))).title, 'Song');
	t.is((await tagsOf(new Blob([aiff(aiffChunk('NAME', Buffer.from('Tune')))], { type: 'audio/mpeg' }))).title, 'Tune');
	const windowsMedia = Buffer.from('3026b2758e66cf11a6d900aa0062ce6c', 'hex');
	for (const head of [windowsMedia, 'wvpk', 'MPCK', 'MAC ', 'DSD ']) {
		const file = new Blob([head, Buffer.alloc(999)], { type: 'application/octet-stream' });
		await t.throwsAsync(tagsOf(file), { message: 'A file of its format has no tags.' });
	}
});
