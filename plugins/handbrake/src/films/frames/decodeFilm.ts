import os from 'node:os';
import type { SandboxedProgram } from '../../SandboxedProgram.js';
import { ShownPackets } from '../packets/hiddenParts.js';
import { matrixOf } from '../probing/look.js';
import { source } from '../probing/probe.js';
import { hasWideRange } from '../probing/traits.js';
import { KnownNames, keptName } from '../texts/names.js';
import { unitReader } from './units.js';

/** What only its frames show of a film: tracks change on the way, and headers don't say all. */
export interface DecodedFilm {
	/** How many errors the decoders had. */
	errors: number;
	/** The tracks by the index of their streams. */
	tracks: ReadonlyMap<number, DecodedTrack>;
	/** Whether its pictures carry captions, which are no track. */
	hasCaptions: boolean;
	/** Whether they are views for two eyes, or of a panorama. */
	isStereo: boolean;
	/** Whether they carry what Dolby Vision or HDR10+ needs, which not each container says. */
	hasDolbyVision: boolean;
	/** Whether they have a high dynamic range, which HLG may say beside the pictures only, and a film later than at its beginning. */
	hasWideRange: boolean;
	/** Whether they carry the timecode of a camera. */
	hasTimecode: boolean;
	/** How many messages they carry that say by an id only whose they are. */
	messages: number;
	/** Whether they have further layers; undefined if that is not known. */
	hasLayers: boolean | undefined;
	/** What else they carry that no program here knows, by the names of ffprobe. */
	unread: ReadonlySet<string>;
	/** How they say themselves that they are turned or mirrored, as `matrixOf` has it. */
	matrices: ReadonlySet<string>;
}

export interface DecodedTrack {
	frames: number;
	/** Pictures of two moments, each of which has every second line. */
	interlaced: number;
	/** Whether its pictures have several sizes, or several shapes of pixels. */
	changesShape: boolean;
	/** The most that a frame of sound has; 0 for pictures. */
	channels: number;
	/** Where its channels are heard, by the names of ffprobe; a recording may have several of these. */
	layouts: ReadonlySet<string>;
}

const maxThreads = 8;

/** What lies beside frames and is counted here, of encoders, broadcasters and players, or said by the tracks as well. */
const known = new KnownNames(
	[
		...['stereo 3d', 'spherical mapping', 'smpte 12-1 timecode', 'gop timecode', '3x3 displaymatrix', 'avpanscan'],
		...['avmatrixencoding', 'avreplaygain', 'metadata relevant to a downmix procedure', 'motion vectors'],
		...['skip samples', 'audio service type', 'mastering display metadata', 'content light level metadata'],
		...['regions of interest', 'video encoding parameters', 'film grain parameters', 'active format description'],
	],
	[/closed captions$/, /^dolby vision /, /^hdr dynamic /, /^h\.26\[45\] user data unregistered /],
);

/** More are not named. */
const maxNames = 10;

/** One that is not known says enough. */
const maxLayouts = 40;

/** One that its file doesn't have says enough. */
const maxMatrices = 16;

/**
 * A log line such as `[h264 @ 0x55d0c8] [error] error while decoding MB 5 3`. What a film says of itself is printed
 * too, such as `[info]     title           : Any text`.
 */
const logLine = /^(?:\[[^\]]+ @ 0x[0-9a-f]+\] )*\[([a-z]+)\] (.*)/;

/** Packets that are not whole count, too: decoders make a frame of what there is of them, or the reader leaves them out. */
export function isError(line: string): boolean {
	const [, level = '', text = ''] = logLine.exec(line) ?? [];
	if (['error', 'fatal', 'panic'].includes(level)) return true;
	const isOwn = ['warning', 'info'].includes(level) && !text.startsWith(' ');
	return isOwn && /packet corrupt|incomplete packet/i.test(text);
}

const entries = [
	'frame=stream_index,pts_time,pkt_pos,width,height,sample_aspect_ratio,interlaced_frame,channels,channel_layout',
	'frame=pix_fmt,color_transfer',
	'frame_side_data=side_data_type,displaymatrix',
];

/**
 * Decodes an open film from its beginning to its end, and counts what is wrong. HandBrake counts only packets of which its decoders make
 * nothing: where they conceal what is destroyed by what was there before, it takes that for a frame. `onTime` is called with how many
 * seconds are decoded. Where the film `mayRepeat` its frames, by an edit list, their messages count once. Undefined if ffprobe fails, or
 * prints more than of honest films.
 */
export async function decodeFilm(
	decoder: SandboxedProgram,
	descriptor: number,
	signal: AbortSignal,
	onTime: (seconds: number) => void = () => {},
	mayRepeat = false,
): Promise<DecodedFilm | undefined> {
	const threads = String(Math.min(maxThreads, os.availableParallelism()));
	const args = [
		// Also what a decoder leaves unread of a packet.
		...['-threads', threads, '-err_detect', 'crccheck+bitstream+buffer', ...source, '-v', 'level+debug'],
		// And the comments of pictures.
		...['-debug', 'pict'],
		...['-show_entries', entries.join(':'), '-of', 'compact=p=0'],
	];
	let errors = 0;
	const units = unitReader();
	const onLogLine = (line: string) => {
		if (isError(line)) errors++;
		units.take(line);
	};
	const frames = frameReader(onTime, mayRepeat);
	const run = { files: [descriptor], printsContent: true, signal, onLine: frames.take, onLogLine };
	const { code } = await decoder.run(args, run);
	if (code !== 0) return undefined;
	const { unread, ...read } = frames.read();
	const { hasLayers, unread: unreadUnits } = units.read();
	return { errors, ...read, hasLayers, unread: new Set([...unread, ...unreadUnits]) };
}

interface CountedTrack extends DecodedTrack {
	/** The shape of its first picture. */
	shape: string;
	layouts: Set<string>;
}

/** Reads lines of frames; reports each whole second of their times once. */
export function frameReader(
	onTime: (seconds: number) => void,
	mayRepeat = false,
): {
	take(line: string): void;
	read(): Omit<DecodedFilm, 'errors' | 'hasLayers'>;
} {
	const reportTime = eachSecond(onTime);
	const tracks = new Map<number, CountedTrack>();
	let hasCaptions = false;
	let isStereo = false;
	let hasDolbyVision = false;
	let isWide = false;
	let hasTimecode = false;
	let messages = 0;
	const withMessages = new ShownPackets();
	const unread = new Set<string>();
	const takeSideData = (sideData: string) => {
		if (/closed captions/i.test(sideData)) hasCaptions = true;
		if (/stereo 3d|spherical/i.test(sideData)) isStereo = true;
		if (/dolby vision|hdr dynamic/i.test(sideData)) hasDolbyVision = true;
		if (/smpte 12-1 timecode/i.test(sideData)) hasTimecode = true;
		if (!known.has(sideData.toLowerCase()) && unread.size < maxNames) unread.add(keptName(sideData));
	};
	const takeMessages = (position: number, count: number) => {
		if (count === 0) return;
		const isKnown = mayRepeat && Number.isSafeInteger(position);
		if (isKnown && withMessages.has(position)) return;
		messages += count;
		if (isKnown) withMessages.add(position);
	};
	const matrices = new Set<string>();
	return {
		take(line) {
			const { displaymatrix, ...values } = valuesOf(line);
			const sideData = Array.from(line.matchAll(/(?:^|\|)side_data_type=([^|]*)/g), ([, each = '']) => each);
			for (const each of sideData) takeSideData(each);
			takeMessages(Number(values.pkt_pos), sideData.filter((each) => /user data unregistered/i.test(each)).length);
			const matrix = displaymatrix && matrixOf(displaymatrix);
			if (matrix && matrices.size < maxMatrices) matrices.add(matrix);
			if (values.stream_index === undefined) return;
			if (hasWideRange(values.color_transfer ?? '', values.pix_fmt ?? '')) isWide = true;
			takeFrame(tracks, Number(values.stream_index), values);
			reportTime(Number(values.pts_time));
		},
		read: () => ({
			tracks,
			hasCaptions,
			isStereo,
			hasDolbyVision,
			hasWideRange: isWide,
			hasTimecode,
			messages,
			unread,
			matrices,
		}),
	};
}

/** The values of a line such as `stream_index=0|pts_time=1.200000|width=640|height=360`. */
const valuesOf = (line: string): Readonly<Record<string, string>> =>
	Object.fromEntries(line.split('|').map((each) => each.split('=', 2)));

function takeFrame(tracks: Map<number, CountedTrack>, index: number, values: Readonly<Record<string, string>>): void {
	const { width, height, sample_aspect_ratio = '', interlaced_frame, channels, channel_layout } = values;
	// Unknown is square.
	const pixels = /^(?:N\/A|0:1|)$/.test(sample_aspect_ratio) ? '1:1' : sample_aspect_ratio;
	const shape = `${width}x${height} ${pixels}`;
	const track = tracks.get(index) ?? {
		frames: 0,
		interlaced: 0,
		changesShape: false,
		channels: 0,
		layouts: new Set<string>(),
		shape,
	};
	tracks.set(index, track);
	track.frames++;
	if (interlaced_frame === '1') track.interlaced++;
	if (width !== undefined && shape !== track.shape) track.changesShape = true;
	track.channels = Math.max(track.channels, Number(channels) || 0);
	const { layouts } = track;
	if (channel_layout !== undefined && layouts.size < maxLayouts && !layouts.has(channel_layout))
		layouts.add(keptName(channel_layout));
}

function eachSecond(onTime: (seconds: number) => void): (time: number) => void {
	let begin: number | undefined;
	let reported = 0;
	return (time) => {
		if (!Number.isFinite(time)) return;
		begin ??= time;
		const seconds = Math.floor(time - begin);
		if (seconds <= reported) return;
		reported = seconds;
		onTime(seconds);
	};
}
