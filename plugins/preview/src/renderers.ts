import { Failure, type Renderer, type RenderSource } from '@stowage/plugin-api';
import { sniff, sniffedBytes } from '@stowage/rules';
import type { ImageWorkers } from './images/ImageWorkers.js';
import { inputPath, runProgram } from './runProgram.js';

interface RendererDependencies {
	workers: ImageWorkers;
	memoryBytes: number;
}

/** Larger than any photo; a child buffers all of it. */
const maxImageBytes = 128 * 1024 * 1024;

const undecoded: ReadonlySet<string> = new Set(['svg', 'bmp', 'ico']);

/** Pictures of images. */
export function imageRenderer({ workers }: RendererDependencies): Renderer {
	return {
		version: '1',
		// No decoder for these is on the list; a drawing may also fetch other files.
		accepts: (kind, extension) => kind === 'image' && !undecoded.has(extension) && workers.isUsable,
		async render(source, size, signal) {
			if (source.size > maxImageBytes) throw noPicture();
			return workers.render(() => source.read(), source.size, size, signal);
		},
	};
}

/** Containers from which a frame is taken: formats that contain their pictures, and reference no other file. */
const containers = 'mov,matroska,avi,mpegts,mpeg,ogg,flv,asf';

/** A frame of a video by ffmpeg. */
export function videoRenderer(ffmpeg: string, { workers, memoryBytes }: RendererDependencies): Renderer {
	return {
		version: '1',
		accepts: (kind) => kind === 'video' && workers.isUsable,
		async render(source, size, signal) {
			// Checked although the core has done so: with a playlist ffmpeg would open other people's files.
			if ((await firstBytesKind(source)) !== 'video') throw noPicture();
			const frame = await source.withLocalFile(async ({ descriptor }) => {
				const run = { memoryBytes, descriptor, signal };
				// The first second is often black; a short clip has no more.
				return (await runProgram(ffmpeg, frameAt(1, size), run)) ?? (await runProgram(ffmpeg, frameAt(0, size), run));
			});
			return shrink(workers, frame, size, signal);
		},
	};
}

/** Scaled before a typical one of thirty frames is chosen, since all of them are buffered until then. */
function frameAt(seconds: number, size: number): string[] {
	const fit = `w='min(${size},iw)':h='min(${size},ih)':force_original_aspect_ratio=decrease`;
	const input = ['-protocol_whitelist', 'file', '-format_whitelist', containers, '-max_pixels', '100000000'];
	return [
		...['-nostdin', '-v', 'error', ...input, '-threads', '1', '-ss', String(seconds), '-i', inputPath],
		...['-map', '0:v:0', '-frames:v', '1', '-vf', `scale=w='trunc(iw*sar)':h=ih,scale=${fit},thumbnail=30`],
		...['-f', 'image2pipe', '-c:v', 'mjpeg', '-q:v', '3', '-threads', '1', 'pipe:1'],
	];
}

/** The first page of a PDF by pdftoppm. */
export function pdfRenderer(pdftoppm: string, { workers, memoryBytes }: RendererDependencies): Renderer {
	return {
		version: '1',
		accepts: (kind) => kind === 'pdf' && workers.isUsable,
		async render(source, size, signal) {
			if ((await firstBytesKind(source)) !== 'pdf') throw noPicture();
			const args = ['-q', '-f', '1', '-l', '1', '-singlefile', '-scale-to', String(size), '-png', inputPath];
			const page = await source.withLocalFile(({ descriptor }) =>
				runProgram(pdftoppm, args, { memoryBytes, descriptor, signal }),
			);
			return shrink(workers, page, size, signal);
		},
	};
}

function shrink(workers: ImageWorkers, image: Buffer | undefined, size: number, signal: AbortSignal): Promise<Buffer> {
	if (image === undefined) throw noPicture();
	async function* once() {
		yield image as Buffer;
	}
	return workers.render(once, image.length, size, signal);
}

async function firstBytesKind(source: RenderSource) {
	const head: Uint8Array[] = [];
	const end = Math.min(source.size, sniffedBytes) - 1;
	if (end >= 0) for await (const chunk of source.read({ start: 0, end })) head.push(Uint8Array.from(chunk));
	return sniff(Buffer.concat(head));
}

function noPicture(): Failure {
	return new Failure('unsupportedMediaType', 'There is no preview of this file.');
}
