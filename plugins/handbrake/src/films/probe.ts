import { z } from '@stowage/plugin-api';
import type { VideoContainer } from '@stowage/rules';
import type { SandboxedProgram } from '../SandboxedProgram.js';
import { languageOf } from './languages.js';
import { type Look, lookOf } from './look.js';
import { parseJson } from './parseJson.js';
import { camerasIn, filmedAt, filmedRate, type PhoneTags, phoneTagsOf, placesIn } from './phoneTags.js';
import { type Text, textsOfFilm, textsOfTrack } from './texts.js';

/** A film, as ffprobe reports it. */
export interface Film {
	container: VideoContainer;
	/** Its duration; 0 where it is unknown. */
	seconds: number;
	/** The duration that the file says as a whole, whatever its tracks have; 0 where it says none. */
	said: number;
	/** Seconds before its first packet, which the duration of a Matroska file includes; 0 in all others. */
	lead: number;
	/** When it says that it was made, in milliseconds since 1970; undefined where it says nothing. */
	madeAt: number | undefined;
	phoneTags: PhoneTags;
	/** The number of streams of all kinds, as far as they are known without reading the film. */
	streams: number;
	/** Frames without a rate, such as a cover, are no track of video. */
	video: VideoTrack[];
	audio: AudioTrack[];
	/** The number of streams of each of these. */
	subtitles: number;
	pictures: number;
	attachments: number;
	/** Positions, sensors and the like; not the times and chapters that containers keep as tracks. */
	data: number;
	/** What no program here reads, in words for people: it is in no output. */
	unread: readonly string[];
	chapters: readonly Chapter[];
	/** What else it has that an encoder may leave out. */
	traits: readonly Trait[];
	/** Whether a track says that its pictures may be transparent, as browsers say in Matroska of all that they record. */
	saysAlpha: boolean;
	subtitleTracks: readonly SubtitleTrack[];
	/** How many of the subtitles are of a kind that has fonts, colours and places of its own. */
	styledSubtitles: number;
	/** What tells the tracks of these kinds apart, in their order. */
	named: { audio: readonly NamedTrack[]; subtitles: readonly NamedTrack[] };
	/** How the file says that its pictures are turned or mirrored, as `matrixOf` has it. */
	matrices: ReadonlySet<string>;
	/** What the file says of the film and its tracks for people. */
	texts: readonly Text[];
}

/** How long it lasts from its first packet on. */
export const contentSeconds = ({ seconds, lead }: Pick<Film, 'seconds' | 'lead'>) => seconds - lead;

export interface Chapter {
	/** In seconds. */
	begin: number;
	/** Its name for people; empty where it has none. */
	title: string;
}

export interface NamedTrack {
	/** Its name for people; empty where it has none. */
	title: string;
	/** Where QuickTime and HandBrake have its name, and other programs their own. */
	handler: string;
	/** As `languageOf` has it. */
	language: string;
	/** What kind of track it is, in words for people. */
	marks: readonly string[];
}

/** A trait of a film that a conversion may lose, in words for people. */
export type Trait =
	| 'the place where it was filmed'
	| 'the camera'
	| 'the time of filming'
	| 'its slow motion'
	| 'its timecode'
	| 'transparency'
	| 'high dynamic range'
	| 'the view of a panorama or in 3D'
	| 'that it is shown mirrored or at a slant'
	| 'the half pictures of interlaced video'
	| 'colours of a screen (RGB)'
	| 'encrypted tracks';

export interface VideoTrack {
	/** The index of its stream in the file. */
	index: number;
	/** Pixels of a frame. */
	size: number;
	/** How its pictures are shown. */
	look: Look;
	/** Frames a second on average; 0 where that is not known without reading the film. */
	rate: number;
	/** Whether the file has an index of all its frames. */
	isIndexed: boolean;
	/** The number of frames by the container's header; 0 where it says none. */
	announced: number;
	/** How many of them have no content, which only its chunks say: the one before is shown for longer. */
	empty: number;
}

export interface AudioTrack {
	/** The index of its stream in the file. */
	index: number;
	channels: number;
	/** Its duration in seconds by the container's header; 0 where it says none. */
	announced: number;
}

export interface SubtitleTrack {
	/** The index of its stream in the file. */
	index: number;
	/**
	 * Text is of SubRip, or of another format without markup; a track of MP4 has packets without any text between the others,
	 * and one of PGS or DVB those that clear the screen.
	 */
	kind: 'text' | 'ASS' | 'WebVTT' | 'text of MP4' | 'pictures' | 'pictures of PGS or DVB';
}

const stream = z.object({
	index: z.number(),
	codec_type: z.string().optional(),
	codec_name: z.string().default(''),
	codec_tag_string: z.string().optional(),
	width: z.number().default(0),
	height: z.number().default(0),
	sample_aspect_ratio: z.string().default(''),
	channels: z.number().default(0),
	avg_frame_rate: z.string().default(''),
	r_frame_rate: z.string().default(''),
	nb_frames: z.string().optional(),
	start_time: z.string().optional(),
	duration: z.string().optional(),
	disposition: z.record(z.string(), z.number()).default({}),
	pix_fmt: z.string().default(''),
	field_order: z.string().default(''),
	color_transfer: z.string().default(''),
	color_space: z.string().default(''),
	color_primaries: z.string().default(''),
	tags: z.record(z.string(), z.string()).default({}),
	side_data_list: z
		.array(z.object({ side_data_type: z.string().default(''), displaymatrix: z.string().default('') }))
		.default([]),
});

const probed = z.object({
	format: z.object({
		format_name: z.string(),
		start_time: z.string().optional(),
		duration: z.string().optional(),
		tags: z.record(z.string(), z.string()).default({}),
	}),
	streams: z.array(stream).default([]),
	chapters: z
		.array(z.object({ start_time: z.string().optional(), tags: z.record(z.string(), z.string()).default({}) }))
		.default([]),
});

/** Formats that contain their pictures, and open no other file. */
const containers: readonly VideoContainer[] = [
	...(['mov', 'matroska', 'avi', 'mpegts', 'mpeg', 'mpegvideo', 'ogg', 'flv', 'asf', 'rm'] as const),
];

/**
 * The options with which ffprobe opens descriptor 3: whatever its content is, it is one of these formats, and no other
 * file is opened.
 */
export const source = [
	...['-v', 'error', '-protocol_whitelist', 'file', '-format_whitelist', containers.join()],
	...['-i', '/proc/self/fd/3'],
];

const entries = [
	'format=format_name,start_time,duration',
	'format_tags',
	'stream=index,codec_type,codec_name,codec_tag_string,width,height,channels,avg_frame_rate,nb_frames,start_time,duration,pix_fmt',
	'stream=r_frame_rate,field_order,color_transfer,color_space,color_primaries,sample_aspect_ratio',
	'stream_tags',
	'stream_side_data=side_data_type,displaymatrix',
	'stream_disposition',
	'chapter=start_time',
	'chapter_tags=title',
];

/** A film takes a tenth of a second; over tags by the hundred thousand ffprobe goes again and again, for minutes. */
const cpuSeconds = 20;

/** Films have some hundred, and 45 for each track or font. A second's third is what as many tags take, of which each has one. */
const maxLines = 40_000;
/** Lyrics and descriptions may be long. */
const maxPrinted = 4 * 1024 * 1024;

/** Reads what an open file contains; undefined if that is no film in one of the containers. */
export async function probe(
	ffprobe: SandboxedProgram,
	descriptor: number,
	signal: AbortSignal,
): Promise<Film | undefined> {
	const args = [...source, '-show_entries', entries.join(':'), '-of', 'json'];
	const run = { files: [descriptor], cpuSeconds, maxPrinted, signal };
	const { code, output } = await ffprobe.run(args, run);
	return code === 0 ? parseProbe(output) : undefined;
}

/** The JSON that ffprobe printed, a value in each line. */
export function parseProbe(output: string): Film | undefined {
	if (output.split('\n', maxLines + 1).length > maxLines) return undefined;
	const found = probed.safeParse(parseJson(output)).data;
	const container = containers.find((each) => found?.format.format_name.split(',').includes(each));
	if (found === undefined || container === undefined) return undefined;
	const of = (type: string) => found.streams.filter((each) => each.codec_type === type);
	const isPicture = ({ disposition }: z.infer<typeof stream>) => disposition.attached_pic === 1;
	const video = of('video').filter((each) => !isPicture(each));
	if (video.length === 0) return undefined;
	const isUnfinished = container === 'avi' && video.some(({ nb_frames }) => Number(nb_frames ?? 0) >= unknownFrames);
	return {
		container,
		seconds: isUnfinished ? 0 : secondsOf(found, container),
		said: saidBy(found, container),
		lead: container === 'matroska' ? Math.max(0, numberOf(found.format.start_time)) : 0,
		madeAt: madeAt(found.format.tags),
		phoneTags: phoneTagsOf(found.format.tags),
		streams: found.streams.length,
		video: video.map(({ avg_frame_rate, r_frame_rate, nb_frames, ...track }) => ({
			index: track.index,
			size: track.width * track.height,
			look: lookOf(
				track,
				track.side_data_list.some(({ displaymatrix }) => isOnSide(displaymatrix)),
			),
			// The headers of an Ogg film say the rate of all its frames; ffprobe counts their average only beside sound.
			rate: rateOf(avg_frame_rate) || (container === 'ogg' ? rateOf(r_frame_rate) : 0),
			// Others guess that number; and a film in fragments has none.
			isIndexed: container === 'mov' && Number(nb_frames ?? 0) > 0,
			announced: container === 'avi' && !isUnfinished ? Number(nb_frames ?? 0) || 0 : 0,
			empty: 0,
		})),
		audio: of('audio').map(({ index, channels, duration }) => ({
			index,
			channels,
			announced: container === 'avi' && !isUnfinished ? numberOf(duration) : 0,
		})),
		subtitles: of('subtitle').length,
		pictures: of('video').length - video.length,
		attachments: of('attachment').length,
		// The only data of Ogg describes the other tracks (Skeleton).
		data:
			container === 'ogg'
				? 0
				: of('data').filter(
						({ codec_name, codec_tag_string = '' }) =>
							!redundantData.has(codec_tag_string) && !broadcastData.has(codec_name),
					).length,
		unread: unknownTracks(found.streams.filter(({ codec_type = '' }) => !kinds.has(codec_type)).length),
		chapters: found.chapters.map(({ start_time, tags }) => ({ begin: numberOf(start_time), title: tags.title ?? '' })),
		traits: traitsOf(found.format.tags, video, found.streams),
		saysAlpha: video.some(({ tags }) => tags.alpha_mode === '1'),
		subtitleTracks: of('subtitle').map(({ index, codec_name }) => ({ index, kind: subtitleKind(codec_name) })),
		styledSubtitles: of('subtitle').filter(({ codec_name }) => styled.has(codec_name)).length,
		named: { audio: namedTracks(of('audio')), subtitles: namedTracks(of('subtitle')) },
		matrices: new Set(video.flatMap((each) => each.side_data_list.map(({ displaymatrix }) => matrixOf(displaymatrix)))),
		texts: [
			...textsOfFilm(found.format.tags, container),
			...[...kinds].flatMap((kind) =>
				of(kind)
					.filter((each) => !isPicture(each) && kind !== 'attachment')
					.flatMap(({ tags }, n) => textsOfTrack(tags, container, `${kind} ${n + 1}`)),
			),
		],
	};
}

const kinds: ReadonlySet<string> = new Set(['video', 'audio', 'subtitle', 'attachment', 'data']);

/** How tracks of which ffprobe knows no kind are named, such as the subtitles of Ogg (Kate, CMML). */
function unknownTracks(count: number): string[] {
	if (count === 0) return [];
	return [count === 1 ? '1 track of an unknown kind' : `${count} tracks of an unknown kind`];
}

/**
 * What ffmpeg writes into the header of an AVI, to be replaced at the end, which it can't where the file is a pipe: no film has so
 * many.
 */
const unknownFrames = 2 ** 30;

function subtitleKind(codec: string): SubtitleTrack['kind'] {
	if (codec === 'mov_text') return 'text of MP4';
	if (codec === 'webvtt') return 'WebVTT';
	if (styled.has(codec)) return 'ASS';
	if (clearedPictures.has(codec)) return 'pictures of PGS or DVB';
	return subtitlePictures.has(codec) ? 'pictures' : 'text';
}

const clearedPictures: ReadonlySet<string> = new Set(['hdmv_pgs_subtitle', 'dvb_subtitle']);

const subtitlePictures: ReadonlySet<string> = new Set(['dvd_subtitle', 'dvb_teletext', 'xsub']);

const styled: ReadonlySet<string> = new Set(['ass', 'ssa']);

/** Dispositions in words for people, by their names in ffprobe; others have these names. */
const marks: ReadonlyMap<string, string> = new Map([
	['forced', 'forced'],
	['comment', 'comments'],
	['hearing_impaired', 'for the hard of hearing'],
	['visual_impaired', 'for the visually impaired'],
	['dub', 'dubbed'],
	['original', 'in the original language'],
	['clean_effects', 'without voices'],
]);

/** Dispositions that say nothing of what a track is: which one is played first, and of pictures. */
const technicalMarks: ReadonlySet<string> = new Set([
	...['default', 'attached_pic', 'timed_thumbnails', 'still_image', 'dependent', 'metadata'],
]);

const namedTracks = (tracks: readonly z.infer<typeof stream>[]): NamedTrack[] =>
	tracks.map(({ tags, disposition }) => {
		const tag = new Map(Object.entries(tags).map(([name, value]) => [name.toLowerCase(), value.trim()]));
		return {
			title: tag.get('title') ?? '',
			handler: tag.get('handler_name') ?? '',
			language: languageOf(tag.get('language') ?? ''),
			marks: Object.entries(disposition)
				.filter(([name, value]) => value === 1 && !technicalMarks.has(name))
				.map(([name]) => marks.get(name) ?? name.replaceAll('_', ' ')),
		};
	});

/** Frames a second; those who film more show them slowly. */
const maxRateOfPhones = 61;

function madeAt(tags: Readonly<Record<string, string>>): number | undefined {
	const time = Date.parse(tags[filmedAt] ?? tags.creation_time ?? '');
	return Number.isNaN(time) ? undefined : time;
}

function traitsOf(
	tags: Readonly<Record<string, string>>,
	video: readonly z.infer<typeof stream>[],
	streams: readonly z.infer<typeof stream>[],
): Trait[] {
	const ofPhone = phoneTagsOf(tags);
	const has: Readonly<Record<Trait, boolean>> = {
		'the place where it was filmed':
			Object.keys(tags).some((name) => /^location/i.test(name)) || placesIn(ofPhone).length > 0,
		'the camera': camerasIn(ofPhone).length > 0,
		'the time of filming': ofPhone.has(filmedAt),
		'its slow motion': Number(ofPhone.get(filmedRate) ?? 0) > maxRateOfPhones,
		// Editors count from 0 where there is none.
		'its timecode': streams.some(({ tags: { timecode, TIMECODE = timecode } }) => /[1-9]/.test(TIMECODE ?? '')),
		transparency: video.some((each) => transparent.test(each.pix_fmt)),
		// With 8 bits a colour it would show steps.
		'high dynamic range': video.some(
			(each) =>
				hasWideRange(each.color_transfer, each.pix_fmt) ||
				// One kind of Dolby Vision names no transfer, and has other colours without its own data.
				each.side_data_list.some(({ side_data_type }) => side_data_type === 'DOVI configuration record'),
		),
		'the view of a panorama or in 3D': video.some((each) =>
			each.side_data_list.some(({ side_data_type }) => /^(?:Stereo 3D|Spherical Mapping)$/.test(side_data_type)),
		),
		'that it is shown mirrored or at a slant': video.some((each) =>
			each.side_data_list.some(({ displaymatrix }) => !isTurned(displaymatrix)),
		),
		'the half pictures of interlaced video': video.some(
			({ codec_name, field_order }) => /^[tb][tb]$/.test(field_order) && !withFieldsInFrames.has(codec_name),
		),
		'colours of a screen (RGB)': video.some(({ pix_fmt }) => /^(?:gbr|rgb|bgr|0rgb|0bgr|pal8)/.test(pix_fmt)),
		// Of Matroska; an MP4 says it in a box that ffprobe does not show.
		'encrypted tracks': streams.some(({ tags }) => Object.keys(tags).some((name) => /^enc_key_id$/i.test(name))),
	};
	return (Object.keys(has) as Trait[]).filter((trait) => has[trait]);
}

/**
 * Codecs whose frames say whether they are interlaced, and may be whole although the file says the order of half pictures, as broadcasts
 * and cameras of 25 frames a second do. Of the others, such as HuffYUV and Motion JPEG, only the file knows.
 */
const withFieldsInFrames: ReadonlySet<string> = new Set([
	...['h264', 'hevc', 'mpeg1video', 'mpeg2video', 'mpeg4', 'vc1', 'wmv3', 'dvvideo', 'prores', 'dnxhd', 'ffv1', 'v210'],
]);

/** The nine numbers of a matrix that ffprobe prints as lines with addresses, each behind a space. */
const numbersOf = (printed: string) =>
	[...printed.matchAll(/ (-?\d+)/g)].map(([, number]) => Number(number)).slice(0, 9);

/** A matrix that ffprobe prints, to be compared; empty for none, and for one that changes nothing. */
export function matrixOf(printed: string): string {
	const matrix = numbersOf(printed).join();
	return matrix === '65536,0,0,0,65536,0,0,0,1073741824' ? '' : matrix;
}

/** Whether a matrix of ffprobe turns pictures by quarters only, or does nothing. */
function isTurned(matrix: string): boolean {
	const [a = 1, b = 0, , c = 0, d = 1] = numbersOf(matrix);
	return (b === 0 && c === 0 && a * d > 0) || (a === 0 && d === 0 && b * c < 0);
}

/** Whether a matrix of ffprobe turns pictures by one quarter or three. */
function isOnSide(matrix: string): boolean {
	const [a = 1, b = 0] = numbersOf(matrix);
	return a === 0 && b !== 0;
}

const transparent = /^(?:yuva|gbrap|rgba|bgra|argb|abgr|ayuv|ya\d)/;

/** Whether a stream or a picture has a wide range of brightness (HDR). */
export const hasWideRange = (transfer: string, format: string) =>
	wideTransfers.has(transfer) && !/^(?:yuvj?\d+p|nv\d+)$/.test(format);

/** The transfer functions of HDR10, Dolby Vision and HLG. */
const wideTransfers: ReadonlySet<string> = new Set(['smpte2084', 'arib-std-b67']);

/** Containers whose tracks have durations of their own, from their first packets on. */
const ownDurations: ReadonlySet<VideoContainer> = new Set(['mov', 'mpegts', 'mpeg', 'ogg']);

/** The duration until the last track ends: that of the container may count a frame before its time. 0 where it is unknown. */
function secondsOf({ format, streams }: z.infer<typeof probed>, container: VideoContainer): number {
	const begin = numberOf(format.start_time);
	const ends = streams.map(({ start_time, duration }) => {
		const late = ownDurations.has(container) ? Math.max(0, numberOf(start_time) - begin) : 0;
		return numberOf(duration) > 0 ? late + numberOf(duration) : 0;
	});
	return Math.max(0, ...ends) || numberOf(format.duration);
}

/** The duration that a file says as a whole: an MP4 counts the time before its first packet, which is left out here. */
function saidBy({ format }: z.infer<typeof probed>, container: VideoContainer): number {
	const lead = container === 'mov' ? Math.max(0, numberOf(format.start_time)) : 0;
	return Math.max(0, numberOf(format.duration) - lead);
}

const numberOf = (text: string | undefined) => Number(text ?? 0) || 0;

/** Chapters, the timecode, which is a trait, and hints for servers. */
const redundantData: ReadonlySet<string> = new Set(['text', 'tmcd', 'rtp ']);
/** What is on television, and where on its disc a film is, by the names of codecs. */
const broadcastData: ReadonlySet<string> = new Set(['epg', 'dvd_nav_packet']);

/** The number of a fraction such as `30000/1001`. */
function rateOf(fraction: string): number {
	const [frames = 0, seconds = 0] = fraction.split('/').map(Number);
	return seconds > 0 ? frames / seconds : 0;
}
