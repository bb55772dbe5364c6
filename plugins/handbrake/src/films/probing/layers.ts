import { z } from '@stowage/plugin-api';
import type { SandboxedProgram } from '../../SandboxedProgram.js';
import { parseJson } from './parseJson.js';
import { source } from './probe.js';

const probed = z.object({
	streams: z.array(z.object({ codec_name: z.string().default(''), extradata: z.string().default('') })).default([]),
});

const cpuSeconds = 20;

/** The bytes of a dump of 60 kB of parameters; those of a film have some hundred bytes. */
const maxPrinted = 256 * 1024;

/**
 * Whether a video track of an open film is HEVC with more than one layer, as films for two eyes and those with transparency are: decoders
 * show the first one, and say nothing of the others. Undefined if that can't be known.
 */
export async function hasLayers(
	ffprobe: SandboxedProgram,
	descriptor: number,
	signal: AbortSignal,
): Promise<boolean | undefined> {
	const args = [
		...['-show_data', ...source, '-select_streams', 'v'],
		...['-show_entries', 'stream=codec_name,extradata', '-of', 'json'],
	];
	const { code, output } = await ffprobe.run(args, { files: [descriptor], cpuSeconds, maxPrinted, signal });
	return code === 0 ? parseLayers(output) : undefined;
}

/** The JSON that ffprobe printed. */
export function parseLayers(output: string): boolean | undefined {
	const { data } = probed.safeParse(parseJson(output));
	return data?.streams.some((each) => each.codec_name === 'hevc' && layersOf(bytesOf(each.extradata)) > 1);
}

/** The bytes of a dump with lines such as `00000010: fdf8 f800 000f  ......`. */
function bytesOf(dump: string): Buffer {
	const digits = dump
		.split('\n')
		.map((line) => (/^[0-9a-f]+: ((?:[0-9a-f]{2,4} )+)/.exec(line)?.[1] ?? '').replaceAll(' ', ''));
	return Buffer.from(digits.join(''), 'hex');
}

/** The number of layers by the parameter set of the video, which begins with its kind (2 bytes) and has 16 one bits after that number. */
function layersOf(bytes: Buffer): number {
	let layers = 1;
	for (let at = bytes.indexOf(videoSet); at >= 0 && at + 6 <= bytes.length; at = bytes.indexOf(videoSet, at + 1)) {
		if (bytes.readUInt16BE(at + 4) !== 0xffff) continue;
		layers = Math.max(layers, ((bytes.readUInt16BE(at + 2) >> 4) & 0x3f) + 1);
	}
	return layers;
}

const videoSet = Buffer.from([0x40, 1]);
