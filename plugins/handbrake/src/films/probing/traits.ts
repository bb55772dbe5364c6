import { camerasIn, filmedAt, filmedRate, phoneTagsOf, placesIn } from '../texts/phoneTags.js';
import type { Trait } from './Film.js';
import { isTurned } from './look.js';
import type { ProbedStream } from './probed.js';

/** Frames a second; those who film more show them slowly. */
const maxRateOfPhones = 61;

/** The traits of a film with these tags, as far as its headers say them. */
export function traitsOf(
	tags: Readonly<Record<string, string>>,
	video: readonly ProbedStream[],
	streams: readonly ProbedStream[],
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

const transparent = /^(?:yuva|gbrap|rgba|bgra|argb|abgr|ayuv|ya\d)/;

/** Whether a stream or a picture has a wide range of brightness (HDR). */
export const hasWideRange = (transfer: string, format: string) =>
	wideTransfers.has(transfer) && !/^(?:yuvj?\d+p|nv\d+)$/.test(format);

/** The transfer functions of HDR10, Dolby Vision and HLG. */
const wideTransfers: ReadonlySet<string> = new Set(['smpte2084', 'arib-std-b67']);
