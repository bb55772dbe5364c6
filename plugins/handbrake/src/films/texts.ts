import type { VideoContainer } from '@stowage/rules';

/** A text that people have written about a film or one of its tracks. */
export interface Text {
	/** Its kind and number; empty for the film. */
	track: string;
	name: string;
	/** Undefined where no program reads it, so that it is in no output. */
	value: string | undefined;
}

type Tags = Readonly<Record<string, string>>;

/** Tags that ffprobe prints by the names of their formats, in lower case. */
const formatNames: ReadonlyMap<string, string> = new Map([
	['ikey', 'keywords'],
	['isbj', 'subject'],
	['irtd', 'rating'],
	['wm/category', 'keywords'],
	['wm/keywords', 'keywords'],
	['wm/subtitle', 'subject'],
	['wm/shareduserrating', 'rating'],
	['wm/director', 'director'],
]);

/** Names of tags, whole or by how they begin or look. */
class TagNames {
	readonly #names: ReadonlySet<string>;
	readonly #patterns: readonly RegExp[];

	constructor(names: readonly string[], patterns: readonly RegExp[]) {
		this.#names = new Set(names);
		this.#patterns = patterns;
	}

	has(name: string): boolean {
		return this.#names.has(name) || this.#patterns.some((pattern) => pattern.test(name));
	}
}

/** What programs write of themselves and of the file, of a film as of a track. */
const technical = new TagNames(
	[
		...['major_brand', 'minor_version', 'compatible_brands', 'creation_time', 'duration', 'bps'],
		...['source_id', 'vendor_id', 'handler_name', 'encoder', 'encoder_options', 'encoding_tool'],
		...['encoded_by', 'software', 'isft', 'itch', 'premiere_version', 'quicktime_version'],
		...['hd_video', 'media_type', 'gapless_playback', 'itunnorm', 'itunsmpb', 'itunpgap'],
	],
	[/^number_of_\w+$/, /^_statistics_\w+$/],
);

/** What is a trait of a film. */
const traits = /^(?:make|model|location|com\.(?:apple|android)\..*)$|\.location\./;

/** What tells a track apart, or is a trait of it. */
const ofTracks: ReadonlySet<string> = new Set([
	...['title', 'language', 'timecode', 'rotate', 'alpha_mode', 'stereo_mode', 'enc_key_id', 'filename', 'mimetype'],
]);

/** What programs write there besides. */
const technicalOf: ReadonlyMap<VideoContainer, TagNames> = new Map([
	[
		'asf',
		new TagNames(
			[
				...['deviceconformancetemplate', 'asfleakybucketpairs', 'mediafoundationversion', 'sforiginalfps'],
				...['average', 'average level', 'average value', 'averagelevel', 'averagevalue', 'averagebitrate'],
				...['peak', 'peak level', 'peak value', 'peaklevel', 'peakvalue', 'peakbitrate'],
				...['buffer average', 'vbr peak', 'bitrate', 'aspectratiox', 'aspectratioy', 'seekable', 'stridable'],
				...['broadcast', 'currentbitrate', 'optimalbitrate', 'filesize', 'numberofframes'],
			],
			[
				/^wm\/(?:encod|mediaclass|tool|provider|uniquefile|wmc|wmadrc|codec|asf|video)\w*$/,
				/^wmfsdk\w+$/,
				/^(?:is|has)_?(?:vbr|trusted|protected|video|audio|image|script|attached\w*|cross\w*)$/,
			],
		),
	],
	[
		'flv',
		new TagNames(
			[
				...['metadatacreator', 'metadatadate', 'creationdate', 'sourcedata', 'purl', 'pmsg', 'httphostheader'],
				...['server', 'profile', 'level', 'presetname', 'videodevice', 'audiodevice', 'encoded_with'],
			],
			[/^(?:video|audio)codec\w*$/],
		),
	],
]);

/** Numbers and settings, which an FLV has of everything. */
const isSetting = (value: string) => /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(value);
const numbersOfPeople: ReadonlySet<string> = new Set([
	'date',
	'year',
	'rating',
	'track',
	'episode_sort',
	'season_number',
]);

function textsOf(tags: Tags, container: VideoContainer, isTechnical: (name: string) => boolean): Text[] {
	return Object.entries(tags).flatMap(([tag, printed]) => {
		// A MOV has them with a language as well.
		const name = tag.toLowerCase().replace(/-[a-z]{3}$/, '');
		const value = printed.trim();
		const isText =
			value !== '' &&
			!technical.has(name) &&
			!isTechnical(name) &&
			technicalOf.get(container)?.has(name) !== true &&
			(container !== 'flv' || !isSetting(value) || numbersOfPeople.has(name));
		return isText ? [{ track: '', name: formatNames.get(name) ?? name, value }] : [];
	});
}

/** The texts of a film by the tags that ffprobe prints: all but those of which it is known that programs write them. */
export const textsOfFilm = (tags: Tags, container: VideoContainer): Text[] =>
	textsOf(tags, container, (name) => traits.test(name));

/** Those of a track. Ogg has all of them there, of the film, too. */
export function textsOfTrack(tags: Tags, container: VideoContainer, track: string): Text[] {
	if (container === 'ogg') return textsOf(tags, container, (name) => name !== 'title' && ofTracks.has(name));
	return textsOf(tags, container, (name) => ofTracks.has(name)).map((text) => ({ ...text, track }));
}

/** Names of Matroska by those of other containers, and back: HandBrake writes a text of one by the other. */
const otherNames: ReadonlyMap<string, string> = new Map(
	[
		['summary', 'comment'],
		['date_released', 'date'],
		['director', 'album_artist'],
	].flatMap(([a = '', b = '']) => [
		[a, b],
		[b, a],
	]),
);

/**
 * The names of the texts that an output lacks: those that have another value there, or are of another track. One may have its other name,
 * unless the film has both.
 */
export function missingTexts(before: readonly Text[], after: readonly Text[]): string[] {
	const keyOf = ({ track, name, value }: Text) => JSON.stringify([track, name, value]);
	const found = new Set(after.map(keyOf));
	const names = new Set(before.map(({ name }) => name));
	const isFound = (text: Text) => {
		const other = otherNames.get(text.name);
		return (
			found.has(keyOf(text)) || (other !== undefined && !names.has(other) && found.has(keyOf({ ...text, name: other })))
		);
	};
	const missing = before.filter((text) => text.value === undefined || !isFound(text));
	return [...new Set(missing.map(({ name }) => name))];
}
