import {
	afterStart,
	definePlugin,
	findProgram,
	findSandbox,
	type PluginLog,
	type Renderer,
	z,
} from '@stowage/plugin-api';
import { ImageWorkers } from './images/ImageWorkers.js';
import { imageRenderer, pdfRenderer, videoRenderer } from './renderers.js';

/** The name of a program, its path, or false for none. */
const program = z.union([z.literal(false), z.string().min(1)]);

/** Renders pictures of images, videos and PDFs. Nothing is decoded in the process of the server. */
export const plugin = definePlugin({
	name: '@stowage/preview',
	version: '0.1.0',
	options: z.strictObject({
		ffmpeg: program.default('ffmpeg'),
		pdftoppm: program.default('pdftoppm'),
		memoryMiB: z.int().min(256).max(65536).default(1024),
	}),
	needsHttp: false,
	async start(server, { ffmpeg, pdftoppm, memoryMiB }) {
		const log = server.logOf('@stowage/preview');
		const memoryBytes = memoryMiB * 1024 * 1024;
		const workers = new ImageWorkers({ memoryBytes, log, findSandbox });
		const stopped = new AbortController();
		server.ext('onPostStop', () => {
			stopped.abort();
			workers.close();
		});
		afterStart(server, () => void logSandbox(log, stopped.signal));
		const means = { workers, memoryBytes, findSandbox };
		const register = (name: string, renderer: Renderer) => server.providers.renderer.register(name, renderer);
		register('image', imageRenderer(means));
		const found = {
			ffmpeg: await installed(ffmpeg, 'videos have no thumbnails: the program is not installed', log),
			pdftoppm: await installed(pdftoppm, 'PDFs have no thumbnails: the program is not installed', log),
		};
		if (found.ffmpeg !== undefined) register('video', videoRenderer(found.ffmpeg, means));
		if (found.pdftoppm !== undefined) register('pdf', pdfRenderer(found.pdftoppm, means));
	},
});

/** How often it is looked for a sandbox that is not known: where none works that is found out by trying again. */
const retryMs = 60_000;

async function logSandbox(log: PluginLog, stopped: AbortSignal, isRepeated = false): Promise<void> {
	try {
		const sandbox = await findSandbox();
		if (sandbox?.kind === 'unknown') {
			if (!isRepeated) log.warn({}, 'the sandbox of thumbnails could not be found out: until it is, there are none');
			setTimeout(() => void (stopped.aborted || logSandbox(log, stopped, true)), retryMs).unref();
		} else if (sandbox !== undefined) {
			log.info({ sandbox: sandbox.description }, 'thumbnails are decoded in a sandbox');
		} else log.warn({}, 'thumbnails are decoded with limits only: neither bubblewrap nor Landlock works here');
	} catch (error) {
		// The next picture tries again.
		log.warn({ err: error }, 'the sandbox of thumbnails could not be found out');
	}
}

async function installed(name: string | false, message: string, log: PluginLog): Promise<string | undefined> {
	if (name === false) return undefined;
	const found = await findProgram(name);
	if (found === undefined) log.info({ program: name }, message);
	return found;
}
