import type { VideoContainer } from '@stowage/rules';
import type { PhoneTags } from '../texts/phoneTags.js';
import type { Text } from '../texts/texts.js';
import type { Look } from './look.js';

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
	/** The name of its codec, as ffprobe has it. */
	codec: string;
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
