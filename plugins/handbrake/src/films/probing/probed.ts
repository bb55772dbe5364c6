import { z } from '@stowage/plugin-api';

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

export type ProbedStream = z.infer<typeof stream>;

/** What ffprobe prints of a file. */
export const probed = z.object({
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
