import test from 'ava';
import { outputDenial } from '../src/encode.js';
import { conversionArguments, videoEncoder } from '../src/formats.js';
import { parseEncoders } from '../src/HandBrake.js';
import { lineReader, parseProgress } from '../src/progress.js';
import { parseScan, type Video } from '../src/scan.js';

const film: Video = {
	seconds: 100,
	width: 640,
	height: 360,
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
		audioTracks: [1],
		subtitles: [{ track: 4, isText: false }],
	});
	for (const text of ['', printed([]), printed([{}]), printed([title]).slice(0, -20), 'JSON Title Set: {']) {
		t.is(parseScan(text), undefined);
	}
});

test('an output is refused if it is shorter or longer than its original, or has no picture or lost all sound', (t) => {
	t.is(outputDenial(film, sd({ seconds: 99.1 })), undefined);
	t.is(outputDenial(sd({ seconds: 2 }), sd({ seconds: 2.9 })), undefined);
	t.is(outputDenial(sd({ seconds: 7200 }), sd({ seconds: 7140 })), undefined);
	t.regex(outputDenial(sd({ seconds: 20 }), sd({ seconds: 0.8 }))?.message ?? '', /^Only 0\.8 s of 20 s/);
	t.regex(
		outputDenial(sd({ seconds: 20 }), sd({ seconds: 40 }))?.message ?? '',
		/^The converted file lasts 40 s instead of 20 s/,
	);
	t.regex(outputDenial(film, undefined)?.message ?? '', /no video/);
	t.regex(outputDenial(film, sd({ audioTracks: [] }))?.message ?? '', /sound/);
	t.is(outputDenial(sd({ audioTracks: [] }), sd({ audioTracks: [] })), undefined);
});
