import { execFile } from 'node:child_process';
import { open, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '@stowage/plugin-api';
import test from 'ava';
import { Client, json } from '../../../packages/core/test/testApp.js';
import { isEveryday } from '../../../test/everyday.js';
import { countPackets } from '../src/films/packets/countPackets.js';
import { hiddenParts, ShownPackets } from '../src/films/packets/hiddenParts.js';
import { assertFilm } from '../src/films/probing/assertVideo.js';
import { SandboxedProgram } from '../src/SandboxedProgram.js';
import {
	convert,
	end,
	film,
	h264,
	optionsFor,
	type Place,
	picture,
	places,
	removeFilms,
	requestConversion,
	site,
} from './conversions.js';

test.after.always(removeFilms);

/** Texts for which HandBrake opens other files: a film in fragments for DASH, one for each of the others. */
const playlists = (folder: string) => ({
	dash: `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT2S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1000" codecs="avc1" width="160" height="90"><BaseURL>file:${folder}/secret.mp4</BaseURL><SegmentList><Initialization sourceURL="file:${folder}/secret.mp4"/><SegmentURL media="file:${folder}/secret.mp4"/></SegmentList></Representation></AdaptationSet></Period></MPD>`,
	hls: `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${folder}/secret.ts\n#EXT-X-ENDLIST\n`,
	ffconcat: `ffconcat version 1.0\nfile ${folder}/secret.ts\n`,
	smil: `<smil><body><video src="${folder}/secret.ts"/></body></smil>`,
});

/** The first bytes of containers before such a text, and between its lines. */
const disguises: Readonly<Record<string, (text: string) => string>> = {
	none: (text) => text,
	ftyp: (text) => `<!--ftypjp2 -->${text}`,
	free: (text) => `<!--free-->${text}`,
	'a sane ftyp': (text) => `\0\0\0\x14ftypisom\0\0\x02\0isom${text}`,
	Matroska: (text) => `\x1a\x45\xdf\xa3\x8b\x42\x82\x88matroska${text}`,
	FLV: (text) => `FLV\x01\x05\0\0\0\x09${text}`,
	'three G': (text) => `<!--G${' '.repeat(191)}G${' '.repeat(191)}G-->${text}`,
	packets: (text) => {
		const all = [...`    ${text}<!--`.padEnd(188 * 30, ' ')];
		for (let at = 0; at < all.length; at += 188) all.splice(at, 4, ...'G@\0\x10');
		return all.join('');
	},
	// The time of the first packet begins tags of ID3, and what follows their length is taken for the file.
	tags: (text) => {
		const packet = `\0\0\0\0G\x1f\xff\x10${'G\x1f\xff\x10'.repeat(46)}`;
		const packets = `ID3\x03G\0\0\x10\0\0${packet.slice(10)}${packet.repeat(1400)}`;
		return `${packets.slice(0, 10 + (0x10 << 14))}${text}${'\0'.repeat(2 ** 20)}`;
	},
};

/** What a file is comes from its bytes, for which the ends of names are one more form of the same. */
const extensions = isEveryday ? ['ts.mts'] : ['mp4', 'ts.mts', 'mkv'];

const isRefused = test.macro(async (t, place: Place) => {
	const { app, alice, home, names, staging } = await site(t, optionsFor(place));
	await new Client(app).register('bob');
	const his = path.join(app.filesDir, 'users/bob');
	await film('secret.ts', [...picture('160x90', 2), ...h264, '-f', 'mpegts'], path.join(his, 'secret.ts'));
	await film(
		'secret.mp4',
		[...picture('160x90', 2), ...h264, '-movflags', '+frag_keyframe+empty_moov+default_base_moof'],
		path.join(his, 'secret.mp4'),
	);
	const hers: string[] = [];
	for (const [what, text] of Object.entries(playlists(his))) {
		for (const [how, disguise] of Object.entries(disguises)) {
			for (const extension of extensions) {
				const name = `${what} ${how}.${extension}`;
				await writeFile(path.join(home, name), disguise(text), 'latin1');
				hers.push(name);
			}
		}
	}
	let begun = 0;
	for (const filePath of hers) {
		const answer = await requestConversion(alice, { filePath, outputFormat: 'mkv' });
		if (answer.statusCode === 202) {
			begun++;
			const { status, error, outputPath } = await end(alice, json(answer).conversionId);
			t.deepEqual([status, error, outputPath], ['failed', 'File is not a video', null], filePath);
		} else {
			t.is(answer.statusCode, 400, filePath);
			t.is(json(answer).error, 'File is not a video', filePath);
		}
	}
	// Most of them are refused by their first bytes, some by ffprobe.
	t.true(begun > 0 && begun < hers.length / 2, `${begun} of ${hers.length}`);
	t.deepEqual(await names(), hers.sort());
	t.deepEqual(await readdir(staging), []);
	// The film itself can be converted, by its owner.
	await film('secret.ts', [], path.join(home, 'own.mts'));
	t.is((await convert(alice, { filePath: 'own.mts', outputFormat: 'mkv' })).status, 'completed');
});

for (const place of Object.keys(places) as Place[]) {
	test(`no playlist is converted in ${place}, whatever its first bytes are`, isRefused, place);
}

test('the playlists of these tests do name the film, for a program without a list of formats', async (t) => {
	const { app, home } = await site(t);
	await film('secret.ts', [...picture('160x90', 2), ...h264, '-f', 'mpegts'], path.join(app.filesDir, 'secret.ts'));
	await film(
		'secret.mp4',
		[...picture('160x90', 2), ...h264, '-movflags', '+frag_keyframe+empty_moov+default_base_moof'],
		path.join(app.filesDir, 'secret.mp4'),
	);
	const { dash, hls } = playlists(app.filesDir);
	for (const [name, text] of Object.entries({
		dash,
		hls,
		ftyp: disguises.ftyp?.(dash) ?? '',
		G: disguises['three G']?.(dash) ?? '',
		tags: disguises.tags?.(hls) ?? '',
	})) {
		const file = path.join(home, `${name}.mp4`);
		await writeFile(file, text, 'latin1');
		const { stderr } = await promisify(execFile)('HandBrakeCLI', ['--scan', '--previews', '2:0', '-i', file]);
		t.regex(stderr, /160x90/, name);
	}
});

test('a film of another container than its first bytes say is refused', async (t) => {
	const { home } = await site(t);
	const file = path.join(home, 'film.mkv');
	await film('short.mkv', [...picture('160x90', 1), ...h264], file);
	const said = { format: { format_name: 'matroska,webm' }, streams: [{ index: 0, codec_type: 'video' }] };
	const ffprobe = { run: async () => ({ code: 0, output: JSON.stringify(said), log: [] }) } as never;
	const { signal } = new AbortController();
	t.is((await assertFilm(ffprobe, 3, 'matroska', signal)).container, 'matroska');
	await t.throwsAsync(assertFilm(ffprobe, 3, 'mov', signal), { message: 'File is not a video' });
	t.true((await readFile(file)).length > 0);
});

test('a film whose pictures are larger than those of any film is refused before HandBrake starts', async (t) => {
	const { signal } = new AbortController();
	const assertSize = (...sizes: [width: number, height: number][]) => {
		const streams = sizes.map(([width, height], index) => ({ index, codec_type: 'video', width, height }));
		const output = JSON.stringify({ format: { format_name: 'matroska,webm' }, streams });
		return assertFilm({ run: async () => ({ code: 0, output, log: [] }) } as never, 3, 'matroska', signal);
	};
	await t.notThrowsAsync(assertSize([7680, 4320]));
	await t.notThrowsAsync(assertSize([8192, 8192]));
	await t.notThrowsAsync(assertSize([12_288, 6480]));
	const refused = {
		message: 'The video has pictures of 256 megapixels. Those of more than 100 are not converted.',
	};
	await t.throwsAsync(assertSize([16_000, 16_000]), refused);
	await t.throwsAsync(assertSize([640, 360], [16_000, 16_000]), refused);
});

test('what is said of a film with larger pictures than any film is what its owner reads', async (t) => {
	const { alice, home, names, staging } = await site(t);
	const args = ['-f', 'lavfi', '-i', 'color=c=red:s=10400x9700:r=5:d=0.2', ...h264];
	await film('huge.mkv', args, path.join(home, 'huge.mkv'));
	t.like(await convert(alice, { filePath: 'huge.mkv', deleteOriginal: true }), {
		status: 'failed',
		error: 'The video has pictures of 101 megapixels. Those of more than 100 are not converted.',
		outputPath: null,
	});
	t.deepEqual(await names(), ['huge.mkv']);
	t.deepEqual(await readdir(staging), []);
});

const words = (...values: readonly number[]) => {
	const bytes = Buffer.alloc(4 * values.length);
	for (const [n, value] of values.entries()) bytes.writeUInt32BE(value, 4 * n);
	return bytes;
};

const boxOf = (name: string, ...parts: readonly Uint8Array[]) => {
	const body = Buffer.concat(parts);
	return Buffer.concat([words(body.length + 8), Buffer.from(name, 'latin1'), body]);
};

/** An MP4 whose tables are last, with a track of data more, of a second: all its packets are in the same bytes of the film. */
function withSamePackets(mp4: Buffer, count: number): Buffer {
	const perChunk = 5000;
	const moov = mp4.indexOf('moov') - 4;
	const place = mp4.indexOf('mdat') + 4;
	const chunks = count / perChunk;
	const samples = boxOf(
		'stbl',
		boxOf('stsd', words(0, 1), boxOf('gpmd', Buffer.alloc(6), Buffer.from([0, 1]))),
		boxOf('stts', words(0, 1, count, 1)),
		boxOf('stsc', words(0, 1, 1, perChunk, 1)),
		boxOf('stsz', words(0, 1, count)),
		boxOf('stco', words(0, chunks, ...Array.from({ length: chunks }, () => place))),
	);
	const media = boxOf(
		'mdia',
		boxOf('mdhd', words(0, 0, 0, count, count, 0x55c40000)),
		boxOf('hdlr', words(0, 0), Buffer.from('meta'), words(0, 0, 0), Buffer.from('m\0')),
		boxOf('minf', boxOf('nmhd', words(0)), boxOf('dinf', boxOf('dref', words(0, 1), boxOf('url ', words(1)))), samples),
	);
	const matrix = words(65_536, 0, 0, 0, 65_536, 0, 0, 0, 0x40000000);
	const track = boxOf('trak', boxOf('tkhd', words(1, 0, 0, 9, 0, 1000, 0, 0, 0, 0), matrix, words(0, 0)), media);
	return Buffer.concat([mp4.subarray(0, moov), boxOf('moov', mp4.subarray(moov + 8), track)]);
}

test('of a film whose tables name the same bytes by the million the packets are not known, nor what is hidden', async (t) => {
	const { home } = await site(t);
	const plain = path.join(home, 'plain.mp4');
	await film('plain.mp4', [...picture('64x64', 1), ...h264], plain);
	const { signal } = new AbortController();
	const program = (await findProgram('ffprobe')) ?? '';
	const ffprobe = new SandboxedProgram({ program, sandbox: undefined, memoryBytes: 2 ** 30 });
	const read = async (packets: number) => {
		const file = path.join(home, `${packets}.mp4`);
		await writeFile(file, withSamePackets(await readFile(plain), packets));
		const opened = await open(file);
		const counted = await countPackets(ffprobe, opened.fd, signal);
		const hidden = await hiddenParts(ffprobe, opened.fd, new ShownPackets(), signal);
		await opened.close();
		return [counted?.tracks.get(1)?.count, hidden === undefined];
	};
	// Some recorders write a position a thousand times a second.
	t.deepEqual(await read(100_000), [100_000, false]);
	t.deepEqual(await read(2_000_000), [undefined, true]);
});
