import type { ConversionFormat } from '@stowage/rules';
import type { Video } from './films/probing/scan.js';

interface Target {
	container: string;
	video: string;
	/** A compromise of speed and size: a preset that takes twice as long saves a few percent. */
	preset: string;
	audio: string;
	/** Pictures of text can be burned into the video of an mp4 only, and webm has no subtitles. */
	subtitles: 'all' | 'text' | 'none';
	extraArguments: readonly string[];
}

const targets: Readonly<Record<ConversionFormat, Target>> = {
	// Its index is at the beginning, so that it can be played while it is downloaded.
	mp4: {
		container: 'av_mp4',
		video: 'x264',
		preset: 'medium',
		audio: 'av_aac',
		subtitles: 'text',
		extraArguments: ['--optimize'],
	},
	mkv: { container: 'av_mkv', video: 'x264', preset: 'medium', audio: 'av_aac', subtitles: 'all', extraArguments: [] },
	webm: { container: 'av_webm', video: 'VP9', preset: 'faster', audio: 'opus', subtitles: 'none', extraArguments: [] },
};

/** H.264 by the graphics processor, the first that HandBrake reports. */
const hardwareEncoders = ['nvenc_h264', 'qsv_h264', 'vce_h264'];

/** The encoder of the video; undefined if this HandBrake can't create such files. */
export function videoEncoder(
	format: ConversionFormat,
	encoders: ReadonlySet<string>,
	mayUseHardware: boolean,
): string | undefined {
	const { video, audio } = targets[format];
	if (!encoders.has(audio)) return undefined;
	const hardware = mayUseHardware && video === 'x264' ? hardwareEncoders.find((name) => encoders.has(name)) : undefined;
	return hardware ?? (encoders.has(video) ? video : undefined);
}

export interface EncodingSettings {
	format: ConversionFormat;
	/** The constant rate factor. */
	quality: number;
	/** The encoder's name, from `videoEncoder`. */
	encoder: string;
}

/**
 * The arguments for HandBrakeCLI, from tables and numbers only. Size, rotation and frames stay as they are, and no border is cropped:
 * this option is supported by all versions. HandBrake moves the times of frames where their rate changes.
 */
export function conversionArguments({ format, quality, encoder }: EncodingSettings, source: Video): string[] {
	const target = targets[format];
	const subtitles = source.subtitles.filter(
		({ isText }) => target.subtitles === 'all' || (target.subtitles === 'text' && isText),
	);
	return [
		...['-f', target.container, '-e', encoder, '-q', String(quality), '--crop', '0:0:0:0', '--vfr', '--markers'],
		...(encoder === target.video ? ['--encoder-preset', target.preset] : []),
		...(source.audioTracks.length === 0
			? ['-a', 'none']
			: ['-a', source.audioTracks.join(), '-E', source.audioTracks.map(() => target.audio).join()]),
		...(subtitles.length === 0 ? ['-s', 'none'] : ['-s', subtitles.map(({ track }) => track).join()]),
		...target.extraArguments,
	];
}
