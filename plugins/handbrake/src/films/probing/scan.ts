import { z } from '@stowage/plugin-api';
import type { SandboxedProgram } from '../../SandboxedProgram.js';
import { parseJson } from './parseJson.js';

/** The content of a file, as HandBrake reports it. */
export interface Video {
	seconds: number;
	width: number;
	height: number;
	/** The width of a shown picture by its height, as the output has it where nothing else is asked for. */
	shape: number;
	/** Their numbers. */
	audioTracks: number[];
	subtitles: { track: number; isText: boolean }[];
}

const track = z.object({ TrackNumber: z.number() });

const scanned = z.object({
	TitleList: z.array(
		z.object({
			Duration: z.object({ Ticks: z.number() }),
			Geometry: z.object({
				Width: z.number(),
				Height: z.number(),
				PAR: z.object({ Num: z.number(), Den: z.number() }).default({ Num: 1, Den: 1 }),
			}),
			AudioList: z.array(track).default([]),
			SubtitleList: z.array(track.extend({ Format: z.string() })).default([]),
		}),
	),
});

const ticksPerSecond = 90_000;

/** A file with more is no film. */
const maxTracks = 99;

/** Scans an open file; undefined if it contains no video. */
export async function scan(
	encoder: SandboxedProgram,
	descriptor: number,
	signal: AbortSignal,
): Promise<Video | undefined> {
	const args = ['--scan', '--json', '--previews', '2:0', '-i', '/proc/self/fd/3'];
	const { output } = await encoder.run(args, { files: [descriptor], signal });
	return parseScan(output);
}

/** The last value that `--scan --json` printed. */
export function parseScan(output: string): Video | undefined {
	const at = output.lastIndexOf('JSON Title Set: {');
	if (at === -1) return undefined;
	const parsed = scanned.safeParse(parseJson(output.slice(output.indexOf('{', at), output.lastIndexOf('}') + 1)));
	const title = parsed.data?.TitleList[0];
	if (title === undefined || title.Geometry.Width === 0) return undefined;
	const { Width, Height, PAR } = title.Geometry;
	return {
		seconds: title.Duration.Ticks / ticksPerSecond,
		width: Width,
		height: Height,
		shape: (Width * (PAR.Num || 1)) / (Height * (PAR.Den || 1)),
		audioTracks: title.AudioList.slice(0, maxTracks).map(({ TrackNumber }) => TrackNumber),
		subtitles: title.SubtitleList.slice(0, maxTracks).map(({ TrackNumber, Format }) => ({
			track: TrackNumber,
			isText: Format === 'text',
		})),
	};
}
