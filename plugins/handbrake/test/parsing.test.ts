import './encoderFailure.test.js';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import { usualMs } from '../../../test/processorTime.js';
import { decoderErrors, droppedSound, isTransparent, outputDenial } from '../src/encode.js';
import { aviDelay } from '../src/films/containers/avi/aviDelay.js';
import { movBoxes, movBoxesIn } from '../src/films/containers/mov/movBoxes.js';
import { programPackets } from '../src/films/containers/mpeg/programPackets.js';
import { unendedTracks } from '../src/films/containers/oggEnds.js';
import { Findings } from '../src/films/containers/reading/scanner.js';
import { type DecodedFilm, frameReader, isError } from '../src/films/frames/decodeFilm.js';
import { foreignMessages } from '../src/films/frames/messages.js';
import { unitReader } from '../src/films/frames/units.js';
import { lossesOf, unreadParts } from '../src/films/losses/losses.js';
import { lostToOverlaps } from '../src/films/losses/lostSound.js';
import { areMoved } from '../src/films/losses/movedPictures.js';
import type { ReadFilm } from '../src/films/packets/countPackets.js';
import { countPackets, isHeldAfter, secondsByPackets, type TrackPackets } from '../src/films/packets/countPackets.js';
import { type HiddenPart, hiddenParts, ShownPackets } from '../src/films/packets/hiddenParts.js';
import { PictureTimes } from '../src/films/packets/PictureTimes.js';
import type { Film, SubtitleTrack } from '../src/films/probing/Film.js';
import { hasLayers, parseLayers } from '../src/films/probing/layers.js';
import { type Look, lookArguments, lookOf, matrixOf } from '../src/films/probing/look.js';
import { parseProbe, probe } from '../src/films/probing/probe.js';
import { parseScan, type Video } from '../src/films/probing/scan.js';
import type { LostLines } from '../src/films/subtitles/lines.js';
import { conversionArguments, videoEncoder } from '../src/formats.js';
import { parseEncoders } from '../src/HandBrake.js';
import { plugin } from '../src/index.js';
import { lineReader, parseProgress } from '../src/progress.js';

const film: Video = {
	seconds: 100,
	width: 640,
	height: 360,
	shape: 16 / 9,
	audioTracks: [1, 2],
	subtitles: [
		{ track: 1, isText: true },
		{ track: 2, isText: false },
	],
};

const optionsOf = (args: readonly string[]) =>
	Object.fromEntries(args.flatMap((each, at) => (each.startsWith('-') ? [[each, args[at + 1]]] : [])));

const sd = (of: Partial<Video> = {}) => ({ ...film, ...of });

test('the progress covers all passes', (t) => {
	const last = 'Encoding: task 1 of 1, 25.71 % (61.31 fps, avg 94.36 fps, ETA 01h02m03s)';
	t.deepEqual(parseProgress(last), { percent: 25.71, currentFps: 61.31, averageFps: 94.36, eta: '1h2m3s' });
	t.is(parseProgress('Encoding: task 2 of 2, 50.00 % (1.00 fps, avg 2.00 fps, ETA 00h00m09s)')?.percent, 75);
	t.is(parseProgress('Encoding: task 2 of 2, 50.00 % (1.00 fps, avg 2.00 fps, ETA 00h00m09s)')?.eta, '9s');
	t.is(parseProgress('Encoding: task 1 of 1, 0.10 % (1.00 fps, avg 2.00 fps, ETA 00h12m00s)')?.eta, '12m0s');
	t.deepEqual(parseProgress('Encoding: task 1 of 1, 1.20 %'), {
		percent: 1.2,
		currentFps: null,
		averageFps: null,
		eta: null,
	});
	for (const text of ['', 'Scanning title 1 of 1, 50.00 %', 'Encoding: task 1 of 0, 5.00 %', 'Encode done!']) {
		t.is(parseProgress(text), undefined);
	}
});

test('lines are read whole from chunks of any size, and their length is bounded', (t) => {
	const lines: string[] = [];
	const read = lineReader((line) => lines.push(line));
	for (const chunk of ['one\rtw', 'o\r\nth', 'ree', '\n', 'x'.repeat(10_000), 'y\n']) read(chunk);
	t.deepEqual(lines.slice(0, 3), ['one', 'two', 'three']);
	t.true((lines[3]?.length ?? 0) <= 500);
});

test('parseEncoders returns the encoders below their options in the help', (t) => {
	const help = [
		'   -e, --encoder <string>  Select video encoder:',
		'                               x264',
		'                               nvenc_h264',
		'       --encoder-preset <string>',
		'                               slow',
		'   -E, --aencoder <string> Select audio encoder(s):',
		'                               av_aac',
		'                               opus',
		'                           Separate tracks by commas.',
		'   -B, --ab <number>       Set audio track bitrate(s)',
	].join('\n');
	t.deepEqual([...parseEncoders(help)], ['x264', 'nvenc_h264', 'av_aac', 'opus']);
});

test('each format has its container, encoders and tracks', (t) => {
	const encoders = new Set(['x264', 'VP9', 'av_aac', 'opus']);
	const made = (format: 'mp4' | 'mkv' | 'webm', source = film) =>
		conversionArguments({ format, quality: 21, encoder: videoEncoder(format, encoders, false) ?? '' }, source);
	t.like(optionsOf(made('mp4')), {
		'-f': 'av_mp4',
		'-e': 'x264',
		'-q': '21',
		'--crop': '0:0:0:0',
		'-a': '1,2',
		'-E': 'av_aac,av_aac',
		'-s': '1',
	});
	t.like(optionsOf(made('mkv')), { '-f': 'av_mkv', '-e': 'x264', '-a': '1,2', '-s': '1,2' });
	t.like(optionsOf(made('webm')), { '-f': 'av_webm', '-e': 'VP9', '-E': 'opus,opus', '-s': 'none' });
	t.like(optionsOf(made('mp4', sd({ audioTracks: [], subtitles: [] }))), { '-a': 'none', '-s': 'none' });
});

test('the graphics processor encodes where HandBrake reports it and the administrator allows it', (t) => {
	const encoders = new Set(['x264', 'VP9', 'av_aac', 'opus', 'vce_h264', 'qsv_h264']);
	t.is(videoEncoder('mp4', encoders, true), 'qsv_h264');
	t.is(videoEncoder('mp4', encoders, false), 'x264');
	t.is(videoEncoder('webm', encoders, true), 'VP9');
	t.is(videoEncoder('mkv', new Set(['x264', 'av_aac']), true), 'x264');
	t.is(videoEncoder('webm', new Set(['x264', 'av_aac', 'VP9']), true), undefined);
	// Its presets have other names.
	t.false(conversionArguments({ format: 'mp4', quality: 20, encoder: 'qsv_h264' }, film).includes('--encoder-preset'));
});

test('the output of a scan is parsed after any other output, and invalid output is not', (t) => {
	const title = {
		Duration: { Ticks: 182_070 },
		Geometry: { Width: 320, Height: 180 },
		AudioList: [{ TrackNumber: 1 }],
		SubtitleList: [{ TrackNumber: 4, Format: 'bitmap' }],
	};
	const printed = (titles: object[]) =>
		`Version: {"Arch": "x86_64"}\nlibdvdread: {no css}\nJSON Title Set: ${JSON.stringify({ MainFeature: 0, TitleList: titles })}\n`;
	t.deepEqual(parseScan(printed([title])), {
		seconds: 2.023,
		width: 320,
		height: 180,
		shape: 16 / 9,
		audioTracks: [1],
		subtitles: [{ track: 4, isText: false }],
	});
	for (const text of ['', printed([]), printed([{}]), printed([title]).slice(0, -20), 'JSON Title Set: {']) {
		t.is(parseScan(text), undefined);
	}
});

const look: Look = {
	shape: 16 / 9,
	pixels: [1, 1],
	colours: { matrix: '', primaries: '', transfer: '' },
	supposed: undefined,
};

const whole: Film = {
	container: 'mov',
	seconds: 100,
	said: 100,
	lead: 0,
	madeAt: undefined,
	phoneTags: new Map(),
	streams: 2,
	video: [{ index: 0, size: 640 * 360, look, rate: 25, isIndexed: true, announced: 0, empty: 0 }],
	audio: [{ index: 1, channels: 2, announced: 0, codec: 'aac' }],
	subtitles: 0,
	pictures: 0,
	attachments: 0,
	data: 0,
	unread: [],
	chapters: [],
	traits: [],
	saysAlpha: false,
	subtitleTracks: [],
	styledSubtitles: 0,
	named: { audio: [], subtitles: [] },
	matrices: new Set(),
	texts: [],
};

const noneLost: LostLines = { unplaced: 0, changed: [], isUnforced: false };

const lasting = (seconds: number): Film => ({ ...whole, seconds, said: seconds });

test('an output is refused if it is shorter or longer than its original, or has no picture or lost all sound', (t) => {
	t.is(outputDenial(whole, lasting(99.1)), undefined);
	t.is(outputDenial(lasting(2), lasting(2.9)), undefined);
	t.is(outputDenial(lasting(7200), lasting(7140)), undefined);
	t.regex(outputDenial(lasting(20), lasting(0.8))?.message ?? '', /^Only 0\.8 s of 20 s/);
	t.regex(outputDenial(lasting(20), lasting(40))?.message ?? '', /^The converted file lasts 40 s instead of 20 s/);
	t.is(outputDenial(lasting(20), { ...lasting(22), lead: 2 }), undefined);
	t.is(outputDenial({ ...lasting(22), lead: 2 }, lasting(20)), undefined);
	t.regex(outputDenial({ ...lasting(22), lead: 2 }, lasting(15))?.message ?? '', /^Only 15 s of 22 s/);
	// Whose tracks are as long as they should be.
	t.regex(
		outputDenial(lasting(60), { ...lasting(60.03), said: 85.2 })?.message ?? '',
		/^The converted file lasts 85\.2 s instead of 60 s/,
	);
	t.is(outputDenial({ ...lasting(60), said: 85.2 }, lasting(60)), undefined);
	t.is(outputDenial(lasting(60), { ...lasting(60), said: 0 }), undefined);
	t.regex(outputDenial(whole, undefined)?.message ?? '', /no video/);
	t.regex(outputDenial(whole, { ...whole, audio: [] })?.message ?? '', /sound/);
	t.is(outputDenial({ ...whole, audio: [] }, { ...whole, audio: [] }), undefined);
});

const video = {
	count: 2500,
	filled: 2500,
	showing: 2500,
	bytes: 1_000_000,
	begin: 0,
	end: 100,
	gaps: 0,
	pauses: 0,
	heardUntil: 100,
};
const sound = {
	count: 4300,
	filled: 4300,
	showing: 4300,
	bytes: 200_000,
	begin: 0,
	end: 100,
	gaps: 0,
	pauses: 0,
	heardUntil: 100,
};

interface Given {
	film?: Partial<Film>;
	video?: Partial<TrackPackets>;
	sound?: Partial<TrackPackets>;
	/** At the end. */
	streams?: number;
	/** Of the file. */
	bytes?: number;
	/** The files in it. */
	attached?: { count: number; bytes: number };
}

const read = (given: Given): ReadFilm => ({
	film: { ...whole, ...given.film },
	packets: {
		tracks: new Map([
			[0, { ...video, ...given.video }],
			[1, { ...sound, ...given.sound }],
		]),
		streams: given.streams ?? 2,
		pictures: new PictureTimes(),
	},
});

const losses = (
	original: Given,
	output: Given,
	decoderErrors: number | undefined = 0,
	unreadDelay: number | undefined = 0,
	decoded: DecodedFilm | undefined = undefined,
	hidden: ReadonlyMap<number, HiddenPart> | undefined = new Map(),
	...messages: readonly (number | undefined)[]
) =>
	lossesOf({
		...{ original: read(original), originalBytes: original.bytes ?? 1_250_000 },
		...{
			output: read(output),
			decoded,
			decoderErrors,
			droppedSound: 0,
			unreadDelay,
			areMoved: false,
			unended: 0,
			hidden,
			isLayered: false,
			attached: original.attached,
			lostLines: noneLost,
		},
		foreignMessages: messages.length === 0 ? 0 : messages[0],
	});

test('a last picture that is held is told from a film that is cut off or destroyed', (t) => {
	const isHeld = (pictures: Partial<TrackPackets>, heard: Partial<TrackPackets> = { end: 4, heardUntil: 4.1 }) => {
		const { film: held, packets } = read({ video: { end: 4, ...pictures }, sound: heard });
		return packets !== undefined && isHeldAfter(4.04, held, packets);
	};
	t.true(isHeld({ heardUntil: 14 }));
	t.true(isHeld({ begin: 1, end: 5, heardUntil: 15 }, { begin: 1, end: 5 }));
	t.false(isHeld({ heardUntil: 4.04 }));
	// Packets that are there and could not be read.
	t.false(isHeld({ end: 13.9, heardUntil: 14 }));
	t.false(isHeld({ heardUntil: 14 }, { end: 13.9, heardUntil: 14 }));
	t.false(isHeld({ begin: undefined, end: undefined, heardUntil: undefined }, { begin: undefined }));
});

test('errors are counted by what programs say, not by what a film says of itself', (t) => {
	const lines = [
		'[mpegts @ 0x563abb555a00] [warning] Packet corrupt (stream = 0, dts = 658800).',
		'[h264 @ 0x563abb5ce8c0] [error] error while decoding MB 8 5',
		'[matroska,webm @ 0x1] [h264 @ 0x2] [fatal] x',
		'[error] Invalid data',
	];
	for (const line of lines) t.true(isError(line), line);
	const others = [
		'[info]     title           : [error] packet corrupt',
		"[info] Input #0, mpegts, from '/proc/self/fd/3':",
		'[info]       service_name    : x @ 0x1] [error] x',
		'[info]                     : [error] the second line of a title',
		'[h264 @ 0x563abb5ce8c0] [info] concealing 51 DC, 51 AC, 51 MV errors in P frame',
	];
	for (const line of others) t.false(isError(line), line);
	const counted = decoderErrors();
	counted.take('    title           : x-decoder done: 5 frames, 0 decoder errors');
	t.is(counted.count(), undefined);
	counted.take('[18:08:25] aac-decoder done: 523 frames, 2 decoder errors');
	counted.take('    title           : [18:08:25] x-decoder done: 5 frames, 7 decoder errors');
	t.is(counted.count(), 2);
});

test('an output that has all of its original lacks nothing, whatever its rate', (t) => {
	t.deepEqual(losses({}, {}), []);
	t.deepEqual(losses({}, { video: { count: 2476 }, sound: { end: 99.2 } }), []);
	// Of a changing rate: its index, or its sound without gaps, shows that all frames are there.
	t.deepEqual(losses({ video: { count: 900 } }, { video: { count: 900 } }), []);
	const matroska: Partial<Film> = {
		container: 'matroska',
		video: [{ index: 0, size: 1, look, rate: 25, isIndexed: false, announced: 0, empty: 0 }],
	};
	t.deepEqual(losses({ film: matroska, video: { count: 900 } }, { video: { count: 900 } }), []);
});

test('where the sound has not begun, all frames have to be there', (t) => {
	const video = [{ index: 0, size: 1, look, rate: 25, isIndexed: false, announced: 0, empty: 0 }];
	const film: Partial<Film> = { container: 'matroska', seconds: 120, video };
	const late = { begin: 20, end: 120 };
	t.deepEqual(losses({ film, sound: late }, { sound: late }), []);
	// At the beginning, before the sound.
	const first = { video: { begin: 15, count: 2125 }, sound: late };
	t.deepEqual(losses({ film, ...first }, first), ['875 of 3000 frames']);
	const between = { video: { count: 2400 }, sound: late };
	t.deepEqual(losses({ film, ...between }, between), ['600 of 3000 frames']);
	const neither = { video: { count: 375, end: 15 }, sound: late };
	t.deepEqual(losses({ film, ...neither }, neither), ['2625 of 3000 frames']);
	const gaps = { sound: { ...late, gaps: 5, pauses: 5 } };
	t.deepEqual(losses({ film, ...gaps }, gaps), ['500 of 3000 frames']);
});

test('fonts in a film are part of it where the new one has as many, and files that ffprobe leaves out are missed', (t) => {
	const bytes = 1_250_000 + 3_000_000;
	const attached = { count: 2, bytes: 3_000_000 };
	const fonts = { attachments: 2 };
	t.deepEqual(losses({ bytes, attached, film: fonts }, { film: fonts }), []);
	t.deepEqual(losses({ bytes: bytes + 3_000_000, attached, film: fonts }, { film: fonts }), [
		'3.0 MB that are part of no track',
	]);
	t.deepEqual(losses({ bytes, attached, film: fonts }, {}), ['2 of 2 attachments', '3.0 MB that are part of no track']);
	// Covers have packets.
	const covered = { pictures: 1, attachments: 1 };
	t.deepEqual(losses({ bytes: 1_250_000, attached, film: covered }, { film: covered }), []);
	t.deepEqual(losses({ bytes: 1_250_000, attached }, {}), ['2 of 2 attachments']);
	t.deepEqual(losses({ bytes: 1_250_000 }, {}), []);
});

test('a film that begins late lacks no frames for the time before', (t) => {
	const video = [{ index: 0, size: 1, look, rate: 25, isIndexed: false, announced: 0, empty: 0 }];
	const film: Partial<Film> = { container: 'matroska', seconds: 110, lead: 10, video };
	const timed = { begin: 10, end: 110 };
	t.deepEqual(losses({ film, video: timed, sound: timed }, {}), []);
	const gap = { ...timed, count: 2400 };
	const gaps = { ...timed, gaps: 4, pauses: 4 };
	t.deepEqual(losses({ film, video: timed, sound: gaps }, {}), []);
	t.deepEqual(losses({ film, video: gap, sound: gaps }, { video: gap }), ['100 of 2500 frames']);
	// Where its sound begins later than its pictures, all frames have to be there.
	const late = { begin: 30, end: 110 };
	t.deepEqual(losses({ film, video: timed, sound: late }, { sound: late }), []);
	t.deepEqual(losses({ film, video: gap, sound: late }, { video: gap, sound: late }), ['100 of 2500 frames']);
	// Of mkvmerge, which says how long the part itself is.
	for (const lead of [10, 100, 700]) {
		const part: Partial<Film> = { ...film, seconds: 100, lead };
		const ofPart = { begin: lead, end: lead + 100 };
		const damaged = { ...ofPart, count: 2400 };
		const pauses = { ...ofPart, gaps: 4, pauses: 4 };
		t.deepEqual(losses({ film: part, video: ofPart, sound: ofPart }, {}), []);
		t.deepEqual(losses({ film: part, video: damaged, sound: pauses }, { video: damaged }), ['100 of 2500 frames']);
	}
	const unknown: Partial<Film> = { ...film, seconds: 10 };
	t.deepEqual(losses({ film: unknown, video: { begin: 10, end: 10 }, sound: { begin: 10, end: 10, pauses: 1 } }, {}), [
		'frames (they could not be counted)',
	]);
});

test('what an output lacks of its original is named, and what is not known is taken for missing', (t) => {
	t.deepEqual(losses({}, { video: { count: 2474 } }), ['26 of 2500 frames']);
	t.deepEqual(losses({}, { sound: { gaps: 30 } }), ['30 s of audio track 1']);
	t.deepEqual(losses({ film: { audio: [{ index: 1, channels: 6, announced: 0, codec: 'aac' }] } }, {}), [
		'4 of 6 channels of audio track 1',
	]);
	t.deepEqual(losses({}, {}, 3), ['what could not be decoded (3 errors)']);
	const undecoded = {
		attached: undefined,
		original: read({}),
		originalBytes: 0,
		decoded: undefined,
		areMoved: false,
		unended: 0,
		lostLines: noneLost,
	};
	t.deepEqual(
		lossesOf({
			...undecoded,
			output: read({}),
			decoderErrors: undefined,
			droppedSound: 0,
			unreadDelay: 0,
			hidden: new Map(),
			isLayered: false,
			foreignMessages: 0,
		}),
		['what could not be decoded (the errors were not counted)'],
	);
	t.deepEqual(losses({}, {}, 0, 3.004), ['a delay of 3 s between tracks']);
	t.deepEqual(
		lossesOf({
			...undecoded,
			output: read({}),
			decoderErrors: 0,
			droppedSound: 0,
			unreadDelay: undefined,
			hidden: new Map(),
			isLayered: false,
			foreignMessages: 0,
		}),
		['delays of tracks (they could not be read)'],
	);
	const otherLosses = (
		other: { unended: number | undefined } | { areMoved: boolean | undefined; original?: ReadFilm },
	) =>
		lossesOf({
			...undecoded,
			output: read({}),
			decoderErrors: 0,
			droppedSound: 0,
			unreadDelay: 0,
			hidden: new Map(),
			isLayered: false,
			foreignMessages: 0,
			...other,
		});
	const unendedLosses = (unended: number | undefined) => otherLosses({ unended });
	t.deepEqual(otherLosses({ areMoved: true }), ['the times of its pictures, which are at other moments of its sound']);
	const mute = read({ film: { audio: [] } });
	t.deepEqual(otherLosses({ areMoved: true, original: mute }), ['the times of its pictures']);
	t.deepEqual(otherLosses({ areMoved: undefined }), ['the times of its pictures (they could not be compared)']);
	t.deepEqual(unendedLosses(1), ['the end of 1 track, which is missing in the file']);
	t.deepEqual(unendedLosses(2), ['the ends of 2 tracks, which are missing in the file']);
	t.deepEqual(unendedLosses(undefined), ['ends of tracks (they could not be found)']);
	const chapters = Array.from({ length: 5 }, (_, begin) => ({ begin, title: '' }));
	const tracks = { subtitles: 2, pictures: 1, attachments: 3, data: 1, chapters };
	t.deepEqual(losses({ film: tracks }, { film: { subtitles: 1, chapters } }), [
		'1 of 2 subtitles',
		'1 of 1 cover pictures',
		'3 of 3 attachments',
		'1 of 1 data tracks',
	]);
	const subtitles = (kind: SubtitleTrack['kind'], count: number, filled = count): Given => ({
		film: { subtitleTracks: [{ index: 1, kind }] },
		sound: { count, filled, showing: filled },
	});
	t.deepEqual(losses(subtitles('text', 4), subtitles('text', 3)), ['1 of 4 lines of subtitles 1']);
	t.deepEqual(losses(subtitles('text', 4, 3), subtitles('text of MP4', 8, 4)), []);
	t.deepEqual(losses(subtitles('text of MP4', 8, 4), subtitles('text', 4)), []);
	t.deepEqual(losses(subtitles('text', 4), subtitles('text of MP4', 4, 3)), ['1 of 4 lines of subtitles 1']);
	t.deepEqual(losses(subtitles('pictures', 8), subtitles('pictures', 8)), []);
	t.deepEqual(losses(subtitles('pictures', 8), subtitles('pictures', 7)), ['1 of 8 lines of subtitles 1']);
	// The others only clear the screen.
	const cleared = 'pictures of PGS or DVB';
	t.deepEqual(losses(subtitles(cleared, 8, 4), subtitles(cleared, 4)), []);
	t.deepEqual(losses(subtitles(cleared, 12, 6), subtitles(cleared, 7, 1)), ['5 of 6 lines of subtitles 1']);
	t.deepEqual(losses(subtitles(cleared, 12, 4), subtitles(cleared, 5, 4)), ['7 of 12 lines of subtitles 1']);
	// Without an index, and with gaps in the sound, it is the duration that counts.
	const damaged: Given = {
		film: {
			container: 'mpegts',
			video: [{ index: 0, size: 1, look, rate: 25, isIndexed: false, announced: 0, empty: 0 }],
		},
		video: { count: 1250 },
		sound: { gaps: 50, pauses: 50 },
	};
	t.deepEqual(losses(damaged, { video: { count: 1250 } }), ['1250 of 2500 frames']);
	// Half a second of a clip is more than a hundredth of it.
	const clip: Given = {
		film: { ...damaged.film, container: 'flv', seconds: 12 },
		...{ video: { count: 287, end: 12 }, sound: { end: 12, gaps: 0.52, pauses: 0.52 } },
	};
	t.deepEqual(losses(clip, clip), ['13 of 300 frames']);
	const avi: Given = {
		film: {
			container: 'avi',
			video: [{ index: 0, size: 1, look, rate: 25, isIndexed: false, announced: 2500, empty: 0 }],
		},
		video: { count: 2400 },
	};
	t.deepEqual(losses(avi, { video: { count: 2400 } }), ['100 of 2500 frames']);
	// Frames that are there, and say that the one before is shown for longer.
	const video = [{ index: 0, size: 1, look, rate: 25, isIndexed: false, announced: 2500, empty: 100 }];
	const repeating: Given = { film: { container: 'avi', video }, video: { count: 2400 } };
	t.deepEqual(losses(repeating, { video: { count: 2400 } }), []);
	t.deepEqual(losses(repeating, { video: { count: 2300 } }), ['100 of 2400 frames']);
	const silent: Given = { ...repeating, film: { ...repeating.film, audio: [] } };
	t.deepEqual(losses(silent, { video: { count: 2400 } }), []);
	// Tracks of which nothing was known before all packets were read.
	t.deepEqual(losses({ streams: 3 }, { streams: 3 }), ['1 track that begins later']);
	t.deepEqual(losses({ streams: 5, film: { streams: 3 } }, {}), ['2 tracks that begin later']);
	// Another film behind it, or anything else.
	t.deepEqual(losses({ bytes: 2_400_000 }, {}), ['1.2 MB that are part of no track']);
	const linesLosses = (lost: Partial<LostLines> | undefined, film: Partial<Film> = {}) =>
		lossesOf({
			...undecoded,
			original: read({ film }),
			output: read({ film }),
			decoderErrors: 0,
			droppedSound: 0,
			unreadDelay: 0,
			hidden: new Map(),
			isLayered: false,
			foreignMessages: 0,
			lostLines: lost && { ...noneLost, ...lost },
		});
	t.deepEqual(linesLosses({ unplaced: 1 }), ['the place of 1 line of subtitles']);
	t.deepEqual(linesLosses({ unplaced: 3 }), ['the places of 3 lines of subtitles']);
	t.deepEqual(linesLosses({ isUnforced: true }), ['which tracks are forced']);
	t.deepEqual(linesLosses(undefined), ['words and places of subtitles (they could not be read)']);
	const text = { index: 1, kind: 'text' } as const;
	t.deepEqual(linesLosses({ changed: [1, 2] }, { subtitleTracks: [text, text] }), [
		...['words of 1 line of subtitles 1', 'words of 2 lines of subtitles 2'],
	]);
	const unread = { film: whole, packets: undefined };
	t.deepEqual(
		lossesOf({
			...undecoded,
			original: unread,
			originalBytes: 1e9,
			output: read({}),
			decoderErrors: 0,
			droppedSound: 0,
			unreadDelay: 0,
			hidden: new Map(),
			isLayered: false,
			foreignMessages: 0,
		}),
		['frames (they could not be counted)'],
	);
});

test('chapters that begin at other times, or have other names, are lost', (t) => {
	const chaptersOf = (...begins: readonly number[]) => begins.map((begin, n) => ({ begin, title: `Part ${n + 1}` }));
	const lost = (before: Partial<Film>, after: Partial<Film>) => losses({ film: before }, { film: after });
	const even = chaptersOf(0, 10, 20);
	t.deepEqual(lost({ chapters: even }, { chapters: even }), []);
	t.deepEqual(lost({ chapters: even }, { chapters: chaptersOf(0, 10.5, 20.9) }), []);
	// As the encoder makes them where there is none at the beginning.
	t.deepEqual(lost({ chapters: chaptersOf(8, 15) }, { chapters: chaptersOf(0, 15.02) }), ['the times of chapters']);
	t.deepEqual(lost({ chapters: even }, { chapters: chaptersOf(0, 10, 21.5) }), ['the times of chapters']);
	// The time before the first packet is kept, or left out.
	const late = { lead: 3, chapters: chaptersOf(3, 10) };
	t.deepEqual(lost(late, { chapters: chaptersOf(0, 7) }), []);
	t.deepEqual(lost(late, { chapters: chaptersOf(3, 10) }), []);
	t.deepEqual(lost(late, { chapters: chaptersOf(0, 4) }), ['the times of chapters']);
	const named = (title: string) => ({ chapters: [{ begin: 0, title }] });
	t.deepEqual(lost(named('Anna'), named('Chapter 1')), ['the names of chapters']);
	t.deepEqual(lost(named(''), named('Chapter 1')), []);
	t.deepEqual(lost(named('Anna '), named('Anna')), []);
	// As mkvmerge and HandBrake number them.
	t.deepEqual(lost(named('Chapter 01'), named('Chapter 1')), []);
	t.deepEqual(lost(named('Chapter 001'), named('Chapter 1')), []);
	t.deepEqual(lost(named('Chapter 10'), named('Chapter 10')), []);
	for (const [before, after] of [
		['Chapter 01', 'Chapter 2'],
		['Chapter 10', 'Chapter 1'],
		['Chapter 00', 'Chapter 1'],
		['Chapter 01 Anna', 'Chapter 1 Anna'],
		['Part 01', 'Part 1'],
	] as const)
		t.deepEqual(lost(named(before), named(after)), ['the names of chapters'], before);
	t.deepEqual(lost({ chapters: even }, { chapters: even.slice(1) }), ['1 of 3 chapters']);
});

/** A page of Ogg: 2 begins a track, 4 ends it. */
function oggPage(track: number, flags: number, content: string): Buffer {
	const head = Buffer.alloc(27);
	head.write('OggS');
	head.writeUInt8(flags, 5);
	head.writeUInt32LE(track, 14);
	const sizes = [...Array.from({ length: Math.floor(content.length / 255) }, () => 255), content.length % 255];
	head.writeUInt8(sizes.length, 26);
	return Buffer.concat([head, Buffer.from(sizes), Buffer.from(content, 'latin1')]);
}

const unended = (...pages: readonly Uint8Array[]) => {
	const bytes = Buffer.concat(pages);
	return unendedTracks(async (at, length) => bytes.subarray(at, at + length), bytes.length);
};

test('the tracks of an Ogg file are found that have no last page, wherever the pages of the others are', async (t) => {
	const begin = [oggPage(7, 2, 'theora'), oggPage(8, 2, 'vorbis')];
	const end = [oggPage(8, 4, 'x'), oggPage(7, 4, 'x'.repeat(300))];
	t.is(await unended(...begin, ...end), 0);
	t.is(await unended(...begin), 2);
	t.is(await unended(...begin, ...end.slice(1)), 1);
	// The last page is not whole.
	t.is(await unended(Buffer.concat([...begin, ...end]).subarray(0, -1)), 1);
	// More than is read at once, what is no page between them, and names of pages within others.
	const many = Array.from({ length: 70 }, (_, n) => oggPage(7 + (n % 2), 0, `${'x'.repeat(50_000)}OggS\0`));
	t.is(await unended(...begin, ...many, ...end), 0);
	t.is(await unended(...begin, ...many), 2);
	t.is(await unended(...begin, Buffer.alloc(3_000_001, 'OggS'), ...end), 0);
	// Of joined ones the last.
	t.is(await unended(...begin, ...end, ...begin, ...end), 0);
	t.is(await unended(...begin, ...end, ...begin), 2);
	// What only describes the tracks.
	t.is(await unended(oggPage(1, 2, 'fishead\0'), ...begin, oggPage(1, 0, 'fisbone\0'), ...end), 0);
	t.is(await unended(...Array.from({ length: 1001 }, (_, n) => oggPage(n, 4, ''))), undefined);
	t.is(await unended(), 0);
});

test('pages of Ogg by the million, and their names, are gone through up to a bound, while others are served', async (t) => {
	const begin = Buffer.concat([oggPage(7, 2, 'theora'), oggPage(7, 4, 'x')]);
	const empty = Buffer.alloc(2 ** 20, oggPage(7, 0, '').subarray(0, 27).fill(0, 26, 27));
	const read = (more: Buffer, times: number, signal?: AbortSignal) => {
		const size = begin.length + more.length * times;
		const readAt = async (at: number, length: number) => {
			if (at < begin.length) return Buffer.concat([begin, more]).subarray(at, at + length);
			if (at >= size) return Buffer.alloc(0);
			const from = (at - begin.length) % more.length;
			return Buffer.concat([more.subarray(from), more.subarray(0, from)]).subarray(0, Math.min(length, size - at));
		};
		return unendedTracks(readAt, size, signal, 500_000);
	};
	t.is(await read(Buffer.alloc(2 ** 20, 'OggS'), 20), 0);
	t.is(await read(empty, 8), 1);
	t.is(await read(empty, 20), undefined);
	// A timer fires before the end, of which nothing but pages by the million keeps it: others have their turn.
	const cancelled = new AbortController();
	setTimeout(() => cancelled.abort(new Error('cancelled')), 1);
	await t.throwsAsync(read(empty, 12, cancelled.signal), { message: 'cancelled' });
});

/** An AVI with tracks of these units and starts, as far as its film. */
function aviOf(tracks: readonly (readonly [scale: number, rate: number, start: number])[], more = ''): Uint8Array {
	const number = (value: number) => {
		const bytes = Buffer.alloc(4);
		bytes.writeUInt32LE(value);
		return bytes.toString('latin1');
	};
	const chunk = (name: string, data: string) =>
		`${name}${number(data.length)}${data}${data.length % 2 === 1 ? '\0' : ''}`;
	const list = (form: string, data: string) => chunk('LIST', form + data);
	const header = (fields: readonly number[]) =>
		chunk('strh', `auds${'\0'.repeat(16)}${fields.map(number).join('')}${number(9)}`);
	const headers = tracks.map((fields) => list('strl', header(fields) + chunk('strf', 'odd')));
	const all =
		chunk('JUNK', 'x') + list('hdrl', chunk('avih', '\0'.repeat(56)) + headers.join('')) + more + list('movi', 'x');
	return Buffer.from(`RIFF${number(all.length + 4)}AVI ${all}`, 'latin1');
}

const delayOf = (bytes: Uint8Array) => aviDelay(async (at, length) => bytes.subarray(at, at + length));

test('the delays that the tracks of an AVI have by their headers are read, and unknown where these are odd', async (t) => {
	t.is(
		await delayOf(
			aviOf([
				[1, 25, 0],
				[1, 44_100, 0],
			]),
		),
		0,
	);
	t.is(
		await delayOf(
			aviOf([
				[1, 25, 0],
				[1, 44_100, 132_300],
			]),
		),
		3,
	);
	t.is(
		await delayOf(
			aviOf([
				[1001, 30_000, 60],
				[1, 1000, 0],
			]),
		),
		2.002,
	);
	t.is(
		await delayOf(
			aviOf([
				[1, 25, 50],
				[1, 1000, 2000],
			]),
		),
		0,
	);
	t.is(
		await delayOf(
			aviOf([
				[1, 25, 0],
				[1, 1000, 5],
			]),
		),
		0,
	);
	t.is(
		await delayOf(
			aviOf([
				[1, 25, 0],
				[0, 0, 0],
			]),
		),
		0,
	);
	t.is(
		await delayOf(
			aviOf([
				[1, 25, 0],
				[0, 1000, 5],
			]),
		),
		undefined,
	);
	t.is(await delayOf(aviOf([])), undefined);
	t.is(await delayOf(aviOf([[1, 25, 0]]).subarray(0, -14)), undefined);
	t.is(await delayOf(aviOf([[1, 25, 0]]).subarray(0, 110)), undefined);
	t.is(await delayOf(aviOf([[1, 25, 0]], 'JUNK\0\0\0\0'.repeat(1000))), undefined);
});

test('packets are counted by track, with how many tracks there are at the end, and not at all without that', async (t) => {
	const counted = (...lines: string[]) => {
		const run = async (_: unknown, { onLine }: { onLine(line: string): void }) => {
			for (const line of lines) onLine(line);
			return { code: 0 };
		};
		return countPackets({ run } as never, 3, new AbortController().signal, { picturesOf: 0 });
	};
	const packets = ['0,1.200000,1.160000,0.040000,417,48,K_', '1,1.200000,1.200000,0.020000,99,465,K_,'];
	const { tracks, streams } = (await counted(...packets, '3')) ?? {};
	t.deepEqual([tracks?.size, tracks?.get(1)?.bytes, streams], [2, 99, 3]);
	t.is(await counted(...packets), undefined);

	// Of recordings that were joined each counts its own time; pictures may be shown in another order than they are decoded.
	const part = ['0,1.0,0.9,1.0,9,0,K_', '0,4.0,1.9,1.0,9,0,__', '0,2.0,2.9,1.0,9,0,__', '0,3.0,N/A,1.0,9,0,__'];
	const twice = await counted(...part, ...part, '1');
	const { begin, end, heardUntil } = twice?.tracks.get(0) ?? {};
	t.deepEqual([begin, end, heardUntil], [1, 8, 9]);
	t.deepEqual(twice?.pictures.joins, [4]);
});

test('pictures are at other times if they are so seen from their sound, and not where the encoder leaves some out or repeats them', async (t) => {
	const signal = new AbortController().signal;
	const timed = (times: readonly number[], begin = 0, joins: readonly number[] = []): ReadFilm => {
		const pictures = new PictureTimes();
		for (const [n, time] of times.entries()) {
			if (joins.includes(n)) pictures.join();
			pictures.add(time);
		}
		const { film, packets } = read({ video: { begin: Math.min(...times) }, sound: { begin, end: begin + 100 } });
		return { film, packets: packets && { ...packets, pictures } };
	};
	const every = (step: number, count: number) => Array.from({ length: count }, (_, n) => n * step);
	const moved = (from: readonly number[], to: readonly number[], begins: readonly [number, number] = [0, 0]) =>
		areMoved(timed(from, begins[0]), timed(to, begins[1]), signal);
	const film = every(0.04, 2500);
	t.false(await moved(film, film));
	// Decoded in another order, and rounded.
	t.false(await moved([0, 0.12, 0.04, 0.08, 0.16], [0.001, 0.04, 0.081, 0.12, 0.16]));
	t.false(await moved(film, film.toSpliced(1000, 10)));
	t.false(await moved(film, film.toSpliced(1000, 0, 40, 40, 40)));
	const slides = every(5, 100);
	t.false(await moved(slides, slides.toSpliced(50, 1)));
	t.false(await moved(slides, slides.toSpliced(50, 0, 249)));
	t.true(await moved(slides, slides.with(50, 252)));
	// From an hour on, as in a transport stream, or with its sound only.
	const later = film.map((time) => time + 3600);
	t.false(await moved(later, film, [3600, 0]));
	const all = film.map((time) => time + 0.3);
	t.true(await moved(film, all));
	t.false(await moved(film, all, [0, 0.3]));
	const some = (by: number) => film.map((time) => (time < 40 || time > 42 ? time : time + by));
	t.true(await moved(film, some(0.3)));
	t.false(await moved(film, some(0.1)));
	// Of recordings that were joined each begins where the sound of the one before ends.
	const recordings = [500, 1000, 1500, 2000];
	const begun = (by: number) => film.map((time, n) => time + by * Math.floor(n / 500));
	const joined = (to: readonly number[]) => areMoved(timed(film, 0, recordings), timed(to), signal);
	t.true(await moved(film, begun(0.2)));
	t.false(await joined(film));
	t.false(await joined(begun(0.2)));
	t.false(await joined(begun(-0.2)));
	t.true(await joined(begun(2)));
	t.true(await joined(begun(0.2).map((time, n) => (n < 1100 || n > 1300 ? time : time + 0.3))));
	const long = new PictureTimes();
	for (let n = 0; n <= 4_000_000; n++) long.add(n);
	t.is(long.all(), undefined);
	const ten = new PictureTimes();
	for (let n = 0; n < 36_000 * 60; n++) ten.add(n / 60);
	t.is(ten.all()?.length, 36_000 * 60);
});

test('parts that an edit list hides are found by where their packets are, and are lost if they are longer than encoders write', async (t) => {
	const shown = new ShownPackets();
	for (const position of [1000, 2 ** 24 + 1000, 7e9, 1000]) shown.add(position);
	t.true(shown.has(1000) && shown.has(2 ** 24 + 1000) && shown.has(7e9));
	t.false(shown.has(2000) || shown.has(2 ** 24) || shown.has(7e9 + 2 ** 24));
	const packet = (index: number, position: number, seconds: number, size = 9) =>
		`${index},0.000000,0.000000,${seconds}.000000,${size},${position},K_`;
	const lines = [packet(0, 5, 1), packet(0, 1000, 2), packet(0, 1009, 3), packet(0, 7e9, 4), packet(0, 9e9, 5, 2)];
	// Of these lengths only the times of decoding tell.
	const unknown = ['2,1.0,0.0,N/A,9,1000,K_', '2,9.0,1.5,N/A,9,2000,__', '2,3.0,4.0,N/A,9,3000,__'];
	const run = async (args: readonly string[], { onLine }: { onLine(line: string): void }) => {
		t.deepEqual(args.slice(0, 2), ['-ignore_editlist', '1']);
		for (const line of [...lines, packet(1, 3000, 6), ...unknown, 'x']) onLine(line);
		return { code: 0 };
	};
	const parts = await hiddenParts({ run } as never, 3, shown, new AbortController().signal);
	const { before, later, seconds } = parts?.get(0) ?? {};
	t.deepEqual([before, later, seconds, parts?.get(1)?.before], [1, 3, 10, 6]);
	t.deepEqual([parts?.get(2)?.later, parts?.get(2)?.seconds], [2.5, 4]);

	const hidden = (part: Partial<HiddenPart>, index = 0) =>
		losses({}, {}, 0, 0, undefined, new Map([[index, { before: 0, later: 0, seconds: 100, ...part }]]));
	t.deepEqual(hidden({ before: 2, later: 1 }), []);
	t.deepEqual(hidden({ before: 2.1 }), ['2 s of video track 1 that are hidden']);
	t.deepEqual(hidden({ later: 1.5 }, 1), ['2 s of audio track 1 that are hidden']);
	t.deepEqual(hidden({ before: 60, later: 60, seconds: 10_000 }), ['120 s of video track 1 that are hidden']);
	t.deepEqual(hidden({ later: 90, seconds: 10_000 }), []);
	// Of a clip the beginning is a large part.
	t.deepEqual(hidden({ before: 1.8, seconds: 4 }), ['2 s of video track 1 that are hidden']);
	t.deepEqual(
		lossesOf({
			...{ original: read({}), originalBytes: 0, output: read({}), decoded: undefined },
			...{
				decoderErrors: 0,
				droppedSound: 0,
				unreadDelay: 0,
				areMoved: false,
				unended: 0,
				hidden: undefined,
				isLayered: false,
				attached: undefined,
				foreignMessages: 0,
				lostLines: noneLost,
			},
		}),
		['hidden parts of tracks (they could not be read)'],
	);
});

test('where more packets are shown than are kept it is not known what is hidden', async (t) => {
	const shown = new ShownPackets();
	for (let position = 0; position <= 4_000_001; position++) shown.add(position);
	t.false(shown.areKnown);
	t.is(await hiddenParts({} as never, 3, shown, new AbortController().signal), undefined);
});

test('the errors of all decoders are added up, and are unknown if none reports any', (t) => {
	const errors = decoderErrors();
	errors.take('[10:00:00] sync: got 749 frames, 1500 expected');
	t.is(errors.count(), undefined);
	errors.take('[10:00:00] aac-decoder done: 1290 frames, 1 decoder errors');
	errors.take('[10:00:00] h264-decoder done: 749 frames, 751 decoder errors');
	t.is(errors.count(), 752);
});

test('sound that the encoder leaves out is added up for each track, and is lost above a hundredth of it', (t) => {
	const dropped = droppedSound();
	for (const line of [
		'[10:00:00] sync: audio 0x1 time went backwards 21 ms, dropped 1 frames. PTS 43080',
		// What it prints of its progress may be before that.
		'Encoding: task 1 of 1, 9.73 %[10:00:00] sync: audio 0x1 time went backwards 1500 ms, dropped 70 frames. PTS 86160',
		'[10:00:00] sync: audio 0xa000bd time went backwards 1000 ms, dropped 47 frames. PTS 131775',
		'[10:00:00] sync: video time went backwards 9000 ms, dropped 225 frames. PTS 131775',
		'    title           : sync: audio 0x1 time went backwards 9000 ms, dropped 225 frames. PTS 1',
	])
		dropped.take(line);
	t.is(dropped.seconds(), 1.521);
	t.is(droppedSound().seconds(), 0);
	const film = read({});
	t.deepEqual(lostToOverlaps(film, 1.521), ['1.5 s of sound whose times overlap']);
	t.deepEqual(lostToOverlaps(film, 0.9), []);
	const clip = read({ sound: { end: 2 } });
	t.deepEqual(lostToOverlaps(clip, 0.1), []);
	t.deepEqual(lostToOverlaps(clip, 0.15), ['0.2 s of sound whose times overlap']);
	// Where a recording was joined to others its sound may overlap.
	clip.packets?.pictures.join();
	t.deepEqual(lostToOverlaps(clip, 1.1), []);
	t.deepEqual(lostToOverlaps(clip, 1.2), ['1.2 s of sound whose times overlap']);
	t.deepEqual(lostToOverlaps({ ...film, packets: undefined }, 0.15), ['0.2 s of sound whose times overlap']);
});

test('how far a film is decoded is reported once for each second, from its first frame on', (t) => {
	const times: number[] = [];
	const { take } = frameReader((seconds) => times.push(seconds));
	for (const line of [
		'stream_index=0|pts_time=1.400000',
		'stream_index=1|pts_time=1.500000',
		'stream_index=0|pts_time=N/A',
		'',
		'x',
		'side_data_type=H.26[45] User Data Unregistered SEI message',
		'stream_index=0|pts_time=2.300000',
		'stream_index=0|pts_time=2.400000|',
		'stream_index=1|pts_time=2.600000',
		'stream_index=0|pts_time=2.000000',
		'stream_index=0|pts_time=9.4',
	]) {
		take(line);
	}
	t.deepEqual(times, [1, 8]);
});

test('what only the frames of a film show is lost with them: sizes, half pictures, captions, views and channels', (t) => {
	const lost = (...lines: string[]) => {
		const { take, read: readFrames } = frameReader(() => {});
		for (const line of lines) take(line);
		return losses({}, {}, 0, 0, { errors: 0, hasLayers: false, ...readFrames() });
	};
	const frame = (more: object = {}) =>
		Object.entries({
			stream_index: 0,
			width: 640,
			height: 360,
			sample_aspect_ratio: '1:1',
			interlaced_frame: 0,
			...more,
		})
			.map(([name, value]) => `${name}=${value}`)
			.join('|');
	t.deepEqual(lost(frame(), frame({ sample_aspect_ratio: 'N/A' }), 'stream_index=1|channels=2'), []);
	t.deepEqual(lost(frame(), frame({ width: 1280, height: 720 })), ['the sizes of its pictures, which change']);
	t.deepEqual(lost(frame(), frame({ sample_aspect_ratio: '64:45' })), ['the sizes of its pictures, which change']);
	// A cover beside the film has a size of its own.
	t.deepEqual(lost(frame(), frame({ stream_index: 2, width: 50 })), []);
	t.deepEqual(lost(frame(), frame({ interlaced_frame: 1 })), ['the half pictures of interlaced video']);
	const { take, read: readFrames } = frameReader(() => {});
	take(frame({ interlaced_frame: 1 }));
	const said = { film: { traits: ['the half pictures of interlaced video' as const] } };
	t.deepEqual(losses(said, {}, 0, 0, { errors: 0, hasLayers: false, ...readFrames() }), [
		'the half pictures of interlaced video',
	]);
	t.deepEqual(lost(frame(), 'side_data_type=ATSC A53 Part 4 Closed Captions'), ['closed captions']);
	t.deepEqual(lost(`${frame()}|side_data_type=ATSC A53 Part 4 Closed Captions`), ['closed captions']);
	t.deepEqual(lost(`${frame()}|side_data_type=Stereo 3D`), ['the view of a panorama or in 3D']);
	t.deepEqual(lost(frame(), 'side_data_type=Dolby Vision RPU Data'), ['high dynamic range']);
	const coloured = (color_transfer: string, pix_fmt: string) => frame({ color_transfer, pix_fmt });
	t.deepEqual(lost(frame(), coloured('arib-std-b67', 'yuv420p10le')), ['high dynamic range']);
	t.deepEqual(lost(coloured('bt2020-10', 'yuv420p10le'), coloured('arib-std-b67', 'yuv420p')), []);
	t.deepEqual(lost(frame(), 'side_data_type=SMPTE 12-1 timecode'), ['its timecode']);
	t.deepEqual(lost(frame(), 'side_data_type=HDR Dynamic Metadata SMPTE2094-40 (HDR10+)'), ['high dynamic range']);
	// Of any kind that is not known, also behind one that is.
	const unread = (names: string) => [`data in its pictures that no program here reads (${names})`];
	t.deepEqual(lost(frame(), 'side_data_type=Position of a camera'), unread('Position of a camera'));
	// By which televisions zoom, as by a pan and scan.
	t.deepEqual(lost(frame(), 'side_data_type=Active format description'), []);
	t.deepEqual(lost(`${frame()}|side_data_type=Skip samples|side_data_type=x|side_data_type=y`), unread('x, y'));
	const ofPrograms = ['AVPanScan', 'AVMatrixEncoding', 'Skip samples', 'Film grain parameters', 'AVReplayGain'];
	t.deepEqual(lost(...ofPrograms.map((name) => `${frame()}|side_data_type=${name}`)), []);
	// Encoders of DVDs count from 0 in theirs.
	t.deepEqual(lost(frame(), 'side_data_type=GOP timecode'), []);
	const matrix = (first: number) =>
		`\\n00000000:  ${first}  0  0\\n00000001:  0  65536  0\\n00000002:  0  0  1073741824\\n`;
	const turned = (first: number) => `${frame()}|side_data_type=3x3 displaymatrix|displaymatrix=${matrix(first)}`;
	t.deepEqual(lost(turned(-65536)), ['that it is shown turned or mirrored, which only its pictures say']);
	t.deepEqual(lost(turned(65536)), []);
	const { take: takeTurned, read: readTurned } = frameReader(() => {});
	takeTurned(turned(-65536));
	const known = { film: { matrices: new Set([matrixOf(matrix(-65536))]) } };
	t.deepEqual(losses(known, {}, 0, 0, { errors: 0, hasLayers: false, ...readTurned() }), []);
	t.deepEqual(lost(frame(), 'stream_index=1|channels=2', 'stream_index=1|channels=6', 'stream_index=1|channels=2'), [
		'4 of 6 channels of audio track 1',
	]);
	// As many channels, into which the encoder mixes others than were there.
	const heard = (...layouts: string[]) => layouts.map((each) => `stream_index=1|channels=2|channel_layout=${each}`);
	t.deepEqual(lost(frame(), ...heard('stereo', 'hexagonal')), [
		'channels of audio track 1 that become one (hexagonal)',
	]);
	t.deepEqual(lost(frame(), ...heard('6.1(back)')), ['channels of audio track 1 that become one (6.1(back))']);
	t.deepEqual(lost(frame(), ...heard('mono', '5.1', '5.1(side)', '6.1', '7.1', 'quad', 'unknown', '2 channels')), []);
	// Of 5.1, for which it is taken, the fourth channel has low tones only.
	const unsaid = (channels: number, layout = 'unknown') => {
		const film = { audio: [{ index: 1, channels, announced: 0, codec: 'aac' }] };
		const { take, read: readSound } = frameReader(() => {});
		take(`stream_index=1|channels=${channels}|channel_layout=${layout}`);
		return losses({ film }, { film }, 0, 0, { errors: 0, hasLayers: false, ...readSound() });
	};
	const highTones = ['high tones of a channel of audio track 1 (its file does not say which is for low ones)'];
	t.deepEqual([unsaid(6), unsaid(8), unsaid(6, '6 channels')], [highTones, highTones, highTones]);
	t.deepEqual([unsaid(2), unsaid(4), unsaid(5), unsaid(7), unsaid(6, '5.1(side)')], [[], [], [], [], []]);
	t.deepEqual(lost(frame(), 'stream_index=1|channels=3|channel_layout=3.0'), ['1 of 3 channels of audio track 1']);
	// Seven are at other places in Opus.
	const of = (channels: number, codec: string) => ({ film: { audio: [{ index: 1, channels, announced: 0, codec }] } });
	t.deepEqual(losses(of(7, 'dts'), of(7, 'opus')), ['where the channels of audio track 1 are heard']);
	t.deepEqual([losses(of(7, 'opus'), of(7, 'aac')), losses(of(6, 'dts'), of(6, 'opus'))], [[], []]);
});

const unsaid = { sample_aspect_ratio: '', color_space: '', color_primaries: '', color_transfer: '' };

test('pictures are shown in the shape that their file says, or that is lost', (t) => {
	const printed = { ...unsaid, width: 640, height: 480, sample_aspect_ratio: '4:3' };
	const wide = lookOf(printed, false);
	t.like(wide, { shape: 16 / 9, pixels: [4, 3] });
	t.like(lookOf(printed, true), { shape: 9 / 16, pixels: [3, 4] });
	for (const unknown of ['', 'N/A', '0:1', '1:0']) {
		t.deepEqual(lookOf({ ...printed, sample_aspect_ratio: unknown }, false).pixels, [1, 1], unknown);
	}
	// As few bits as encoders have for them.
	t.deepEqual(lookOf({ ...printed, sample_aspect_ratio: '2000000000:1000000000' }, false).pixels, [65_535, 32_768]);
	t.deepEqual(lookOf({ ...printed, sample_aspect_ratio: '1:2000000000' }, false).pixels, [1, 65_535]);

	t.deepEqual(lookArguments(wide, 25, { shape: 4 / 3 }), ['--custom-anamorphic', '--pixel-aspect', '4:3']);
	t.deepEqual(lookArguments(wide, 25, { shape: 640 / 360 }), []);
	t.deepEqual(lookArguments(lookOf({ ...printed, width: 0, height: 0 }, false), 25, { shape: 4 / 3 }), []);

	const shown = (shape: number) => ({
		film: { video: whole.video.map((each) => ({ ...each, look: { ...look, shape } })) },
	});
	t.deepEqual(losses(shown(16 / 9), shown(4 / 3)), ['the shape of its pictures']);
	t.deepEqual(losses(shown(16 / 9), shown(9 / 16)), ['the shape of its pictures']);
	t.deepEqual(losses(shown(Number.NaN), shown(16 / 9)), ['the shape of its pictures']);
	// Of 161 pixels the encoder leaves out one.
	t.deepEqual(losses(shown(161 / 91), shown(160 / 90)), []);
});

test('pictures have the colours that their film says or that are supposed of it, or these are lost', (t) => {
	const of = (said: Partial<typeof unsaid>, width = 854, height = 480, isOnSide = true) =>
		lookOf({ ...unsaid, width, height, ...said }, isOnSide);
	const argumentsOf = (each: Look, rate = 25) => lookArguments(each, rate, each).slice(1);
	t.deepEqual(argumentsOf(of({})), ['pal']);
	t.deepEqual(argumentsOf(of({}), 30), ['601']);
	t.deepEqual(argumentsOf(of({}), 0), ['601']);
	t.deepEqual(argumentsOf(of({}, 480, 854)), ['709']);
	// HandBrake supposes the same of them.
	for (const each of [of({}, 854, 480, false), of({}, 1280, 720), of({}, 640, 480), of({ color_space: 'bt709' })]) {
		t.deepEqual(argumentsOf(each), []);
	}
	// It would set the primaries, too.
	t.deepEqual(argumentsOf(of({ color_primaries: 'smpte432' })), []);

	const shown = (each: Look) => ({ film: { video: whole.video.map((track) => ({ ...track, look: each })) } });
	const upright = (said: Partial<typeof unsaid>) => of(said, 480, 854, false);
	const lost = (before: Look, after: Partial<typeof unsaid>) => losses(shown(before), shown(upright(after)));
	t.deepEqual(lost(of({}), { color_space: 'smpte170m', color_primaries: 'bt470bg', color_transfer: 'bt709' }), []);
	t.deepEqual(lost(of({}), { color_space: 'bt709' }), ['its colours']);
	t.deepEqual(lost(of({ color_space: 'bt709' }), { color_space: 'bt709' }), []);
	t.deepEqual(lost(of({ color_space: 'bt470bg' }), { color_space: 'smpte170m' }), []);
	t.deepEqual(lost(of({ color_space: 'reserved' }), { color_space: 'smpte170m' }), []);
	t.deepEqual(lost(of({ color_transfer: 'bt2020-10', color_space: 'fcc' }), { color_space: 'fcc' }), ['its colours']);
	t.deepEqual(lost(upright({ color_transfer: 'smpte170m' }), { color_transfer: 'bt709' }), []);
	t.deepEqual(lost(upright({ color_primaries: 'smpte240m' }), { color_primaries: 'smpte170m' }), []);
	t.deepEqual(lost(upright({ color_transfer: 'iec61966-2-1' }), { color_transfer: 'bt709' }), ['its colours']);
	t.deepEqual(lost(upright({ color_primaries: 'smpte432' }), { color_primaries: 'bt709' }), ['its colours']);
	t.deepEqual(lost(upright({ color_primaries: 'smpte432' }), {}), ['its colours']);
	t.deepEqual(lost(upright({ color_primaries: 'bt709' }), {}), []);
});

test('further layers of pictures, and units that no decoder knows, are found by what decoders list', (t) => {
	const read = (...lines: string[]) => {
		const { take, read: readUnits } = unitReader();
		for (const line of lines) take(line);
		return readUnits();
	};
	const said = (text: string, codec = 'h264') => `[${codec} @ 0x55d0c8] [debug] ${text}`;
	const avc = (kind: number) => said(`nal_unit_type: ${kind}(Coded slice), nal_ref_idc: 2`);
	const hevc = (kind: number, layer = 0) =>
		said(`nal_unit_type: ${kind}(TRAIL_R), nuh_layer_id: ${layer}, temporal_id: 0`, 'hevc');
	const nothing = { hasLayers: false, unread: new Set() };
	t.deepEqual(read('[mov @ 0x1] [debug] x'), nothing);
	// Of a view that goes first, or in layers of rates, too.
	t.deepEqual(read(...[7, 8, 6, 9, 5, 1, 12, 14].map(avc)), nothing);
	t.deepEqual(read(...[32, 33, 34, 35, 39, 40, 19, 1, 0].map((kind) => hevc(kind))), nothing);
	for (const kind of [15, 19, 20, 21]) t.true(read(avc(7), avc(1), avc(kind)).hasLayers, `${kind}`);
	t.true(read(hevc(1), hevc(1, 1)).hasLayers);
	t.deepEqual(read(avc(1), avc(24), hevc(1), hevc(50)).unread, new Set(['units of kind 24', 'units of kind 50']));
	t.is(read(avc(1), ...Array.from({ length: 100 }, (_, n) => avc(n + 22))).unread.size, 10);
	// Decoders of another version may say it otherwise.
	t.is(read(said('Reinit context to 160x96, pix_fmt: yuv420p')).hasLayers, undefined);
	t.is(read(avc(1), said('Output frame with POC 1.', 'hevc')).hasLayers, undefined);
	const messages = [said('unknown SEI type 240'), said('Skipped PREFIX SEI 137', 'hevc')];
	const text = 'Unsupported User Data Registered ITU-T T35 SEI message (country_code = 1)';
	t.deepEqual(
		read(avc(1), hevc(1), ...messages, `[h264 @ 0x1] [verbose] ${text}`).unread,
		new Set(['messages of kind 240', 'registered messages']),
	);
	const jpeg = (marker: string) => said(`marker=${marker} avail_size_in_buf=4803`, 'mjpeg');
	t.deepEqual(read(...['d8', 'e0', 'e1', 'ee', 'fe', 'db', 'c4', 'da', 'd9'].map(jpeg)), nothing);
	t.deepEqual(read(jpeg('e3'), jpeg('ed')).unread, new Set(['segments APP3', 'segments APP13']));
	const comment = (text: string) => `[mjpeg @ 0x55d0c8] [info] comment: '${text}'`;
	t.deepEqual(read(...['Lavc59.37.100', 'Intel(R) JPEG Library, version 1', 'AVID', ''].map(comment)), nothing);
	t.deepEqual(read(comment('2026-11-30 12:00 Cam1')).unread, new Set(['comments']));
	const decoded = (hasLayers: boolean | undefined) => ({ errors: 0, ...frameReader(() => {}).read(), hasLayers });
	const layers = (hasLayers: boolean | undefined) => losses({}, {}, 0, 0, decoded(hasLayers));
	t.deepEqual(layers(false), []);
	t.deepEqual(layers(true), ['the second layer of its pictures (the view of the other eye, or transparency)']);
	t.deepEqual(layers(undefined), ['further layers of its pictures (they could not be looked for)']);
});

test('messages in pictures are lost that are not of an encoder that is known', async (t) => {
	const { take, read: readFrames } = frameReader(() => {});
	const type = 'side_data_type=H.26[45] User Data Unregistered SEI message';
	for (const line of [`stream_index=0|${type}|${type}`, `stream_index=0|${type}`, 'stream_index=0']) take(line);
	t.is(readFrames().messages, 3);
	const { take: takeAgain, read: readAgain } = frameReader(() => {}, true);
	const at = (position: number | string) => `stream_index=0|pkt_pos=${position}|${type}|${type}`;
	for (const line of [at(48), at(900), at(48), at('N/A'), at('N/A')]) takeAgain(line);
	t.is(readAgain().messages, 8);
	t.is(readFrames().unread.size, 0);
	const ids = ['dc45e9bde6d948b7962cd820d923eeef', '2ca2de09b51747dbbb55a4fe7fc2fc4e'];
	const [x264 = Buffer.alloc(0), x265 = Buffer.alloc(0)] = ids.map((id) => Buffer.from(id, 'hex'));
	const camera = Buffer.from('10112233445566778899aabbccddeeff', 'hex');
	let readBytes = 0;
	const foreign = (messages: number, ...parts: Buffer[]) => {
		const bytes = Buffer.concat(parts);
		const readAt = async (at: number, length: number) => {
			readBytes += length;
			return bytes.subarray(at, at + length);
		};
		return foreignMessages(readAt, messages, new AbortController().signal);
	};
	t.is(await foreign(2, camera, camera, camera), 2);
	t.is(await foreign(3, x264, camera, x265), 1);
	// Also where the film is read in parts.
	for (const before of [2 ** 20 - 17, 2 ** 20 - 16, 2 ** 20 - 8, 2 ** 20 - 1, 2 ** 20])
		t.is(await foreign(3, Buffer.alloc(before), x265, Buffer.alloc(2 ** 20), x265), 1, `${before}`);
	// Of most films nothing but the beginning is read.
	readBytes = 0;
	t.is(await foreign(1, x264, Buffer.alloc(2 ** 24)), 0);
	t.is(await foreign(0, x264), 0);
	t.true(readBytes <= 2 ** 20);
	const unread = (count: number | undefined) => losses({}, {}, 0, 0, undefined, new Map(), count);
	t.deepEqual(unread(1), ['1 message in its pictures that no program here reads']);
	t.deepEqual(unread(150), ['150 messages in its pictures that no program here reads']);
	t.deepEqual(unread(undefined), ['messages in its pictures (they could not be read)']);
});

test('names, languages and marks that tell tracks apart, the looks of subtitles and texts about a film are found, and missed in an output', (t) => {
	const filmOf = (streams: object[], tags: object = {}, format_name = 'matroska') =>
		parseProbe(
			JSON.stringify({
				format: { format_name, tags },
				streams: [{ codec_type: 'video' }, ...streams].map((each, index) => ({ index, ...each })),
			}),
		);
	const lost = (before: ReturnType<typeof filmOf>, after: ReturnType<typeof filmOf>) => {
		const given = (of: ReturnType<typeof filmOf>): Given => {
			const { styledSubtitles = 0, named = whole.named, texts = [] } = of ?? {};
			return { film: { styledSubtitles, named, texts } };
		};
		return losses(given(before), given(after));
	};
	const audio = (title: string, more: object = {}) => ({ codec_type: 'audio', tags: { title }, ...more });
	const subtitle = (more: object = {}) => ({ codec_type: 'subtitle', codec_name: 'subrip', ...more });
	const two = filmOf([audio('Original'), audio('Commentary')]);
	t.deepEqual(lost(two, two), []);
	t.deepEqual(lost(two, filmOf([audio('Stereo'), audio('Stereo')])), ['names of tracks']);
	t.deepEqual(lost(filmOf([audio('Surround')]), filmOf([audio('Stereo')])), []);
	const forced = filmOf([subtitle({ disposition: { forced: 1, default: 1 } }), subtitle()]);
	t.deepEqual(lost(forced, forced), []);
	t.deepEqual(lost(forced, filmOf([subtitle(), subtitle()])), ['which tracks are forced']);
	const german = filmOf([subtitle({ tags: { language: 'ger' } })]);
	t.deepEqual(lost(german, filmOf([subtitle({ tags: { language: 'deu' } })])), []);
	t.deepEqual(lost(german, filmOf([subtitle({ tags: { language: 'und' } })])), ['languages of tracks']);
	t.deepEqual(lost(german, filmOf([subtitle({ tags: { language: 'eng' } })])), ['languages of tracks']);
	const bilingual = filmOf([subtitle({ tags: { language: 'eng,fra' } })]);
	t.deepEqual(lost(bilingual, filmOf([subtitle({ tags: { language: 'eng' } })])), ['languages of tracks']);
	const swapped = filmOf([audio('Commentary'), audio('Original')]);
	t.deepEqual(lost(two, swapped), ['names of tracks']);
	const dubbed = filmOf([audio('', { disposition: { dub: 1, default: 1 } }), audio('')]);
	t.deepEqual(lost(dubbed, filmOf([audio(''), audio('', { disposition: { dub: 1 } })])), ['which tracks are dubbed']);
	const described = filmOf([subtitle({ disposition: { descriptions: 1 } })]);
	t.deepEqual(lost(described, filmOf([subtitle()])), ['which tracks are descriptions']);
	const styled = filmOf([subtitle({ codec_name: 'ass' })]);
	t.deepEqual(lost(styled, styled), []);
	t.deepEqual(lost(styled, filmOf([subtitle({ codec_name: 'mov_text' })])), [
		'fonts, colours and places of 1 subtitles',
	]);
	const told = filmOf([], { COMMENT: 'Ours', Title: 'One', encoder: 'x' });
	t.deepEqual(lost(told, filmOf([], { title: 'One' })), ['what the file says of it (comment)']);
	const named = filmOf([], {
		KEYWORDS: 'sea',
		PUBLISHER: 'Us',
		'Shelf mark': 'A 1',
		major_brand: 'isom',
		_STATISTICS_TAGS: 'BPS',
	});
	t.deepEqual(lost(named, filmOf([], { encoder: 'x' })), [
		'what the file says of it (keywords, publisher, shelf mark)',
	]);
	t.deepEqual(lost(filmOf([], { 'title-deu': 'Eins' }), filmOf([], { title: ' Eins ' })), []);
	t.deepEqual(lost(filmOf([], { 'title-deu': 'Eins' }), filmOf([], { title: 'One' })), [
		'what the file says of it (title)',
	]);
	const many = Object.fromEntries(Array.from({ length: 5000 }, (_, each) => [`${each} ${'x'.repeat(100)}`, 'Ours']));
	const [sentence = ''] = lost(filmOf([], many), filmOf([]));
	t.true(sentence.length < 1000);
	t.true(sentence.endsWith('… and 4990 more)'), sentence);
	const windows = filmOf([], { 'WM/Category': 'sea', 'WM/SharedUserRating': '99', 'WM/EncodingTime': '1' }, 'asf');
	t.deepEqual(lost(windows, filmOf([])), ['what the file says of it (keywords, rating)']);
	const ofAvi = filmOf([], { IKEY: 'sea', ISBJ: 'Ours', ISFT: 'x' }, 'avi');
	t.deepEqual(lost(ofAvi, filmOf([])), ['what the file says of it (keywords, subject)']);
	// Of a track, where Ogg has all of them and a title is the name of the track elsewhere.
	const ofTrack = [{ codec_type: 'audio', tags: { TITLE: 'Ours', COMMENT: 'At the sea', ENCODER: 'x' } }];
	t.deepEqual(lost(filmOf(ofTrack, {}, 'ogg'), filmOf([])), ['what the file says of it (title, comment)']);
	t.deepEqual(lost(filmOf(ofTrack), filmOf([])), ['what the file says of it (comment)']);
	const cover = { codec_type: 'video', disposition: { attached_pic: 1 }, tags: { comment: 'Cover (front)' } };
	t.deepEqual(lost(filmOf([cover]), filmOf([])), []);
});

test('all that a film says of itself and of its tracks is a text, but for what programs write, and has to be said again in the same words', (t) => {
	type Said = Readonly<Record<string, string>>;
	const filmOf = (format_name: string, tags: Said, ofTrack: Said = {}) =>
		parseProbe(
			JSON.stringify({
				format: { format_name, tags },
				streams: [{ codec_type: 'video' }, { codec_type: 'audio', tags: ofTrack }].map((each, index) => ({
					index,
					...each,
				})),
			}),
		);
	const lost = (before: ReturnType<typeof filmOf>, after = filmOf('mov,mp4', {})) => {
		const given = (of: ReturnType<typeof filmOf>): Given => ({ film: { texts: of?.texts ?? [] } });
		return losses(given(before), given(after))
			.join()
			.replace(/^what the file says of it \((.*)\)$/, '$1');
	};
	const ofMov = (tags: Said, ofTrack?: Said) => lost(filmOf('mov,mp4', tags, ofTrack));
	t.is(ofMov({ iTunMOVI: '<plist/>', iTunEXTC: 'us-tv|TV-MA', iTunNORM: '1', iTunSMPB: '2' }), 'itunmovi, itunextc');
	const [look, apple, android] = [
		'com.blackmagic-design.camera.look',
		'com.apple.quicktime.software',
		'com.android.version',
	];
	// Those of Apple and Android are a trait.
	t.is(ofMov({ [look]: 'Scene 12', [apple]: '1', [android]: '1' }), look);
	t.is(
		ofMov({}, { language: 'eng', handler_name: 'x', vendor_id: 'x', encoder: 'x', creation_time: 'x', timecode: '1' }),
		'',
	);
	t.is(ofMov({}, { reel_name: 'A001' }), 'reel_name');
	t.is(ofMov({ tool: 'Nero AAC codec', cdec: 'ndaudio', toolbox: 'Ours' }), 'toolbox');
	t.is(
		lost(
			filmOf('asf', {
				'WM/Producer': 'Ada',
				'WM/Text': 'Notes',
				publisher: 'Us',
				'WM/MediaClassPrimaryID': 'x',
				WMFSDKVersion: '12',
				IsVBR: '0',
				'VBR Peak': '1',
				DeviceConformanceTemplate: 'L1',
				'WM/EncodingTime': '1',
			}),
		),
		'wm/producer, wm/text, publisher',
	);
	t.is(
		lost(
			filmOf('flv', {
				notes: 'Ours',
				place: 'Rome',
				rating: '5',
				hasKeyframes: 'true',
				lasttimestamp: '12',
				metadatacreator: 'x',
				encoder: 'x',
				'5.1': 'false',
			}),
		),
		'notes, place, rating',
	);
	// As RealProducer writes them.
	t.is(
		lost(
			filmOf('rm', {
				'Target Audiences': 'Single ISDN (45 Kbps);',
				'Audio Format': 'Stereo Music',
				'Creation Date': '9/2/2004 13:58:13',
				'Modification Date': '9/2/2004 13:58:13',
				'Generated By': 'RealProducer 8.5',
				'Content Rating': '0',
				videoMode: 'normal',
				Keywords: 'sea',
				Abstract: 'Ours',
			}),
		),
		'keywords, abstract',
	);
	t.is(lost(filmOf('matroska', {}, { ENCODER_SETTINGS: 'crf=20', NOTES: 'Ours' })), 'notes');
	t.is(
		lost(
			filmOf('avi', {
				product: 'Ours',
				IENG: 'Ada',
				ISFT: 'x',
				encoder: 'x',
				software: 'x',
				creation_time: 'x',
				title: ' ',
			}),
		),
		'product, ieng',
	);
	const person = filmOf(
		'matroska',
		{},
		{
			PERSON: 'Ada',
			'BPS-eng': '1',
			DURATION: '1',
			'NUMBER_OF_FRAMES-eng': '1',
			_STATISTICS_WRITING_APP: 'x',
			ENCODER: 'x',
			SOURCE_ID: '1',
			title: 'Main',
			alpha_mode: '1',
		},
	);
	t.is(lost(person), 'person');
	// Of the same name, and of the same track.
	t.is(lost(person, filmOf('matroska', {}, { person: ' Ada' })), '');
	t.is(lost(person, filmOf('matroska', { person: 'Ada' })), 'person');
	t.is(lost(person, filmOf('matroska', {}, { person: 'Bob' })), 'person');
	t.is(lost(filmOf('ogg', {}, { TITLE: 'Ours' }), filmOf('mov,mp4', { title: 'Ours' })), '');
	// HandBrake reads and writes some by names of their own in Matroska.
	const ofMatroska = filmOf('matroska', { SUMMARY: 'Ours', DATE_RELEASED: '1975', DIRECTOR: 'Ada' });
	const ofOthers = filmOf('mov,mp4', { comment: 'Ours', date: '1975', album_artist: 'Ada' });
	t.is(lost(ofMatroska, ofOthers), '');
	t.is(lost(ofOthers, ofMatroska), '');
	t.is(lost(ofMatroska, filmOf('mov,mp4', { comment: 'Other', album: '1975' })), 'summary, date_released, director');
	t.is(lost(filmOf('matroska', { SUMMARY: 'Ours', COMMENT: 'Ours' }), ofOthers), 'summary');
	t.is(
		losses(
			{ film: { texts: [{ track: '', name: 'title', value: undefined }] } },
			{ film: { texts: [{ track: '', name: 'title', value: 'Ours' }] } },
		).length,
		1,
	);
});

test('a name of a track is found where QuickTime and HandBrake write it, among those that programs give to all tracks', (t) => {
	const filmOf = (...tracks: object[]) =>
		parseProbe(
			JSON.stringify({
				format: { format_name: 'mov,mp4' },
				streams: [{ codec_type: 'video' }, ...tracks.map((tags) => ({ codec_type: 'audio', tags }))].map(
					(each, index) => ({
						index,
						...each,
					}),
				),
			}),
		);
	const named = (film: ReturnType<typeof filmOf>) => ({ film: { named: film?.named ?? whole.named } });
	const lost = (before: ReturnType<typeof filmOf>, ...after: object[]) =>
		losses(named(before), named(filmOf(...after)));
	const handlers = (...names: string[]) => names.map((handler_name) => ({ handler_name }));
	const commented = filmOf(...handlers('SoundHandler', 'Commentary'));
	t.deepEqual(lost(commented, ...handlers('Mono', 'Mono')), ['names of tracks']);
	t.deepEqual(lost(commented, ...handlers('Mono', 'Commentary')), []);
	t.deepEqual(lost(commented, { title: 'Mono' }, { title: 'Commentary' }), []);
	t.deepEqual(lost(filmOf({ HANDLER_NAME: 'Ours' }, {}), {}, {}), ['names of tracks']);
	t.deepEqual(lost(filmOf({ title: 'Ours', handler_name: 'SoundHandler' }, {}), ...handlers('Ours', '')), []);
	const programs = [
		...[
			'SoundHandler',
			'SoundHandle',
			'Core Media Audio',
			'Apple Sound Media Handler',
			'#Mainconcept MP4 Sound Media Handler',
		],
		...[
			'GPAC ISO Audio Handler',
			'L-SMASH Audio Handler',
			'Bento4 Sound Handler',
			'\x0bGoPro AAC',
			'DJI.AAC',
			'Stereo',
			'Surround',
		],
		...[
			'ISO Media file produced by Google Inc. Created on: 05/05/2015.',
			'Imported with GPAC 0.5.0',
			'IsoMedia File Produced with GPAC',
		],
	];
	t.deepEqual(lost(filmOf(...handlers(...programs)), ...programs.map(() => ({}))), []);
	// Of a program that is not known.
	t.deepEqual(lost(filmOf(...handlers('Ours', 'Ours')), {}, {}), []);
	t.deepEqual(lost(filmOf(...handlers('Ours')), {}), []);
});

test('what a camera recorded beside the pictures, transparency and a high dynamic range are found, and missed in an output', (t) => {
	const printed = (tags: object, video: object) =>
		JSON.stringify({
			format: { format_name: 'mov,mp4', tags },
			streams: [{ index: 0, codec_type: 'video', pix_fmt: 'yuv420p', ...video }],
		});
	const traits = (tags: object, video: object = {}) => parseProbe(printed(tags, video))?.traits;
	t.deepEqual(traits({ encoder: 'x', creation_time: '2031-01-01T00:00:00Z', title: 'location' }), []);
	t.deepEqual(traits({ 'location-eng': '+52.5+013.4/' }), ['the place where it was filmed']);
	t.deepEqual(traits({ 'com.apple.quicktime.location.ISO6709': '+52.5+013.4/' }), ['the place where it was filmed']);
	for (const name of ['make', 'model', 'com.apple.quicktime.make', 'com.android.model', 'com.apple.quicktime.title'])
		t.deepEqual(traits({ [name]: 'x' }), ['the camera'], name);
	t.deepEqual(traits({ 'com.android.version': '14', 'com.android.capture.fps': '60.000000' }), []);
	t.deepEqual(traits({ 'com.android.capture.fps': '240.000000' }), ['its slow motion']);
	t.deepEqual(traits({ 'com.apple.quicktime.software': '17.4' }), []);
	// In one language only, as Matroska may have it, or in another one with other words.
	t.deepEqual(traits({ 'MAKE-ger': 'x' }), ['the camera']);
	const tags = { make: 'x', 'make-eng': 'x', location: '+52.5+013.4/', 'location-deu': '+52.6+013.4/' };
	t.deepEqual([...(parseProbe(printed(tags, {}))?.phoneTags.keys() ?? [])], ['make', 'location', 'location-deu']);
	t.deepEqual(traits({ 'com.apple.quicktime.creationdate': '2024-05-06T09:08:09+0200' }), ['the time of filming']);
	const browser = parseProbe(printed({}, { tags: { alpha_mode: '1' } }));
	t.deepEqual([browser?.traits, browser?.saysAlpha], [[], true]);
	const recording: Film = { ...whole, container: 'matroska', saysAlpha: true };
	const found = new Findings();
	t.false(isTransparent(recording, found));
	t.true(isTransparent({ ...recording, container: 'mov' }, found));
	t.true(isTransparent(recording, undefined));
	found.hasAdditions = true;
	t.true(isTransparent(recording, found));
	t.false(isTransparent(whole, found));
	t.deepEqual(traits({}, { pix_fmt: 'yuva444p10le' }), ['transparency']);
	t.deepEqual(traits({}, { pix_fmt: 'yuv420p10le', color_transfer: 'smpte2084' }), ['high dynamic range']);
	t.deepEqual(traits({}, { color_transfer: 'smpte2084' }), []);
	t.deepEqual(traits({}, { side_data_list: [{ side_data_type: 'Spherical Mapping' }] }), [
		'the view of a panorama or in 3D',
	]);
	t.deepEqual(
		traits({}, { pix_fmt: 'yuv420p10le', side_data_list: [{ side_data_type: 'DOVI configuration record' }] }),
		['high dynamic range'],
	);
	t.deepEqual(traits({}, { tags: { timecode: '00:00:00:00' } }), []);
	for (const name of ['timecode', 'TIMECODE'])
		t.deepEqual(traits({}, { tags: { [name]: '10:00:00;00' } }), ['its timecode']);
	const fields = ['the half pictures of interlaced video'];
	for (const field_order of ['tt', 'bb', 'tb', 'bt'])
		t.deepEqual(traits({}, { codec_name: 'mjpeg', field_order }), fields);
	for (const field_order of ['progressive', 'unknown'])
		t.deepEqual(traits({}, { codec_name: 'mjpeg', field_order }), []);
	// Cameras of 25 frames a second write whole pictures as two fields each.
	t.deepEqual(traits({}, { codec_name: 'h264', field_order: 'tt' }), []);
	t.deepEqual(traits({}, { pix_fmt: 'bgr0' }), ['colours of a screen (RGB)']);
	const turned = ([a, b, c, d]: readonly number[]) => {
		const displaymatrix = `\n00000000: ${a} ${b} 0\n00000001: ${c} ${d} 0\n00000002: 0 0 1073741824\n`;
		return traits({}, { side_data_list: [{ side_data_type: 'Display Matrix', displaymatrix }] });
	};
	const one = 65_536;
	const quarters = [
		[one, 0, 0, one],
		[0, one, -one, 0],
		[-one, 0, 0, -one],
		[0, -one, one, 0],
	];
	for (const quarter of quarters) t.deepEqual(turned(quarter), []);
	const others = [
		[-one, 0, 0, one],
		[one, 0, 0, -one],
		[0, one, one, 0],
		[46_341, 46_341, -46_341, 46_341],
	];
	for (const other of others) t.deepEqual(turned(other), ['that it is shown mirrored or at a slant']);
	t.deepEqual(losses({ film: { traits: ['transparency'] } }, {}), ['transparency']);
});

test('ffprobe finds a film only in a container of the list that has a track of video', (t) => {
	const streams = [
		{ index: 0, codec_type: 'video', width: 640, height: 360, avg_frame_rate: '30000/1001', nb_frames: '300' },
		{ index: 1, codec_type: 'video', disposition: { attached_pic: 1 } },
		{ index: 2, codec_type: 'audio', channels: 6 },
		{ index: 3, codec_type: 'data', codec_tag_string: 'tmcd' },
		{ index: 4, codec_type: 'data', codec_tag_string: 'gpmd' },
		{ index: 5, codec_type: 'subtitle' },
	];
	const printed = (format_name: string, list: object[] = streams) =>
		JSON.stringify({
			format: { format_name, duration: '10.010000' },
			streams: list,
			chapters: [{ start_time: '4.5', tags: { title: 'One' } }, {}],
		});
	const found = parseProbe(printed('mov,mp4,m4a,3gp,3g2,mj2'));
	t.like(found, { container: 'mov', seconds: 10.01, subtitles: 1, pictures: 1, attachments: 0, data: 1 });
	t.deepEqual(found?.chapters, [
		{ begin: 4.5, title: 'One' },
		{ begin: 0, title: '' },
	]);
	t.like(found?.video[0], { index: 0, size: 640 * 360, isIndexed: true });
	t.is(Math.round((found?.video[0]?.rate ?? 0) * 100), 2997);
	for (const name of ['dash', 'hls', 'concat', 'image2', 'movie']) t.is(parseProbe(printed(name)), undefined);
	t.is(parseProbe(printed('avi', streams.slice(1))), undefined);
	for (const text of ['', '{', '{}', printed('avi').slice(0, -9)]) t.is(parseProbe(text), undefined);
});

test('a film lasts until the track ends that ends last, whether or not its duration counts the time before it', (t) => {
	const secondsOf = (format_name: string, format: object, tracks: object[]) => {
		const streams = tracks.map((each, index) => ({ index, codec_type: index === 0 ? 'video' : 'audio', ...each }));
		const { seconds, lead } = parseProbe(JSON.stringify({ format: { format_name, ...format }, streams })) ?? {};
		return [seconds, lead];
	};
	const late = [
		{ start_time: '1.4', duration: '6' },
		{ start_time: '3.4', duration: '6' },
	];
	t.deepEqual(secondsOf('mov,mp4', { start_time: '1.4', duration: '8' }, late), [8, 0]);
	t.deepEqual(secondsOf('mpegts', { start_time: '1.4', duration: '8' }, late), [8, 0]);
	t.deepEqual(
		secondsOf('ogg', { start_time: '0', duration: '8' }, [
			{ start_time: '0', duration: '6' },
			{ start_time: '2', duration: '6' },
		]),
		[8, 0],
	);
	t.deepEqual(secondsOf('asf', { start_time: '1.4', duration: '12' }, late), [6, 0]);
	t.deepEqual(secondsOf('matroska,webm', { start_time: '1.4', duration: '9.4' }, [{}, {}]), [9.4, 1.4]);
	t.deepEqual(secondsOf('mov,mp4', { start_time: 'N/A', duration: '8' }, [{ duration: 'N/A' }]), [8, 0]);
});

test('an Ogg film without sound has the rate that its headers say, and no other film one that is guessed', (t) => {
	const rateOf = (format_name: string, avg_frame_rate: string) => {
		const track = { index: 0, codec_type: 'video', avg_frame_rate, r_frame_rate: '25/1' };
		return parseProbe(JSON.stringify({ format: { format_name }, streams: [track] }))?.video[0]?.rate;
	};
	t.is(rateOf('ogg', '0/0'), 25);
	t.is(rateOf('ogg', '24/1'), 24);
	t.is(rateOf('matroska,webm', '0/0'), 0);
});

test('the duration of a film that says none is that of its packets', (t) => {
	const seconds = (film: Partial<Film>, timed: Partial<TrackPackets>[]) => {
		const tracks = timed.map((each, index) => [index, { ...video, ...each }] as const);
		return secondsByPackets(
			{ ...whole, ...film },
			{ tracks: new Map(tracks), streams: tracks.length, pictures: new PictureTimes() },
		);
	};
	const late = [
		{ begin: 5, heardUntil: 12 },
		{ begin: 2, heardUntil: 11 },
	];
	t.is(seconds({ container: 'mpeg' }, late), 10);
	t.is(seconds({ container: 'matroska' }, late), 12);
	t.is(
		seconds({ container: 'asf' }, [
			{ begin: 0, heardUntil: 8 },
			{ begin: undefined, heardUntil: undefined },
		]),
		8,
	);
	t.is(seconds({}, [{ begin: undefined, heardUntil: undefined }]), 0);
	t.is(seconds({}, []), 0);
});

test('the number of frames that ffmpeg writes before it knows it says nothing of an AVI', (t) => {
	const streams = [
		{ index: 0, codec_type: 'video', duration: '3848.08', nb_frames: '1073741824' },
		{ index: 1, codec_type: 'audio', duration: '2513.03', nb_frames: '1073741824' },
	];
	const found = parseProbe(JSON.stringify({ format: { format_name: 'avi', duration: '3848.08' }, streams }));
	t.is(found?.seconds, 0);
	t.is(found?.video[0]?.announced, 0);
	t.is(found?.audio[0]?.announced, 0);
});

test('the limit of hours is also read by the name that the option had before', (t) => {
	const hoursOf = (options: object) => plugin.options.parse(options);
	t.like(hoursOf({}), { maxHours: 48 });
	t.like(hoursOf({ mostHours: 5 }), { maxHours: 5 });
	t.like(hoursOf({ mostHours: 5, maxHours: 7 }), { maxHours: 7 });
	t.false(plugin.options.safeParse({ mostHours: 0 }).success);
});

test('a video of several layers is known by its parameters, and what can not be read counts as unknown', (t) => {
	const printed = (extradata: string, codec_name = 'hevc') => JSON.stringify({ streams: [{ codec_name, extradata }] });
	const dump = (layers: string) =>
		`\n00000000: 0101 6000 0000 9000 0000 0000 3cf0 00fc  ..\`.........<...\n00000010: fdf8 f800 000f 04a0 0001 0018 4001 0c${layers}  ............@...\n00000020: ffff 0160 0000 03                         ...\n`;
	t.false(parseLayers(printed(dump('01'))));
	t.true(parseLayers(printed(dump('11'))));
	t.false(parseLayers(printed(dump('11'), 'h264')));
	t.false(parseLayers(printed('')));
	t.is(parseLayers(printed(dump('01')).slice(0, -9)), undefined);
	// Names of sets by the ten thousand before that of the video.
	const lines = Array.from({ length: 3000 }, () => `00000000: ${'4001 '.repeat(8)} ................`).join('\n');
	t.true(parseLayers(printed(`\n${lines}${dump('11')}`)));
});

test('a film with more tags than any is none, however short they are', (t) => {
	const tagged = (count: number) => {
		const tags = Object.fromEntries(Array.from({ length: count }, (_, n) => [`t${n}`, '']));
		const streams = [{ index: 0, codec_type: 'video', width: 64, height: 64, tags }];
		return parseProbe(JSON.stringify({ format: { format_name: 'matroska,webm', tags: {} }, streams }, null, 4));
	};
	t.is(tagged(35_000)?.video.length, 1);
	t.is(tagged(40_000), undefined);
});

test('a track whose language is a list of millions, or the longest of all, is read in a moment, and that is no other language', async (t) => {
	const languageOf = (language: string) => {
		const streams = [{ codec_type: 'video' }, { codec_type: 'audio', tags: { language } }];
		const numbered = streams.map((each, index) => ({ index, ...each }));
		return parseProbe(JSON.stringify({ format: { format_name: 'matroska,webm' }, streams: numbered }))?.named.audio[0]
			?.language;
	};
	const long = [','.repeat(2_000_000), 'ab,'.repeat(700_000), `en${'-us'.repeat(700_000)}`, 'e'.repeat(2_000_000)];
	const ms = await usualMs(() => {
		for (const language of long) t.true(languageOf(language) === language);
	});
	// At 15 µs for each that is refused it would take 30 s.
	t.true(ms < 5000, `${ms} ms`);
	t.is(languageOf('eng, ger'), 'en,de');
	t.is(languageOf('und,eng'), 'en');
	t.is(languageOf('ZH-hant-tw'), 'zh-Hant-TW');
	t.is(languageOf('English'), 'english');
});

test('what ffprobe says of the parameters and tags of a film is read up to a bound', async (t) => {
	const { signal } = new AbortController();
	const bounds: unknown[] = [];
	const run = async (_: unknown, { maxPrinted }: { maxPrinted?: number }) => {
		bounds.push(maxPrinted);
		// As of a program that was killed.
		return { code: 137, output: '', log: [] };
	};
	t.is(await hasLayers({ run } as never, 3, signal), undefined);
	t.is(await probe({ run } as never, 3, signal), undefined);
	t.deepEqual(bounds, [256 * 1024, 4 * 1024 * 1024]);
});

const box = (name: string, ...content: (Uint8Array | string)[]) => {
	const bytes = Buffer.concat(content.map((each) => Buffer.from(each as string, 'latin1')));
	const head = Buffer.alloc(8);
	head.writeUInt32BE(8 + bytes.length);
	head.write(name, 4, 'latin1');
	return Buffer.concat([head, bytes]);
};

const number = (value: number) => {
	const bytes = Buffer.alloc(4);
	bytes.writeUInt32BE(value);
	return bytes;
};

const boxesOf = (...boxes: Buffer[]) => {
	const bytes = Buffer.concat(boxes);
	return movBoxes(async (at, length) => bytes.subarray(at, at + length), new AbortController().signal);
};

const textsOf = async (...boxes: Buffer[]) => {
	const found = await boxesOf(...boxes);
	return found && [...found.texts].sort();
};

/** A property of Windows without values. */
const entry = (name: string) =>
	Buffer.concat([number(8 + name.length), number(name.length), Buffer.from(name)]).toString('latin1');

const xmpUuid = Buffer.from('be7acfcb97a942e89c71999491e3afac', 'hex');

test('texts of MP4 and MOV are found that stand in boxes of other programs', async (t) => {
	const film = box('mdat', 'x'.repeat(100));
	const xmp = '<x:x xmp:Rating="5"><dc:subject><rdf:Bag><rdf:li>holiday</rdf:li></rdf:Bag></dc:subject></x:x>';
	t.deepEqual(await textsOf(film, box('uuid', xmpUuid, xmp)), ['keywords', 'rating']);
	t.deepEqual(await textsOf(film, box('moov', box('udta', box('XMP_', xmp)))), ['keywords', 'rating']);
	const windows = box('Xtra', entry('WM/Category'), entry('WM/EncodingTime'), entry('WM/SharedUserRating'));
	t.deepEqual(await textsOf(box('moov', box('udta', windows)), film), ['keywords', 'rating']);
	t.deepEqual(await textsOf(box('moov', box('trak', box('udta', box('dscp', 'ours'), number(0))))), ['description']);
	// Written by programs for cutting, of themselves.
	const own = '<x xmp:Rating="0" xmp:CreatorTool="Cut"><dc:format>H264</dc:format><dc:title><rdf:li/></dc:title></x>';
	t.deepEqual(await textsOf(film, box('uuid', xmpUuid, own), box('uuid', 'other')), []);
	t.deepEqual(await textsOf(box('moov', box('udta', number(0))), film, Buffer.from('abc')), []);
	t.deepEqual(await textsOf(box('uuid', xmpUuid, `<dc:title>${'<'.repeat(900_000)}`)), []);
	// Only where they belong.
	t.deepEqual(await textsOf(box('moov', box('moov', box('udta', box('dscp', 'ours'))))), []);
	t.deepEqual(await textsOf(box('moov', box('udta', box('Xtra', entry('constructor'))))), ['constructor']);
	const properties = box('Xtra', entry('Hashtags'), entry('Island'), entry('IsVBR'), entry('WM/WMContentID'));
	t.deepEqual(await textsOf(box('moov', box('udta', properties))), ['hashtags', 'island']);
});

test('boxes of MP4 and MOV that no program knows are named, wherever cameras put their data', async (t) => {
	const unreadIn = async (...boxes: Buffer[]) => [...((await boxesOf(...boxes))?.unread ?? ['unknown'])];
	const film = box('mdat', 'x'.repeat(100));
	const track = box(
		'trak',
		box('tkhd', 'x'),
		box('edts', 'x'),
		box('mdia', box('minf', box('stbl', box('stts', 'x')))),
	);
	const index = box('moov', box('mvhd', 'x'), track, box('udta', box('smta', 'x'), box('free', 'x'), number(0)));
	const whole = [box('ftyp', 'isom'), box('wide'), film, box('uuid', 'x'.repeat(16)), index, box('mfra', 'x')];
	t.deepEqual(await unreadIn(...whole), []);
	const position = `\0\0\0\0GPS ${'N59E30 '.repeat(70)}`;
	t.deepEqual(await unreadIn(...whole, box('free', `GPS ${position}`)), ['free']);
	t.deepEqual(await unreadIn(box('skip', position), ...whole), ['skip']);
	t.deepEqual(await unreadIn(film, box('moov', track, box('gps ', position))), ['gps ']);
	t.deepEqual(await unreadIn(film, box('moov', box('trak', box('GPMF', position)))), ['GPMF']);
	t.deepEqual(await unreadIn(film, index, box('sefd', position)), ['sefd']);
	t.deepEqual(await unreadIn(...whole, Buffer.from(`\x01\x02\x03\x04\x05${position}`, 'latin1')), ['behind its boxes']);
	// Edits by their version: how long, from when (-1 is without media) and how fast.
	const edits = (version: number, count: number, ...numbers: number[]) =>
		unreadIn(box('moov', box('trak', box('edts', box('elst', ...[version << 24, count, ...numbers].map(number))))));
	const speed = ['a speed of its own'];
	t.deepEqual(await edits(0, 2, 5, 0xff_ff_ff_ff, 0, 5, 0, 0x10000), []);
	t.deepEqual(await edits(1, 1, 0, 5, 0, 0, 0x10000), []);
	t.deepEqual(await edits(0, 2, 5, 0, 0x10000, 5, 0, 0x8000), speed);
	t.deepEqual(await edits(0, 1, 5, 0, 0), speed);
	t.deepEqual(await edits(1, 1, 0, 5, 0, 0, 0x20000), speed);
	t.deepEqual(await edits(0, 20_000, ...Array.from({ length: 20_000 }, () => [5, 0, 0x10000]).flat()), speed);
	// Nothing is lost with these: room for tags, the name of a program, an index that was moved, zeros at the end.
	const spare = [box('free', '\0'.repeat(5000)), box('free', 'IsoMedia File Produced with GPAC'), box('gps ')];
	const moved = box('free', box('mvhd', 'x'.repeat(100)), box('trak', 'x'.repeat(100)));
	t.deepEqual(await unreadIn(...whole, ...spare, moved, Buffer.alloc(100)), []);
	const parts = (...unread: string[]) =>
		unreadParts({
			texts: new Set(),
			isEncrypted: false,
			hasAdditions: false,
			attached: { count: 0, bytes: 0 },
			unread: new Set(unread),
			emptyFrames: new Map(),
			spareTracks: 0,
		});
	t.deepEqual(parts('gps ', 'free'), ['data that no program here reads (gps , free)']);
	t.deepEqual(parts(), []);
	t.deepEqual(unreadParts(undefined), ['parts of it that could not be read']);
});

test('tracks that ffprobe lists without a kind are missed in the output, and what describes those of Ogg is not', (t) => {
	const filmOf = (format_name: string, ...streams: object[]) =>
		parseProbe(
			JSON.stringify({
				format: { format_name },
				streams: [{ codec_type: 'video' }, ...streams].map((each, index) => ({ index, ...each })),
			}),
		);
	const kate = filmOf('ogg', { codec_type: 'audio' }, {});
	t.deepEqual(kate?.unread, ['1 track of an unknown kind']);
	t.deepEqual(losses({ film: { unread: kate?.unread ?? [] } }, {}), ['1 track of an unknown kind']);
	t.deepEqual(filmOf('matroska', {}, { codec_type: 'other' })?.unread, ['2 tracks of an unknown kind']);
	const skeleton = filmOf('ogg', { codec_type: 'data', codec_name: 'unknown' });
	t.deepEqual([skeleton?.data, skeleton?.unread], [0, []]);
	t.is(filmOf('matroska', { codec_type: 'data' })?.data, 1);
	// What is on television, and where on its disc a film is: nothing of the film.
	t.is(filmOf('mpegts', { codec_type: 'data', codec_name: 'epg' })?.data, 0);
	t.is(filmOf('mpeg', { codec_type: 'data', codec_name: 'dvd_nav_packet' })?.data, 0);
	t.is(filmOf('mpegts', { codec_type: 'data', codec_name: 'scte_35' })?.data, 1);
});

test('subtitles of SVCD and CVD are found in a program stream, wherever they are, and nothing else is taken for them', async (t) => {
	const { signal } = new AbortController();
	const find = async (...parts: Uint8Array[]) => {
		const bytes = Buffer.concat(parts);
		const found = await programPackets(async (at, length) => bytes.subarray(at, at + length), signal);
		return found && [...found.unread].includes('subtitles of an unknown kind');
	};
	const packet = (stream: number, ...content: number[]) =>
		Buffer.from([0, 0, 1, stream, 0, content.length, ...content]);
	const pack = Buffer.from([0, 0, 1, 0xba, 0x44, 0, 4, 0, 4, 1, 1, 0x89, 0xc3, 0xf8]);
	const times = [0x80, 0x80, 5, 0x21, 0, 1, 0, 1];
	const picture = Buffer.concat([Buffer.from([0, 0, 1, 0xe0, 0xff, 0xff]), Buffer.alloc(0xffff, 7)]);
	const film = [pack, packet(0xbb, 1, 2, 3), ...Array.from({ length: 40 }, () => [pack, picture]).flat()];
	t.false(await find());
	t.false(await find(...film));
	// Of DVDs: a list that ffprobe has, sound, and the index of a menu.
	const listed = [packet(0xbd, ...times, 0x20), packet(0xbd, ...times, 0x80), packet(0xbf, ...times, 0x70)];
	t.false(await find(...film, ...listed, ...film));
	for (const kind of [0x70, 0x73, 0, 3]) {
		t.true(await find(...film, ...listed, pack, packet(0xbd, ...times, kind, 1, 2), ...film), `${kind}`);
		// Of MPEG-1: stuffing, the size of a buffer, and times.
		t.true(await find(...film, packet(0xbd, 0xff, 0xff, 0x60, 0x20, 0x21, 0, 1, 0, 1, kind)), `${kind}`);
	}
	// At each place of the window's end.
	for (let before = 2 ** 20 - 20; before <= 2 ** 20; before++) {
		t.true(await find(Buffer.alloc(before, 7), packet(0xbd, ...times, 0x70), ...film), `${before}`);
	}
	// Within the picture it is none.
	const within = Buffer.concat([picture.subarray(0, 100), packet(0xbd, ...times, 0x70), picture.subarray(100 + 15)]);
	t.false(await find(...film, within, ...film));
	t.false(await find(...film, Buffer.from([0, 0, 1])));
});

test('the packets of a program stream are gone through up to a bound by its size, while others are served', async (t) => {
	let windows = 0;
	const read = (unit: Buffer, megabytes: number, signal = new AbortController().signal) => {
		const size = megabytes * 2 ** 20;
		const more = Buffer.alloc(2 ** 20 + unit.length, unit);
		windows = 0;
		return programPackets(async (at, length) => {
			windows++;
			return more.subarray(at % unit.length).subarray(0, Math.min(length, Math.max(0, size - at), 2 ** 20));
		}, signal);
	};
	const packet = Buffer.concat([Buffer.from([0, 0, 1, 0xe0, 0, 250]), Buffer.alloc(250, 7)]);
	t.deepEqual([...((await read(packet, 40))?.unread ?? ['unknown'])], []);
	t.true(windows > 40);
	const [code, empty] = [Buffer.from([0, 0, 1, 0]), Buffer.from([0, 0, 1, 0xe0, 0, 0])];
	for (const unit of [code, empty]) {
		t.is(await read(unit, 10_000), undefined);
		t.is(windows, 1);
	}
	const cancelled = new AbortController();
	setTimeout(() => cancelled.abort(new Error('cancelled')), 1);
	await t.throwsAsync(read(code, 10_000, cancelled.signal), { message: 'cancelled' });
});

test('the last box of a film may be as long as no file is, or say no length', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-boxes-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const file = path.join(folder, 'film.mp4');
	const texts = box('moov', box('udta', box('dscp', 'ours')));
	const most = Buffer.alloc(8, 0xff);
	for (const last of [
		Buffer.concat([number(1), Buffer.from('mdat'), most]),
		Buffer.concat([number(1), Buffer.from('mdat\x7f'), most.subarray(1)]),
		Buffer.concat([number(0), Buffer.from('mdat')]),
	]) {
		await writeFile(file, Buffer.concat([texts, last, Buffer.from('pictures')]));
		const film = await open(file);
		const found = await movBoxesIn(film.fd, new AbortController().signal).finally(() => film.close());
		t.deepEqual([...(found?.texts ?? [])], ['description'], last.toString('hex'));
	}
});

test('texts of MP4 and MOV are found that stand in a box of metadata, wherever that is', async (t) => {
	const handler = box('hdlr', 'x'.repeat(24));
	const xmp = '<x:xmpmeta><dc:subject>holiday</dc:subject></x:xmpmeta>';
	const places: readonly ((meta: Buffer) => Buffer)[] = [
		(meta) => meta,
		(meta) => box('moov', meta),
		(meta) => box('moov', box('udta', meta)),
		(meta) => box('moov', box('trak', meta)),
		(meta) => box('moov', box('trak', box('udta', meta))),
	];
	const contents = [
		{ content: box('xml ', number(0), xmp), texts: ['keywords'] },
		{ content: box('uuid', xmpUuid, xmp), texts: ['keywords'] },
		{ content: box('XMP_', xmp), texts: ['keywords'] },
		{ content: box('xml ', number(0), '<NonRealTimeMeta><Device/></NonRealTimeMeta>'), texts: ['XML'] },
		{ content: box('ID32', number(0), 'eng'), texts: ['tags of ID3'] },
		{ content: box('iinf', number(0)), texts: ['items'] },
		// Read by ffprobe.
		{ content: box('ilst', box('\u00a9nam', 'ours')), texts: [] },
	];
	for (const place of places) {
		for (const { content, texts } of contents) {
			t.deepEqual(await textsOf(place(box('meta', number(0), handler, content))), texts);
			// Of QuickTime, without a version.
			t.deepEqual(await textsOf(place(box('meta', handler, content))), texts);
		}
	}
	t.deepEqual(await textsOf(box('moov', box('mdia', box('meta', handler, box('XMP_', xmp))))), []);
});

test('a last box of an MP4 that says no length goes on to the end of the file', async (t) => {
	const withoutLength = (bytes: Buffer) => Buffer.concat([number(0), bytes.subarray(4)]);
	const film = box('mdat', 'x'.repeat(100));
	t.deepEqual(await textsOf(film, withoutLength(box('uuid', xmpUuid, '<dc:title>ours</dc:title>'))), ['title']);
	t.deepEqual(await textsOf(film, withoutLength(box('moov', box('udta', box('dscp', 'ours'))))), ['description']);
	t.deepEqual(await textsOf(withoutLength(film)), []);
	t.is(await textsOf(withoutLength(box('uuid', xmpUuid, ' '.repeat(1_100_000)))), undefined);
});

test('a track of an MP4 whose samples are encrypted is found, and that of a Matroska file', async (t) => {
	const film = (kind: string) =>
		box(
			'moov',
			...['avc1', kind].map((each) =>
				box(
					'trak',
					box('mdia', box('minf', box('stbl', box('stsd', number(0), number(1), box(each, 'x'.repeat(28)))))),
				),
			),
		);
	for (const kind of ['encv', 'enca', 'drms']) t.true((await boxesOf(film(kind)))?.isEncrypted);
	for (const kind of ['mp4a', 'tx3g']) t.false((await boxesOf(film(kind)))?.isEncrypted);
	const matroska = (tags: object) =>
		parseProbe(
			JSON.stringify({
				format: { format_name: 'matroska,webm' },
				streams: [{ codec_type: 'video' }, { codec_type: 'audio', tags }].map((each, index) => ({ index, ...each })),
			}),
		)?.traits;
	t.deepEqual(matroska({ enc_key_id: 'MTIzNA==' }), ['encrypted tracks']);
	t.deepEqual(matroska({ language: 'eng' }), []);
});

test('texts of MP4 and MOV of more bytes, boxes or properties than any film has count as unread', async (t) => {
	const xmp = (bytes: number) => box('uuid', xmpUuid, ' '.repeat(bytes));
	t.deepEqual(await textsOf(xmp(500_000), xmp(500_000)), []);
	t.is(await textsOf(xmp(500_000), xmp(600_000)), undefined);
	const properties = (count: number) => box('moov', box('udta', box('Xtra', entry('WM/Genre').repeat(count))));
	t.deepEqual(await textsOf(properties(1000)), ['genre']);
	t.is(await textsOf(properties(1001)), undefined);
	t.is(await textsOf(Buffer.alloc(9_000_000, box('free'))), undefined);
});
