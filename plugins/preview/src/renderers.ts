import { Failure, type Renderer, type Sandbox } from '@stowage/plugin-api';
import { hasDecoder } from '@stowage/rules';
import type { ImageWorkers } from './images/ImageWorkers.js';
import { beforeDecoding, inputPath, runProgram } from './runProgram.js';

interface RendererDependencies {
	workers: ImageWorkers;
	memoryBytes: number;
	/** The sandbox of the decoders; undefined for limits only. */
	findSandbox(): Promise<Sandbox | undefined>;
}

/** Larger than any photo; a child buffers all of it. */
const maxImageBytes = 128 * 1024 * 1024;

/** Pictures of images. */
export function imageRenderer({ workers }: RendererDependencies): Renderer {
	return {
		version: '1',
		accepts: (kind, extension) => kind === 'image' && hasDecoder(extension),
		async render(source, size, signal) {
			if (source.size > maxImageBytes) throw noPicture();
			return workers.render({ owner: source.owner, length: source.size, read: () => source.read() }, size, signal);
		},
	};
}

/** Containers from which a frame is taken: formats that contain their pictures, and reference no other file. */
const containers = 'mov,matroska,avi,mpegts,mpeg,ogg,flv,asf';

/** A frame of a video by ffmpeg. */
export function videoRenderer(ffmpeg: string, { workers, memoryBytes, findSandbox }: RendererDependencies): Renderer {
	return {
		version: '2',
		accepts: (kind) => kind === 'video',
		async render(source, size, signal) {
			// Not by its name alone.
			if (source.contentKind !== 'video') throw noPicture();
			workers.assertUsable();
			const sandbox = await beforeDecoding(findSandbox(), signal);
			const frame = await source.withLocalFile(async ({ descriptor }) => {
				const run = { memoryBytes, descriptor, signal, sandbox };
				// The first second is often black; a short clip has no more.
				return (await runProgram(ffmpeg, frameAt(1, size), run)) ?? (await runProgram(ffmpeg, frameAt(0, size), run));
			});
			return shrink(workers, source.owner, frame, size, signal);
		},
	};
}

/** Larger than of any camera: a frame of 8K has 35 million. */
const maxFramePixels = 36_000_000;

/**
 * A typical one of twelve frames, scaled before they are buffered. No frame before them is decoded: the first is that of the index, not
 * exactly the wanted time.
 */
function frameAt(seconds: number, size: number): string[] {
	const fit = `w='min(${size},iw)':h='min(${size},ih)':force_original_aspect_ratio=decrease`;
	const input = ['-protocol_whitelist', 'file', '-format_whitelist', containers, '-max_pixels', String(maxFramePixels)];
	return [
		...[
			'-nostdin',
			'-v',
			'error',
			...input,
			'-threads',
			'1',
			'-noaccurate_seek',
			'-ss',
			String(seconds),
			'-t',
			'10',
			'-i',
			inputPath,
		],
		...['-map', '0:v:0', '-frames:v', '1', '-vf', `scale=w='trunc(iw*sar)':h=ih,scale=${fit},thumbnail=12`],
		...['-f', 'image2pipe', '-c:v', 'mjpeg', '-q:v', '3', '-threads', '1', 'pipe:1'],
	];
}

/** The first page of a PDF by pdftoppm. */
export function pdfRenderer(pdftoppm: string, { workers, memoryBytes, findSandbox }: RendererDependencies): Renderer {
	return {
		version: '1',
		accepts: (kind) => kind === 'pdf',
		async render(source, size, signal) {
			if (source.contentKind !== 'pdf') throw noPicture();
			workers.assertUsable();
			const sandbox = await beforeDecoding(findSandbox(), signal);
			const args = ['-q', '-f', '1', '-l', '1', '-singlefile', '-scale-to', String(size), '-png', inputPath];
			const page = await source.withLocalFile(({ descriptor }) =>
				runProgram(pdftoppm, args, { memoryBytes, descriptor, signal, sandbox }),
			);
			return shrink(workers, source.owner, page, size, signal);
		},
	};
}

function shrink(
	workers: ImageWorkers,
	owner: string,
	image: Buffer | undefined,
	size: number,
	signal: AbortSignal,
): Promise<Buffer> {
	if (image === undefined) throw noPicture();
	async function* once() {
		yield image as Buffer;
	}
	return workers.render({ owner, length: image.length, read: once }, size, signal);
}

function noPicture(): Failure {
	return new Failure('unsupportedMediaType', 'There is no preview of this file.');
}
