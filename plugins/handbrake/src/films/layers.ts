import { z } from '@stowage/plugin-api';
import type { SandboxedProgram } from '../SandboxedProgram.js';
import { parseJson } from './parseJson.js';
import { source } from './probe.js';

const probed = z.object({
	streams: z.array(z.object({ codec_name: z.string().default(''), extradata: z.string().default('') })).default([]),
});

const cpuSeconds = 20;

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
	const { code, output } = await ffprobe.run(args, { files: [descriptor], cpuSeconds, signal });
	return code === 0 ? parseLayers(output) : undefined;
}

/** The JSON that ffprobe printed. */
export function parseLayers(output: string): boolean | undefined {
	const { data } = probed.safeParse(parseJson(output));
	return data?.streams.some((each) => each.codec_name === 'hevc' && layersOf(bytesOf(each.extradata)) > 1);
}

/** Of lines such as `00000010: fdf8 f800 000f  ......`. */
function bytesOf(dump: string): Uint8Array {
	const digits = dump
		.split('\n')
		.map((line) => (/^[0-9a-f]+: ((?:[0-9a-f]{2,4} )+)/.exec(line)?.[1] ?? '').replaceAll(' ', ''));
	return Buffer.from(digits.join(''), 'hex');
}

/** By the parameter set of the video, which begins with its kind (2 bytes) and has 16 bits of ones behind the number of layers. */
function layersOf(bytes: Uint8Array): number {
	let layers = 1;
	for (let at = 0; at + 6 <= bytes.length; at++) {
		const [kind, layer, high = 0, low = 0, one, two] = bytes.subarray(at, at + 6);
		if (kind !== 0x40 || layer !== 1 || one !== 0xff || two !== 0xff) continue;
		layers = Math.max(layers, (((high & 3) << 4) | (low >> 4)) + 1);
	}
	return layers;
}
