import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readlink, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { handbrakeStatus, ResultOf } from '@stowage/contract';
import { logLines } from '../../../packages/core/test/logLines.js';
import { Client, json, type TestApp, testApp } from '../../../packages/core/test/testApp.js';
import { until } from '../../../packages/core/test/until.js';

const run = promisify(execFile);

/** How the programs for films can run, as options of the plugin and of `findSandbox`. */
export const places = {
	bubblewrap: { landlock: false },
	Landlock: { bwrap: false },
	'no sandbox': { bwrap: false, landlock: false },
} as const;

export type Place = keyof typeof places;

/** The options of a server that converts in this place. */
export const optionsFor = (place: Place) => ({
	...places[place],
	...(place === 'no sandbox' ? { allowWithoutSandbox: true } : {}),
});

export type Status = ResultOf<typeof handbrakeStatus>;

export interface Site {
	app: TestApp;
	alice: Client;
	home: string;
	staging: string;
	/** The messages in the log. */
	lines: string[];
	/** Names in a home, but for its public folder. */
	names(user?: string): Promise<string[]>;
}

type Teardown = { teardown(end: () => Promise<void>): void };

/** A server that converts, with one user. */
export async function site(
	t: Teardown,
	options: Record<string, unknown> = {},
	flags: Record<string, string> = {},
	filesDir?: string,
): Promise<Site> {
	const { log, lines } = logLines();
	const plugins = JSON.stringify({
		'@stowage/auth-password': { memoryKiB: 19456, iterations: 2, parallelism: 1 },
		'@stowage/handbrake': options,
		...(filesDir === undefined ? {} : { '@stowage/storage-local': { root: filesDir } }),
	});
	const app = await testApp(t, { '--plugins': plugins, ...flags }, { log });
	const alice = await new Client(app).register('alice');
	const files = filesDir ?? app.filesDir;
	const users = path.join(files, 'users');
	return {
		app,
		alice,
		home: path.join(users, 'alice'),
		staging: path.join(files, '.stowage/staging'),
		lines,
		names: (user = 'alice') => namesIn(path.join(users, user)),
	};
}

const namesIn = async (home: string) => (await readdir(home)).filter((name) => name !== 'Public').sort();

const ends: (() => Promise<void>)[] = [];
let shared: Promise<Site> | undefined;
let users = 0;

/**
 * A new user of one server for all tests of a process, which converts two films at once: each server tries its programs
 * when it starts, which costs as much as the conversion of a short film.
 */
export async function siteOfUser(): Promise<Pick<Site, 'home' | 'names'> & { client: Client }> {
	shared ??= site({ teardown: (end) => ends.push(end) }, { concurrency: 2 });
	const { app, home } = await shared;
	const name = `user${users++}`;
	const client = await new Client(app).register(name);
	const own = path.join(path.dirname(home), name);
	return { client, home: own, names: () => namesIn(own) };
}

/** After the last test: ends that server and removes the films. */
export async function endAll(): Promise<void> {
	for (const end of ends) await end();
	await removeFilms();
}

export interface ConversionRequest {
	filePath: string;
	outputFormat?: string;
	quality?: number;
	deleteOriginal?: boolean;
	customOutputName?: string;
	type?: string;
	owner?: string | null;
}

export const requestConversion = (client: Client, request: ConversionRequest) =>
	client.post('/api/handbrake/convert', { outputFormat: 'mp4', quality: 30, deleteOriginal: false, ...request });

/** Begins a conversion; resolves to its id. */
export async function begin(client: Client, request: ConversionRequest): Promise<string> {
	const answer = await requestConversion(client, request);
	if (answer.statusCode !== 202) throw new Error(`The conversion was not begun: ${answer.payload}`);
	return json(answer).conversionId;
}

export async function statusOf(client: Client, id: string): Promise<Status> {
	return json(await client.get(`/api/handbrake/status/${id}`));
}

/** The encoders run at the lowest priority: beside other tests dozens of films share what those leave. */
const longestMs = 12 * 60_000;

/** Waits for the end of a conversion. */
export async function end(client: Client, id: string): Promise<Status> {
	const ended = async () => {
		const status = await statusOf(client, id);
		return ['queued', 'processing'].includes(status.status) ? undefined : status;
	};
	return (await until('the conversion ends', ended, longestMs, 250)) as Status;
}

export const cancel = (client: Client, id: string) => client.post(`/api/handbrake/cancel/${id}`, {});

export async function convert(client: Client, request: ConversionRequest): Promise<Status> {
	return end(client, await begin(client, request));
}

/** A folder of this process for the films that several tests convert. */
const films = mkdtemp(path.join(os.tmpdir(), 'stowage-films-'));

export async function removeFilms(): Promise<void> {
	await rm(await films, { recursive: true, force: true });
}

/** By their names. */
const made = new Map<string, { args: string; making: Promise<unknown> }>();

/**
 * Puts a film at a path. ffmpeg makes each film once, by these arguments and the name of its output, of which other films may be made:
 * without arguments it is one that was made before.
 */
export async function film(name: string, args: readonly string[], at: string): Promise<void> {
	const file = path.join(await films, name);
	const known = made.get(name) ?? {
		args: args.join(' '),
		making: run('ffmpeg', ['-v', 'error', '-y', ...args, file], { cwd: await films }),
	};
	made.set(name, known);
	if (args.length > 0 && known.args !== args.join(' ')) throw new Error(`There is another film ${name}.`);
	await known.making;
	await mkdir(path.dirname(at), { recursive: true });
	await copyFile(file, at);
}

const twoLines = '1\n00:00:00,200 --> 00:00:00,900\nHello\n\n2\n00:00:01,000 --> 00:00:01,900\nWorld\n';

/** Writes a text that films are made of: subtitles, or another one. */
export async function subtitles(name: string, text = twoLines): Promise<void> {
	await writeFile(path.join(await films, name), text);
}

export const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];

/** Moving colours; `size` such as `160x90`. */
export const picture = (size: string, seconds: number, rate = 25) => [
	'-f',
	'lavfi',
	'-i',
	`testsrc=s=${size}:r=${rate}:d=${seconds}`,
];

export const tone = (hertz: number, seconds: number) => ['-f', 'lavfi', '-i', `sine=${hertz}:d=${seconds}`];

interface Tagged {
	tags?: { creation_time?: string; handler_name?: string };
}

interface Stream extends Tagged {
	codec_type: string;
	codec_name: string;
	width?: number;
	height?: number;
	display_aspect_ratio?: string;
	color_space?: string;
	channels?: number;
	side_data_list?: { rotation?: number }[];
}

interface Probed {
	streams: Stream[];
	seconds: number;
	codecs: string[];
	/** Of the file and of those of its tracks that have one. */
	creationTimes: string[];
	/** What is said of the film. */
	tags: Readonly<Record<string, string>>;
}

/** The streams, the duration and the times of the making of a file, by ffprobe. */
export async function probe(file: string): Promise<Probed> {
	const args = ['-v', 'error', '-show_streams', '-show_format', '-of', 'json', file];
	const found = JSON.parse((await run('ffprobe', args)).stdout) as {
		streams: Stream[];
		format: { duration: string } & Tagged;
	};
	return {
		tags: found.format.tags ?? {},
		creationTimes: [found.format, ...found.streams].flatMap(({ tags = {} }) => tags.creation_time ?? []),
		streams: found.streams,
		seconds: Number(found.format.duration),
		codecs: found.streams.map(({ codec_name }) => codec_name),
	};
}

/** The times of the frames, in milliseconds. */
export async function frameTimes(file: string): Promise<number[]> {
	const args = ['-v', 'error', '-select_streams', 'v:0', '-show_entries', 'frame=pts_time', '-of', 'csv=p=0', file];
	const { stdout } = await run('ffprobe', args);
	return stdout
		.split('\n')
		.filter(Boolean)
		.map((line) => Math.round(Number.parseFloat(line) * 1000));
}

/** The brightness of a pixel of the first frame, in a picture of one channel. */
export async function brightness(file: string, x: number, y: number): Promise<number> {
	const args = [
		'-v',
		'error',
		'-i',
		file,
		'-vf',
		`format=gray,crop=2:2:${x}:${y}`,
		'-frames:v',
		'1',
		'-f',
		'rawvideo',
		'-',
	];
	const { stdout } = await run('ffmpeg', args, { encoding: 'buffer' });
	return stdout[0] ?? -1;
}

/** Ids of the processes that hold a file below a folder open, other than this one. */
export async function holders(folder: string): Promise<number[]> {
	const found: number[] = [];
	for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)) {
		const open = await readdir(`/proc/${pid}/fd`).catch(() => []);
		for (const fd of open) {
			const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
			if (!target.startsWith(`${folder}/`)) continue;
			found.push(Number(pid));
			break;
		}
	}
	return found;
}

/** Waits until an encoder writes a staged file; resolves to its process id. */
export function encoderIn(staging: string): Promise<number> {
	return until('the encoder writes', async () => {
		for (const pid of await holders(staging)) {
			const program = await readlink(`/proc/${pid}/exe`).catch(() => '');
			if (!path.basename(program).startsWith('HandBrake')) continue;
			const at = await readdir(`/proc/${pid}/fd`).catch(() => []);
			const open = await Promise.all(at.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
			// Once as the lent descriptor, once opened by the encoder itself.
			if (open.filter((target) => target.startsWith(staging)).length > 1) return pid;
		}
		return undefined;
	}) as Promise<number>;
}
