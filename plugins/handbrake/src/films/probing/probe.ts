import type { z } from '@stowage/plugin-api';
import type { VideoContainer } from '@stowage/rules';
import type { SandboxedProgram } from '../../SandboxedProgram.js';
import { filmedAt, phoneTagsOf } from '../texts/phoneTags.js';
import { textsOfFilm, textsOfTrack } from '../texts/texts.js';
import type { Film, NamedTrack, SubtitleTrack } from './Film.js';
import { languageOf } from './languages.js';
import { isOnSide, lookOf, matrixOf } from './look.js';
import { parseJson } from './parseJson.js';
import { type ProbedStream, probed } from './probed.js';
import { traitsOf } from './traits.js';

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
	const isPicture = ({ disposition }: ProbedStream) => disposition.attached_pic === 1;
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
		audio: of('audio').map(({ index, channels, duration, codec_name }) => ({
			index,
			channels,
			codec: codec_name,
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

const namedTracks = (tracks: readonly ProbedStream[]): NamedTrack[] =>
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

function madeAt(tags: Readonly<Record<string, string>>): number | undefined {
	const time = Date.parse(tags[filmedAt] ?? tags.creation_time ?? '');
	return Number.isNaN(time) ? undefined : time;
}

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
