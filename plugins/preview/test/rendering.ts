import { execFile } from 'node:child_process';
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
	findProgram,
	findSandbox,
	type PictureSize,
	type PluginLog,
	type Renderer,
	type RenderSource,
} from '@stowage/plugin-api';
import { effectivePreviewKind, extensionOf, previewOf, sniff } from '@stowage/rules';
import type { ExecutionContext } from 'ava';
import { ImageWorkers, type ImageWorkersOptions } from '../src/images/ImageWorkers.js';
import { imageRenderer, pdfRenderer, videoRenderer } from '../src/renderers.js';

const run = promisify(execFile);

/** Without the plugin's own types, which declare only the calls that it uses. */
export const sharp = createRequire(import.meta.url)('sharp');

const megabyte = 1024 * 1024;

export interface Rendering {
	folder: string;
	workers: ImageWorkers;
	/** The messages in the log. */
	lines: string[];
	/** The picture of a file in the folder, by the renderers that accept it. */
	render(name: string, size?: PictureSize, signal?: AbortSignal, owner?: string): Promise<Buffer>;
	/** Makes a file with ffmpeg; its last argument is the name. */
	ffmpeg(...args: string[]): Promise<void>;
	write(name: string, content: Buffer | string): Promise<void>;
}

/** The plugin's renderers on a temporary folder. */
export async function rendering(
	t: ExecutionContext,
	options: Partial<ImageWorkersOptions> & { programs?: readonly string[] } = {},
): Promise<Rendering> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-preview-'));
	const lines: string[] = [];
	const addLine = (_details: object, message: string) => void lines.push(message);
	const log: PluginLog = { info: addLine, warn: addLine, error: addLine };
	const memoryBytes = options.memoryBytes ?? 1024 * megabyte;
	const sandboxed = options.findSandbox ?? (() => findSandbox());
	const workers = new ImageWorkers({ log, ...options, memoryBytes, findSandbox: sandboxed });
	t.teardown(async () => {
		workers.close();
		await rm(folder, { recursive: true, force: true });
	});
	const means = { workers, memoryBytes, findSandbox: sandboxed };
	const programs = await Promise.all(['ffmpeg', 'pdftoppm'].map(findProgram));
	const [ffmpeg = '', pdftoppm = ''] = options.programs ?? programs;
	const renderers: Renderer[] = [imageRenderer(means), videoRenderer(ffmpeg, means), pdfRenderer(pdftoppm, means)];
	return {
		folder,
		workers,
		lines,
		async render(name, size = 256, signal = AbortSignal.timeout(120_000), owner = 'ada') {
			const source = await sourceOf(path.join(folder, name), owner);
			const renderer = renderers.find(({ accepts }) => accepts(source.kind, source.extension));
			if (renderer === undefined) throw new Error('No renderer accepts it.');
			return Buffer.from(await renderer.render(source, size, signal));
		},
		ffmpeg: async (...args) => void (await run('ffmpeg', ['-v', 'error', ...args], { cwd: folder })),
		write: (name, content) => writeFile(path.join(folder, name), content),
	};
}

/** A source as the server passes it to a renderer. */
async function sourceOf(file: string, owner: string): Promise<RenderSource> {
	const { size } = await stat(file);
	const bytes = await readFile(file);
	const kind = effectivePreviewKind(previewOf(file, size).kind as 'image', bytes.subarray(0, 4096));
	const found = sniff(bytes.subarray(0, 4096));
	return {
		kind,
		contentKind: found === 'playlist' ? undefined : found,
		owner,
		extension: extensionOf(file),
		size,
		async *read({ start, end } = { start: 0, end: size - 1 }) {
			for (let at = start; at <= end; at += 65_536) yield bytes.subarray(at, Math.min(at + 65_536, end + 1));
		},
		async withLocalFile(use) {
			const handle = await open(file);
			try {
				return await use({ descriptor: handle.fd });
			} finally {
				await handle.close();
			}
		},
	};
}

/** Asserts that it is WebP of this size, and returns the colour in the middle of its upper left quarter. */
export async function assertPicture(
	t: ExecutionContext,
	picture: Buffer,
	width: number,
	height: number,
): Promise<number[]> {
	t.is(picture.toString('latin1', 0, 4), 'RIFF');
	t.is(picture.toString('latin1', 8, 12), 'WEBP');
	const { data, info } = await decode(picture);
	t.deepEqual([info.width, info.height], [width, height]);
	const at = (Math.floor(info.height / 4) * info.width + Math.floor(info.width / 4)) * info.channels;
	return [...data.subarray(at, at + 3)];
}

const decode = (picture: Buffer) => sharp(picture).raw().toBuffer({ resolveWithObject: true });

/** Whether a colour is close to another one, within the loss of lossy formats. */
export function isAbout(colour: readonly number[], wanted: readonly number[]): boolean {
	return wanted.every((value, index) => Math.abs(value - (colour[index] ?? -1000)) <= 40);
}

/** A PDF of one page, its size in points, with this drawing. */
export function pdf(width: number, height: number, drawing: string): string {
	const objects = [
		'<</Type/Catalog/Pages 2 0 R>>',
		'<</Type/Pages/Kids[3 0 R]/Count 1>>',
		`<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${width} ${height}]/Contents 4 0 R>>`,
		`<</Length ${drawing.length}>>stream\n${drawing}\nendstream`,
	];
	let text = '%PDF-1.4\n';
	const offsets = objects.map((object, index) => {
		const offset = text.length;
		text += `${index + 1} 0 obj${object}endobj\n`;
		return offset;
	});
	const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
	return `${text}xref\n0 5\n0000000000 65535 f \n${table}trailer<</Size 5/Root 1 0 R>>\nstartxref\n${text.length}\n%%EOF\n`;
}
