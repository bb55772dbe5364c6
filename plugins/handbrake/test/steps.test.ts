import { once } from 'node:events';
import { read, writeFileSync, writeSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
	Failure,
	type Files,
	isFailure,
	type JobContext,
	type JobProgress,
	parsePath,
	type StagedFile,
	statIfPresent,
	type Viewer,
} from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { Client, type TestApp, testApp } from '../../../packages/core/test/testApp.js';
import type { Conversion } from '../src/conversion.js';
import { convert } from '../src/convert.js';
import { EncodedReceipts } from '../src/EncodedReceipts.js';
import type { HandBrake } from '../src/HandBrake.js';
import type { ProgramRun } from '../src/SandboxedProgram.js';

const readAt = promisify(read);

/** A file whose first bytes are those of a video container. */
const film = Buffer.from('\0\0\0\x14ftypisom\0\0\x02\0isom\0\0\0\x14mdatthe original');
const converted = `converted ${film.toString()}`;

/** An encoder that copies, and finds two seconds of video in everything. */
const quickEncoder = {
	options: { mayUseHardware: false },
	async run(args: readonly string[], { files = [], onLogLine }: ProgramRun) {
		if (args.includes('--scan')) {
			const title = { Duration: { Ticks: 180_000 }, Geometry: { Width: 320, Height: 180 } };
			return { code: 0, output: `JSON Title Set: ${JSON.stringify({ TitleList: [title] })}`, log: [] };
		}
		const [source = -1, target = -1] = files;
		const { bytesRead, buffer } = await readAt(source, Buffer.alloc(1000), 0, 1000, 0);
		writeSync(target, `converted ${buffer.toString('utf8', 0, bytesRead)}`, 0);
		onLogLine?.('[00:00:00] h264-decoder done: 50 frames, 0 decoder errors');
		return { code: 0, output: '', log: [] };
	},
};

/** Finds a film of two seconds in everything. */
const quickProber = {
	async run(args: readonly string[], { onLine }: ProgramRun) {
		const stream = { index: 0, codec_type: 'video', width: 320, height: 180, avg_frame_rate: '25/1', nb_frames: '50' };
		const found = { format: { format_name: 'mov,mp4', duration: '2.000' }, streams: [stream] };
		if (onLine === undefined) return { code: 0, output: JSON.stringify(found), log: [] };
		const isDecoding = args.some((word) => word.includes('frame='));
		for (let frame = 0; frame < 50; frame++) {
			const time = frame / 25;
			onLine(isDecoding ? `stream_index=0|pts_time=${time}` : `0,${time},${time},0.04,9,${9 * frame},K_`);
		}
		// The number of streams.
		if (!isDecoding) onLine('1');
		return { code: 0, output: '', log: [] };
	},
};

/** Rejects once the signal has fired. */
async function untilAborted(signal: AbortSignal): Promise<never> {
	if (!signal.aborted) await once(signal, 'abort');
	throw signal.reason;
}

const handbrakeWith = (encoder: typeof quickEncoder, decoder = quickProber) =>
	({
		find: async () => ({
			installed: {
				...{ version: '1', encoders: async () => new Set(['x264', 'av_aac']), encoder },
				...{ ffprobe: quickProber, decoder },
			},
		}),
	}) as unknown as HandBrake;

/** The calls of a process that is killed at the n-th one, before or after its effect. */
class KillableProcess {
	calls = 0;
	isOver = false;

	constructor(
		readonly last = Number.POSITIVE_INFINITY,
		readonly when: 'before' | 'after' = 'before',
	) {}

	async call<T>(effect: () => T | Promise<T>): Promise<T> {
		if (this.isOver) throw new Error('The process has ended.');
		this.calls++;
		if (this.calls < this.last) return effect();
		this.isOver = true;
		if (this.when === 'after') await effect();
		throw new Error('The process was killed.');
	}

	/** The same object, whose calls are calls of this process. */
	guard<T extends object>(target: T): T {
		const killable = this;
		return new Proxy(target, {
			get(_, name) {
				const value: unknown = Reflect.get(target, name);
				if (typeof value !== 'function') return value;
				if (name === 'stat' || name === 'listWithStats') {
					return async function* (...args: unknown[]) {
						await killable.call(() => {});
						yield* value.apply(target, args);
					};
				}
				return (...args: unknown[]) => killable.call(() => value.apply(target, args));
			},
		});
	}
}

const log = { info() {}, warn() {}, error() {} };

/** By default without a trash, whose notes lie in staging for a moment. */
async function setUp(t: ExecutionContext, keepFor = '0') {
	const app = await testApp(t, { '--trash-keep-for': keepFor });
	await new Client(app).register('alice');
	const { id } = (await app.services.database.users.find('alice')) ?? { id: '' };
	return {
		app,
		viewer: { kind: 'user', id, username: 'alice' } as const,
		home: path.join(app.filesDir, 'users/alice'),
	};
}

/** The film as it is now; undefined if there is none. */
async function stated(files: Files, viewer: Viewer, requested: Pick<Conversion, 'area' | 'path'>) {
	const item = await statIfPresent(files, viewer, { ...requested, path: parsePath(requested.path) });
	return item && { id: item.id, version: item.version, size: item.size, mtime: item.mtime };
}

const receiptsOf = (app: TestApp) => path.join(app.dataDir, 'conversions');

interface RunOptions {
	app: TestApp;
	viewer: JobContext<Conversion>['viewer'];
	input: Partial<Conversion>;
	killable?: KillableProcess;
	/** The checkpoint, and the film as it was requested: as it lies there at the first run. */
	saved?: { value: unknown; source?: Conversion['source'] };
	attempt?: number;
	encoder?: typeof quickEncoder;
	handbrake?: HandBrake;
	maxMs?: number;
	onProgress?: (progress: JobProgress) => void;
	/** What failed conversions of the user have saved. */
	failed?: { value: unknown }[];
	privately?: JobContext<Conversion>['privately'];
	/** Fires when its owner cancels it. */
	cancelled?: AbortSignal;
}

async function run({
	app,
	viewer,
	input,
	killable = new KillableProcess(),
	saved = { value: undefined },
	attempt = 1,
	encoder = quickEncoder,
	handbrake = handbrakeWith(encoder),
	maxMs: timeLimitMs = 600_000,
	onProgress = () => {},
	failed = [],
	privately = (work) => work(),
	cancelled = new AbortController().signal,
}: RunOptions) {
	const { files } = app.services;
	const requested = { area: 'private', path: 'film.mp4', ...input } as const;
	saved.source ??= await stated(files, viewer, requested);
	const killableFiles: Files = killable.guard({
		...files,
		stage: async (...given) => killable.guard<StagedFile>(await files.stage(...given)),
	});
	const job: JobContext<Conversion> = {
		id: 'job',
		viewer,
		input: {
			...(saved.source === undefined ? {} : { source: saved.source }),
			outputName: 'film.mp4',
			format: 'mp4',
			quality: 28,
			deleteOriginal: true,
			...requested,
		},
		attempt,
		saved: saved.value,
		signal: cancelled,
		get isCancelled() {
			return cancelled.aborted;
		},
		checkpoint: (value) =>
			killable.call(() => {
				saved.value = JSON.parse(JSON.stringify(value));
			}),
		privately,
		expect: async () => {},
		progress: onProgress,
	};
	const receipts = new EncodedReceipts(receiptsOf(app), log);
	return convert(job, {
		files: killableFiles,
		handbrake,
		log,
		temporaryFolder: app.dataDir,
		timeLimitMs,
		async takeSaved(_owner, isChosen) {
			const taken = failed.filter(({ value }) => isChosen(value));
			return taken.map((each) => {
				const { value } = each;
				each.value = undefined;
				return value;
			});
		},
		receipts,
	});
}

test('a conversion encodes, and saves that it has, as private work, and publishes and removes outside of it', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	let isPrivate = false;
	const privately = async <T>(work: () => Promise<T>): Promise<T> => {
		isPrivate = true;
		try {
			return await work();
		} finally {
			isPrivate = false;
		}
	};
	const steps: unknown[] = [];
	const saved = {
		get value() {
			return undefined;
		},
		set value(value: { step: string } | undefined) {
			steps.push([value?.step, isPrivate]);
		},
	};
	await run({ app, viewer, input: {}, saved, privately, onProgress: () => t.true(isPrivate) });
	t.deepEqual(steps, [
		['encoding', false],
		['encoded', true],
		['published', false],
		['published', false],
	]);
	t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), converted);
});

const files = async (home: string) => (await readdir(home)).filter((name) => name !== 'Public').sort();

const survives = test.macro(async (t, when: 'before' | 'after') => {
	const { app, viewer, home } = await setUp(t);
	const staging = path.join(app.filesDir, '.stowage/staging');
	let kills = 0;
	for (let last = 1; ; last++) {
		await writeFile(path.join(home, 'film.mp4'), film);
		const killable = new KillableProcess(last, when);
		const saved = { value: undefined };
		const first = await run({ app, viewer, input: {}, killable, saved }).catch(() => undefined);
		if (!killable.isOver) {
			t.truthy(first);
			break;
		}
		kills++;
		const whole: string[] = [];
		for (const name of await files(home)) whole.push(await readFile(path.join(home, name), 'utf8'));
		t.true(whole.includes(film.toString()) || whole.includes(converted), `killed at call ${last}: ${whole.join()}`);
		const second = await run({ app, viewer, input: {}, saved, attempt: 2 });
		t.like(second, { outputPath: 'film.mp4', isOriginalDeleted: true, sizeBefore: film.length }, `call ${last}`);
		t.deepEqual(await files(home), ['film.mp4'], `killed at call ${last}`);
		t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), converted);
		const left = await readdir(staging);
		// Only an empty staged file may be left: it is swept like those of uploads.
		if (last > 5) t.deepEqual(left, [], `killed at call ${last}`);
		for (const name of left) t.is((await readFile(path.join(staging, name))).length, 0);
		for (const name of left) await rm(path.join(staging, name));
		await rm(path.join(home, 'film.mp4'));
	}
	t.true(kills >= 12, `${kills} kills`);
});

test('a conversion that is killed before any of its steps loses nothing and makes one output', survives, 'before');
test('a conversion that is killed after any of its steps loses nothing and makes one output', survives, 'after');

const changes: Readonly<Record<string, (at: string) => Promise<void>>> = {
	overwritten: (at) => writeFile(at, 'another content'),
	replaced: async (at) => {
		await writeFile(`${at}.new`, 'another content');
		await rename(`${at}.new`, at);
	},
	'moved away and replaced': async (at) => {
		await rename(at, path.join(path.dirname(at), 'Public', 'moved.mp4'));
		await writeFile(at, 'another content');
	},
};

for (const [what, change] of Object.entries(changes)) {
	test(`a conversion does not remove an original that was ${what} during it`, async (t) => {
		const { app, viewer, home } = await setUp(t);
		const at = path.join(home, 'film.mp4');
		await writeFile(at, film);
		const saved = { value: undefined };
		const input = { outputName: 'out.mp4' };
		await run({ app, viewer, input: { ...input, deleteOriginal: false }, saved });
		await change(at);
		t.like(await run({ app, viewer, input, saved }), { outputPath: 'out.mp4', isOriginalDeleted: false });
		t.is(await readFile(at, 'utf8'), 'another content');
		t.deepEqual(await files(home), ['film.mp4', 'out.mp4']);
	});
}

const losing: Readonly<Record<string, (at: string) => Promise<void>>> = {
	deleted: (at) => rm(at),
	changed: (at) => writeFile(at, 'something else'),
	replaced: async (at) => {
		await rm(at);
		await writeFile(at, 'x'.repeat(Buffer.byteLength(converted)));
	},
};

for (const [what, change] of Object.entries(losing)) {
	test(`a conversion that goes on once its new file was ${what} keeps the original, and says so`, async (t) => {
		const { app, viewer, home } = await setUp(t);
		await writeFile(path.join(home, 'film.mp4'), film);
		const saved = { value: undefined };
		const input = { outputName: 'out.mp4' };
		await run({ app, viewer, input: { ...input, deleteOriginal: false }, saved });
		await change(path.join(home, 'out.mp4'));
		const sentence =
			'The video was converted to out.mp4, but the original could not be deleted. out.mp4 was deleted or changed meanwhile, so the original is kept.';
		await t.throwsAsync(run({ app, viewer, input, saved, attempt: 2 }), { message: sentence });
		t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), film.toString());
		// Also in a run whose last one had begun with the removal.
		saved.value = { ...(saved.value as unknown as object), isRemoving: true } as never;
		await t.throwsAsync(run({ app, viewer, input, saved, attempt: 3 }), { message: sentence });
		t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), film.toString());
	});
}

test('a conversion that goes on once its new file has another name or place finds it, and deletes the original', async (t) => {
	for (const place of ['holidays.mp4', 'deep/er/out.mp4', 'Public/out.mp4']) {
		const { app, viewer, home } = await setUp(t);
		await mkdir(path.join(home, 'films'));
		await mkdir(path.join(home, path.dirname(place)), { recursive: true });
		await writeFile(path.join(home, 'films/film.mp4'), film);
		const saved = { value: undefined };
		const input = { path: 'films/film.mp4', outputName: 'out.mp4' };
		await run({ app, viewer, input: { ...input, deleteOriginal: false }, saved });
		await rename(path.join(home, 'films/out.mp4'), path.join(home, place));
		const result = await run({ app, viewer, input, saved, attempt: 2 });
		t.like(result, { outputPath: place, isOriginalDeleted: true });
		t.deepEqual(await readdir(path.join(home, 'films')), []);
		t.is(await readFile(path.join(home, place), 'utf8'), converted);
	}
});

test('a conversion that is cancelled before it goes on, or as it saves that it removes its original, removes nothing', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const saved = { value: undefined };
	const input = { outputName: 'out.mp4' };
	await run({ app, viewer, input: { ...input, deleteOriginal: false }, saved });
	const cancel = () => AbortSignal.abort(new Failure('conflict', 'It was cancelled.'));
	await t.throwsAsync(run({ app, viewer, input, saved: { ...saved }, attempt: 2, cancelled: cancel() }));
	t.deepEqual(await files(home), ['film.mp4', 'out.mp4']);
	const controller = new AbortController();
	const cancelling = {
		get value() {
			return saved.value;
		},
		set value(step: unknown) {
			if ((step as { isRemoving?: boolean }).isRemoving) controller.abort(new Failure('conflict', 'It was cancelled.'));
		},
	};
	await t.throwsAsync(run({ app, viewer, input, saved: cancelling, attempt: 2, cancelled: controller.signal }));
	t.deepEqual(await files(home), ['film.mp4', 'out.mp4']);
	t.like(await run({ app, viewer, input, saved, attempt: 3 }), { outputPath: 'out.mp4', isOriginalDeleted: true });
});

/** An encoder that does something once it has encoded, and counts how often it has. */
function encoderBefore(then: () => Promise<unknown> = async () => {}) {
	const encoder = {
		...quickEncoder,
		encoded: 0,
		async run(...[args, options]: Parameters<typeof quickEncoder.run>) {
			const done = await quickEncoder.run(args, options);
			if (args.includes('--scan')) return done;
			encoder.encoded++;
			await then();
			return done;
		},
	};
	return encoder;
}

const stagedIn = (app: TestApp) => readdir(path.join(app.filesDir, '.stowage/staging'));

/** Makes the next calls of `publishOnce` fail. */
function refuse(app: TestApp, refusals: Failure[]): void {
	const { publishOnce } = app.services.files;
	app.services.files.publishOnce = async (...given) => {
		const refusal = refusals.shift();
		if (refusal !== undefined) throw refusal;
		return publishOnce(...given);
	};
}

const full = () => new Failure('storageFull', 'You may keep 1 GB here, and 0 B of that is left.');
const locked = () =>
	new Failure('locked', 'These files are being moved to another disk. Please try again in a moment.');

test('a conversion whose home is frozen as its new file is published, or its original deleted, waits for that', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	refuse(app, [locked()]);
	const { remove, rename: renameItem } = app.services.files;
	let isFrozen = true;
	app.services.files.remove = async (...given) => {
		if (isFrozen) {
			isFrozen = false;
			throw locked();
		}
		return remove(...given);
	};
	let isRefused = true;
	app.services.files.rename = async (...given) => {
		if (isRefused) {
			isRefused = false;
			throw locked();
		}
		return renameItem(...given);
	};
	const encoder = encoderBefore();
	t.like(await run({ app, viewer, input: {}, encoder }), { outputPath: 'film.mp4', isOriginalDeleted: true });
	t.deepEqual([isFrozen, isRefused, encoder.encoded], [false, false, 1]);
	t.deepEqual(await files(home), ['film.mp4']);
	t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), converted);
});

test('a conversion whose new file does not fit any more as it is published keeps it, and tried again encodes nothing', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	refuse(app, [full(), full()]);
	const saved = { value: undefined };
	const encoder = encoderBefore();
	const given = { app, viewer, input: {}, saved, encoder };
	await t.throwsAsync(run(given), { message: full().message });
	await t.throwsAsync(run({ ...given, attempt: 2 }), { message: full().message });
	t.is((await stagedIn(app)).length, 1);
	t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), film.toString());
	t.like(await run({ ...given, attempt: 3 }), { outputPath: 'film.mp4', isOriginalDeleted: true });
	t.is(encoder.encoded, 1);
	t.deepEqual(await stagedIn(app), []);
	t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), converted);
});

test('of the failed conversions of a user whose new files could not be published the last one keeps it, and those that go on', async (t) => {
	const { app, viewer, home } = await setUp(t);
	const failed: { value: unknown }[] = [];
	const encoder = encoderBefore();
	const fails = async (name: string) => {
		await writeFile(path.join(home, name), film);
		refuse(app, [full()]);
		const saved = { value: undefined as unknown };
		await t.throwsAsync(run({ app, viewer, input: { path: name, outputName: name }, saved, failed, encoder }));
		return saved;
	};
	const goingOn = await fails('a.mp4');
	const former = await fails('b.mp4');
	failed.push(former);
	const last = await fails('c.mp4');
	t.is(former.value, undefined);
	const idOf = ({ value }: { value: unknown }) => (value as { staged: string }).staged;
	const nameOf = (saved: { value: unknown }) => idOf(saved).split('-')[0];
	t.deepEqual((await stagedIn(app)).sort(), [nameOf(goingOn), nameOf(last)].sort());
	const given = { app, viewer, input: { path: 'a.mp4', outputName: 'a.mp4' }, encoder };
	t.like(await run({ ...given, saved: goingOn, attempt: 2 }), { outputPath: 'a.mp4', isOriginalDeleted: true });
	t.is(encoder.encoded, 3);
	// A day after it was written a sweep removes what no job that goes on names.
	t.false(await app.services.database.jobs.isInCheckpoint(idOf(last)));
});

test('a conversion whose folder is renamed or moved while it encodes publishes its new file there', async (t) => {
	for (const place of ['renamed', 'deep/er/films']) {
		const { app, viewer, home } = await setUp(t);
		await mkdir(path.join(home, 'films'));
		await mkdir(path.join(home, path.dirname(place)), { recursive: true });
		await writeFile(path.join(home, 'films/film.mov'), film);
		const encoder = encoderBefore(() => rename(path.join(home, 'films'), path.join(home, place)));
		const result = await run({ app, viewer, input: { path: 'films/film.mov' }, encoder });
		t.like(result, { outputPath: `${place}/film.mp4`, isOriginalDeleted: false });
		t.deepEqual(await files(path.join(home, place)), ['film.mov', 'film.mp4']);
		t.deepEqual(await stagedIn(app), []);
	}
});

test('a conversion whose folder is deleted while it encodes keeps its new file until there is such a folder again', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await mkdir(path.join(home, 'films'));
	await writeFile(path.join(home, 'films/film.mov'), film);
	const saved = { value: undefined };
	const encoder = encoderBefore(() => rm(path.join(home, 'films'), { recursive: true }));
	const given = { app, viewer, input: { path: 'films/film.mov' }, saved, encoder };
	const error = await t.throwsAsync(run(given));
	t.true(isFailure(error, 'notFound'));
	t.is((await stagedIn(app)).length, 1);
	await mkdir(path.join(home, 'films'));
	t.like(await run({ ...given, attempt: 2 }), { outputPath: 'films/film.mp4', isOriginalDeleted: false });
	t.is(encoder.encoded, 1);
	t.is(await readFile(path.join(home, 'films/film.mp4'), 'utf8'), converted);
});

/** As where the server stops, or is killed, during an outage of the database. */
const unsaved = async <T>(work: () => Promise<T>): Promise<T> => {
	await work();
	throw new Failure('unavailable', 'The server is stopping.');
};

test('what is encoded whole as the database is away is published by the next run, also of another process', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const saved: { value: unknown } = { value: undefined };
	const encoder = encoderBefore();
	const given = { app, viewer, input: {}, saved, encoder };
	await t.throwsAsync(run({ ...given, privately: unsaved }), { message: 'The server is stopping.' });
	t.like(saved.value, { step: 'encoding' });
	t.is((await stagedIn(app)).length, 1);
	t.like(await run({ ...given, attempt: 2 }), { outputPath: 'film.mp4', isOriginalDeleted: true });
	t.is(encoder.encoded, 1);
	t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), converted);
	t.deepEqual(await stagedIn(app), []);
	t.deepEqual(await readdir(receiptsOf(app)), []);
});

for (const [what, spoil] of Object.entries<(at: string, name: string) => Promise<void>>({
	'of another run': (at, name) => rename(path.join(at, name), path.join(at, 'another.json')),
	'that names another file': async (at, name) => {
		const receipt = JSON.parse(await readFile(path.join(at, name), 'utf8'));
		await writeFile(path.join(at, name), JSON.stringify({ ...receipt, staged: 'another' }));
	},
	'that is damaged': (at, name) => writeFile(path.join(at, name), '{'),
})) {
	test(`a note of what is encoded ${what} counts for nothing`, async (t) => {
		const { app, viewer, home } = await setUp(t);
		await writeFile(path.join(home, 'film.mp4'), film);
		const saved = { value: undefined };
		const encoder = encoderBefore();
		const given = { app, viewer, input: {}, saved, encoder };
		await t.throwsAsync(run({ ...given, privately: unsaved }));
		const [name = ''] = await readdir(receiptsOf(app));
		await spoil(receiptsOf(app), name);
		t.like(await run({ ...given, attempt: 2 }), { outputPath: 'film.mp4', isOriginalDeleted: true });
		t.is(encoder.encoded, 2);
		t.deepEqual(await stagedIn(app), []);
	});
}

test('a conversion that is cancelled before it goes on with what was encoded leaves neither that nor a note of it', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const saved = { value: undefined };
	await t.throwsAsync(run({ app, viewer, input: {}, saved, privately: unsaved }));
	t.is((await readdir(receiptsOf(app))).length, 1);
	const cancelled = AbortSignal.abort(new Failure('conflict', 'It was cancelled.'));
	await t.throwsAsync(run({ app, viewer, input: {}, saved, attempt: 2, cancelled }), { message: 'It was cancelled.' });
	t.deepEqual(await files(home), ['film.mp4']);
	t.deepEqual(await stagedIn(app), []);
	t.deepEqual(await readdir(receiptsOf(app)), []);
});

test('a note of what is encoded that nobody needs any more is removed', async (t) => {
	const { app } = await setUp(t);
	const receipts = new EncodedReceipts(receiptsOf(app), log);
	await receipts.sweep(Date.now());
	await receipts.write({
		...{ step: 'encoded', staged: 'one', source: { id: 'a', version: 'b' } },
		...{ sizeBefore: 2, sizeAfter: 1, losses: [] },
	});
	const day = 24 * 60 * 60_000;
	await receipts.sweep(Date.now() + 29 * day);
	t.like(await receipts.after({ step: 'encoding', staged: 'one' }), { step: 'encoded' });
	// A storage root that was added there before that was refused.
	await mkdir(path.join(receiptsOf(app), '.stowage'));
	await receipts.sweep(Date.now() + 31 * day);
	t.deepEqual(await readdir(receiptsOf(app)), ['.stowage']);
});

test('a conversion whose new file is no longer kept encodes it again', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	refuse(app, [full()]);
	const saved = { value: undefined };
	const encoder = encoderBefore();
	const given = { app, viewer, input: {}, saved, encoder };
	await t.throwsAsync(run(given));
	for (const name of await stagedIn(app)) await rm(path.join(app.filesDir, '.stowage/staging', name));
	t.like(await run({ ...given, attempt: 2 }), { outputPath: 'film.mp4', isOriginalDeleted: true });
	t.is(encoder.encoded, 2);
});

test('a conversion that is cancelled before what it has encoded was published publishes nothing, and leaves nothing', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	refuse(app, [full()]);
	const saved = { value: undefined };
	await t.throwsAsync(run({ app, viewer, input: {}, saved }));
	t.is((await stagedIn(app)).length, 1);
	const cancelled = AbortSignal.abort(new Failure('conflict', 'It was cancelled.'));
	await t.throwsAsync(run({ app, viewer, input: {}, saved, attempt: 2, cancelled }), { message: 'It was cancelled.' });
	t.deepEqual(await files(home), ['film.mp4']);
	t.deepEqual(await stagedIn(app), []);
});

test('a conversion whose original is renamed as it is to be deleted is completed, and keeps it', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const { files: calls } = app.services;
	const { remove } = calls;
	calls.remove = async (...given) => {
		await rename(path.join(home, 'film.mp4'), path.join(home, 'kept.mp4'));
		return remove(...given);
	};
	t.like(await run({ app, viewer, input: {} }), { outputPath: 'film.mp4', isOriginalDeleted: false });
	t.deepEqual(await files(home), ['film.mp4', 'kept.mp4']);
	t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), converted);
});

test('a conversion whose original is renamed during it does not say that it was deleted', async (t) => {
	const { app, viewer, home } = await setUp(t);
	const at = path.join(home, 'film.mp4');
	await writeFile(at, film);
	const encoder: typeof quickEncoder = {
		...quickEncoder,
		async run(args, options) {
			const done = await quickEncoder.run(args, options);
			if (!args.includes('--scan')) await rename(at, path.join(home, 'holidays.mp4'));
			return done;
		},
	};
	const result = await run({ app, viewer, input: {}, encoder });
	t.like(result, { outputPath: 'film.mp4', deletesOriginal: true, isOriginalDeleted: false });
	t.is(await readFile(at, 'utf8'), converted);
	t.is(await readFile(path.join(home, 'holidays.mp4'), 'utf8'), film.toString());
});

test('an original that is overwritten while a conversion saves that it removes it is kept', async (t) => {
	const { app, viewer, home } = await setUp(t);
	const at = path.join(home, 'film.mp4');
	await writeFile(at, film);
	const saved = {
		step: undefined as unknown,
		get value() {
			return this.step;
		},
		set value(step) {
			this.step = step;
			if ((step as { isRemoving?: boolean }).isRemoving === true) writeFileSync(at, 'another content');
		},
	};
	const result = await run({ app, viewer, input: { outputName: 'out.mp4' }, saved });
	t.like(result, { outputPath: 'out.mp4', isOriginalDeleted: false });
	t.is(await readFile(at, 'utf8'), 'another content');
});

/** What a waiting conversion finds in place of its film, and what it says then. */
const replaced: Readonly<Record<string, { change(at: string): Promise<void>; error: RegExp; left: string[] }>> = {
	'was renamed, and got another film under its name': {
		change: async (at) => {
			await rename(at, path.join(path.dirname(at), 'Public', 'old cut.mp4'));
			await writeFile(at, `${film} of later`);
			await rm(path.join(path.dirname(at), 'Public', 'old cut.mp4'));
		},
		error: /^film\.mp4 was replaced by another file after its conversion was requested\.$/,
		left: ['film.mp4'],
	},
	'was overwritten': {
		change: (at) => writeFile(at, `${film} of later`),
		error: /^film\.mp4 was changed after its conversion was requested\.$/,
		left: ['film.mp4'],
	},
	'was deleted': { change: (at) => rm(at), error: /film\.mp4/, left: [] },
};

for (const [what, { change, error, left }] of Object.entries(replaced)) {
	test(`a conversion whose film ${what} while it waited says so, and converts and deletes nothing`, async (t) => {
		const { app, viewer, home } = await setUp(t);
		const at = path.join(home, 'film.mp4');
		await writeFile(at, film);
		const saved = { value: undefined, source: await stated(app.services.files, viewer, filmAt) };
		await change(at);
		const encoder = encoderBefore();
		for (const attempt of [1, 2])
			await t.throwsAsync(run({ app, viewer, input: {}, saved, attempt, encoder }), { message: error });
		t.is(encoder.encoded, 0);
		t.deepEqual(await files(home), left);
		t.deepEqual(await stagedIn(app), []);
	});
}

const filmAt = { area: 'private', path: 'film.mp4' } as const;

test('of two conversions of one film that both delete it the second one converts and deletes nothing', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const source = await stated(app.services.files, viewer, filmAt);
	const encoder = encoderBefore();
	const given = { app, viewer, input: {}, encoder };
	t.like(await run({ ...given, saved: { value: undefined, source } }), { isOriginalDeleted: true });
	await t.throwsAsync(run({ ...given, saved: { value: undefined, source } }), {
		message: /was replaced by another file/,
	});
	t.is(encoder.encoded, 1);
	t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), converted);
});

for (const [area, place] of [
	['private', 'deep/er/holidays.mp4'],
	['private', 'holidays.mp4'],
	['public', 'deep/holidays.mp4'],
] as const) {
	test(`a film that was moved to ${area}:${place} while its conversion waited is converted and deleted there`, async (t) => {
		const { app, viewer, home } = await setUp(t);
		const top = area === 'public' ? path.join(home, 'Public') : home;
		await mkdir(path.join(top, path.dirname(place)), { recursive: true });
		await mkdir(path.join(top, 'films'));
		await writeFile(path.join(top, 'films/film.mov'), film);
		const requested = { area, path: 'films/film.mov' } as const;
		const source = await stated(app.services.files, viewer, { ...requested, owner: 'alice' } as never);
		await rename(path.join(top, 'films/film.mov'), path.join(top, place));
		await writeFile(path.join(top, 'films/film.mov'), 'of somebody else');
		const result = await run({ app, viewer, input: requested, saved: { value: undefined, source } });
		const outputPath = path.join(path.dirname(place), 'film.mp4');
		t.like(result, { outputPath, isOriginalDeleted: true });
		t.is(await readFile(path.join(top, outputPath), 'utf8'), converted);
		t.is(await readFile(path.join(top, 'films/film.mov'), 'utf8'), 'of somebody else');
		t.false((await readdir(path.join(top, path.dirname(place)))).includes('holidays.mp4'));
	});
}

test('a film that has another id since its disk was mounted anew is converted, and kept', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const now = await stated(app.services.files, viewer, filmAt);
	const saved = { value: undefined, source: now && { ...now, id: 'another', version: 'another' } };
	const result = await run({ app, viewer, input: { outputName: 'out.mp4' }, saved });
	t.like(result, { outputPath: 'out.mp4', deletesOriginal: true, isOriginalDeleted: false });
	t.regex(result.keptReason ?? '', /another number/);
	t.deepEqual(await files(home), ['film.mp4', 'out.mp4']);
});

test('a conversion that an older version stored, without its film, converts what lies at its path, and keeps it', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const saved = {
		value: undefined,
		get source() {
			return undefined;
		},
		set source(_) {},
	};
	const result = await run({ app, viewer, input: { outputName: 'out.mp4' }, saved });
	t.like(result, { outputPath: 'out.mp4', isOriginalDeleted: false });
	t.regex(result.keptReason ?? '', /before an update/);
	t.deepEqual(await files(home), ['film.mp4', 'out.mp4']);
});

test('a conversion in a shared folder that its owner renames, before it begins or while it encodes, goes on there', async (t) => {
	for (const when of ['before', 'meanwhile'] as const) {
		const { app, viewer } = await setUp(t, '30 days');
		const bob = await new Client(app).register('bob');
		const home = path.join(app.filesDir, 'users/bob');
		await mkdir(path.join(home, 'Films'));
		await writeFile(path.join(home, 'Films/film.mp4'), film);
		const members = [{ username: 'alice', role: 'edit' }];
		t.is((await bob.call('PUT', '/api/members', { path: 'Films', members })).statusCode, 200);
		const shared = { area: 'shared', path: 'Films/film.mp4' } as const;
		const folderId = (await app.services.sharedFolders.joined(viewer.id))[0]?.folder.id ?? '';
		const saved = { value: undefined, source: await stated(app.services.files, viewer, shared) };
		const renameFolder = async () => {
			const renamed = await bob.post('/api/renameItem', { oldPath: 'Films', newName: 'Movies', type: 'private' });
			t.is(renamed.statusCode, 200, renamed.payload);
		};
		if (when === 'before') await renameFolder();
		const encoder = encoderBefore(when === 'meanwhile' ? renameFolder : undefined);
		const result = await run({ app, viewer, input: { ...shared, folderId }, saved, encoder });
		t.like(result, { outputPath: 'Movies/film.mp4', isOriginalDeleted: true }, when);
		t.deepEqual(await readdir(path.join(home, 'Movies')), ['film.mp4']);
		t.is(await readFile(path.join(home, 'Movies/film.mp4'), 'utf8'), converted);
	}
});

test('a conversion in a shared folder counts in the quota of its owner, however full the member’s own home is', async (t) => {
	for (const full of ['alice', 'bob']) {
		const { app, viewer } = await setUp(t);
		const bob = await new Client(app).register('bob');
		await app.services.accounts.setQuota(full, { bytes: 1, entries: null });
		const home = path.join(app.filesDir, 'users/bob/Films');
		await mkdir(home);
		await writeFile(path.join(home, 'film.mp4'), film);
		const members = [{ username: 'alice', role: 'edit' }];
		t.is((await bob.call('PUT', '/api/members', { path: 'Films', members })).statusCode, 200);
		const input = { area: 'shared', path: 'Films/film.mp4', deleteOriginal: false, outputName: 'out.mp4' } as const;
		const work = run({ app, viewer, input });
		if (full === 'alice') t.like(await work, { outputPath: 'Films/out.mp4' });
		else t.true(isFailure(await t.throwsAsync(work), 'storageFull'));
		t.deepEqual(await readdir(home), full === 'alice' ? ['film.mp4', 'out.mp4'] : ['film.mp4']);
		t.deepEqual(await stagedIn(app), []);
	}
});

test('an original that its user may not delete is known before hours of encoding, and later kept with the reason', async (t) => {
	const { app, viewer } = await setUp(t);
	const bob = await new Client(app).register('bob');
	const home = path.join(app.filesDir, 'users/bob/Films');
	await mkdir(home);
	await writeFile(path.join(home, 'film.mp4'), film);
	const members = [{ username: 'alice', role: 'edit' }];
	t.is((await bob.call('PUT', '/api/members', { path: 'Films', members })).statusCode, 200);
	const input = { area: 'shared', path: 'Films/film.mp4', outputName: 'out.mp4' } as const;
	const encoder = encoderBefore();
	// Without a trash nobody but the owner deletes anything.
	const keptReason = 'Only its owner can delete this forever.';
	await t.throwsAsync(run({ app, viewer, input, encoder }), { message: keptReason });
	t.is(encoder.encoded, 0);
	app.services.files.assertRemovable = async () => {};
	const result = await run({ app, viewer, input, encoder });
	t.like(result, { outputPath: 'Films/out.mp4', deletesOriginal: true, isOriginalDeleted: false, keptReason });
	t.deepEqual(await readdir(home), ['film.mp4', 'out.mp4']);
	t.deepEqual(await stagedIn(app), []);
});

test('a conversion in a folder that is no longer shared puts nothing into one of another owner that has its name, and deletes nothing there', async (t) => {
	const { app, viewer } = await setUp(t, '30 days');
	const owners = { bob: await new Client(app).register('bob'), carol: await new Client(app).register('carol') };
	const share = (owner: Client, members: object[]) => owner.call('PUT', '/api/members', { path: 'Films', members });
	const homeOf = (owner: string) => path.join(app.filesDir, 'users', owner, 'Films');
	for (const [owner] of Object.entries(owners)) {
		await mkdir(homeOf(owner));
		await writeFile(path.join(homeOf(owner), 'film.mp4'), film);
	}
	const member = [{ username: 'alice', role: 'edit' }];
	t.is((await share(owners.bob, member)).statusCode, 200);
	const shared = { area: 'shared', path: 'Films/film.mp4' } as const;
	let folderId: string | undefined;
	for await (const item of app.services.files.stat(viewer, 'shared', [{ path: parsePath(shared.path) }]))
		folderId = item.folderId;
	t.is(folderId, (await app.services.sharedFolders.joined(viewer.id))[0]?.folder.id);
	const input: Partial<Conversion> = { ...shared, ...(folderId === undefined ? {} : { folderId }) };
	const encoder: typeof quickEncoder = {
		...quickEncoder,
		async run(args, options) {
			const done = await quickEncoder.run(args, options);
			if (args.includes('--scan')) return done;
			await share(owners.bob, []);
			t.is((await share(owners.carol, member)).statusCode, 200);
			return done;
		},
	};
	const isGone = { message: 'This is not shared with you any more.' };
	await t.throwsAsync(run({ app, viewer, input, encoder }), isGone);
	await t.throwsAsync(run({ app, viewer, input }), isGone);
	for (const [owner] of Object.entries(owners)) {
		t.deepEqual(await files(homeOf(owner)), ['film.mp4']);
		t.is(await readFile(path.join(homeOf(owner), 'film.mp4'), 'utf8'), film.toString());
	}
});

test('a conversion does not replace a file that has the wished name of its output', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mov'), film);
	await writeFile(path.join(home, 'film.mp4'), 'another');
	const result = await run({ app, viewer, input: { path: 'film.mov' } });
	t.like(result, { outputPath: 'film (1).mp4', isOriginalDeleted: true });
	t.deepEqual(await files(home), ['film (1).mp4', 'film.mp4']);
	t.is(await readFile(path.join(home, 'film.mp4'), 'utf8'), 'another');
});

test('a conversion that exceeds its time limit fails and leaves all files unchanged', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const endless: typeof quickEncoder = {
		...quickEncoder,
		run: (args, { signal, files }) =>
			args.includes('--scan')
				? quickEncoder.run(args, { signal, ...(files === undefined ? {} : { files }) })
				: untilAborted(signal),
	};
	const error = await t.throwsAsync(run({ app, viewer, input: {}, encoder: endless, maxMs: 200 }));
	t.regex(error?.message ?? '', /^The conversion was ended, since it took longer than \d+ hours\.$/);
	t.deepEqual(await files(home), ['film.mp4']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});

test('a conversion with the longest time limit is not ended at once', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const slow: typeof quickEncoder = {
		...quickEncoder,
		async run(args, options) {
			await wait(50);
			options.signal.throwIfAborted();
			return quickEncoder.run(args, options);
		},
	};
	t.like(await run({ app, viewer, input: {}, encoder: slow, maxMs: 1000 * 3_600_000 }), { isOriginalDeleted: true });
});

test('while a new film is checked, and its original is decoded to be deleted, the progress goes on and says so', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const progress = async (deleteOriginal: boolean) => {
		const found: unknown[] = [];
		const input = { outputName: 'smaller.mp4', deleteOriginal };
		await run({ app, viewer, input, onProgress: ({ done, detail }) => found.push([done, detail?.phase]) });
		return found;
	};
	const checked = (...percents: number[]) => percents.map((percent) => [percent, 'checking']);
	t.deepEqual(await progress(false), [[0, undefined], ...checked(100, 100)]);
	t.deepEqual(await progress(true), [[0, undefined], ...checked(95, 97.5, 100)]);
});

// Alone: the steps before it take longer than its limit beside all others.
test.serial('a conversion whose original is not compared in time is kept, and so is the original', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const endless: typeof quickProber = {
		run: (_, { signal }) => untilAborted(signal),
	};
	const handbrake = handbrakeWith(quickEncoder, endless);
	const result = await run({ app, viewer, input: { outputName: 'smaller.mp4' }, handbrake, maxMs: 5_000 });
	t.like(result, { isOriginalDeleted: false, losses: ['what could not be decoded (the errors were not counted)'] });
	t.deepEqual(await files(home), ['film.mp4', 'smaller.mp4']);
});

const away = (seconds?: number) =>
	new Failure('unavailable', 'It is away.', seconds === undefined ? {} : { retryAfter: seconds });

test('a program that can not be started once a film is encoded is started again, and nothing is encoded twice', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const encoder = encoderBefore();
	let refusals = 0;
	const failing: typeof quickProber = {
		async run(args, options) {
			if (encoder.encoded === 0 || refusals >= 3) return quickProber.run(args, options);
			refusals++;
			throw away(0.01);
		},
	};
	const installed = {
		...{ version: '1', encoders: async () => new Set(['x264', 'av_aac']), encoder },
		...{ ffprobe: failing, decoder: failing },
	};
	const handbrake = { find: async () => ({ installed }) } as unknown as HandBrake;
	t.like(await run({ app, viewer, input: {}, handbrake }), { outputPath: 'film.mp4', isOriginalDeleted: true });
	t.deepEqual([encoder.encoded, refusals], [1, 3]);
});

test('a program that is killed in the midst of what it says of a film is started again, and what it had said does not count', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const encoder = encoderBefore();
	const runs = new Map<string, number>();
	const killed: typeof quickProber = {
		async run(args, options) {
			const outcome = await quickProber.run(args, options);
			const runsSoFar = runs.get(String(args)) ?? 0;
			if (encoder.encoded > 0) runs.set(String(args), runsSoFar + 1);
			// Once of each kind.
			if (encoder.encoded > 0 && runsSoFar === 0) throw away(0.01);
			return outcome;
		},
	};
	const installed = {
		...{ version: '1', encoders: async () => new Set(['x264', 'av_aac']), encoder },
		...{ ffprobe: killed, decoder: killed },
	};
	const handbrake = { find: async () => ({ installed }) } as unknown as HandBrake;
	const result = await run({ app, viewer, input: {}, handbrake });
	t.like(result, { isOriginalDeleted: true, losses: [] });
	t.true(runs.size > 3);
	t.is(encoder.encoded, 1);
});

test('a program that can not be run for long once a film is encoded keeps the original, and the new film is there', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const encoder = encoderBefore();
	const decoder: typeof quickProber = { run: async () => Promise.reject(away(0)) };
	const installed = {
		...{ version: '1', encoders: async () => new Set(['x264', 'av_aac']), encoder },
		...{ ffprobe: quickProber, decoder },
	};
	const handbrake = { find: async () => ({ installed }) } as unknown as HandBrake;
	const result = await run({ app, viewer, input: { outputName: 'smaller.mp4' }, handbrake });
	t.like(result, { isOriginalDeleted: false, losses: ['what could not be decoded (the errors were not counted)'] });
	t.deepEqual([encoder.encoded, await files(home)], [1, ['film.mp4', 'smaller.mp4']]);
});

test('a conversion whose disk is away as it begins, publishes its film or deletes its original is tried again in a while', async (t) => {
	for (const call of ['open', 'publishOnce', 'remove'] as const) {
		const { app, viewer, home } = await setUp(t);
		await writeFile(path.join(home, 'film.mp4'), film);
		const { files } = app.services;
		const whole = files[call] as unknown;
		Object.assign(files, { [call]: async () => Promise.reject(away()) });
		const encoder = encoderBefore();
		const given = { app, viewer, input: {}, saved: { value: undefined }, encoder };
		const error = await t.throwsAsync(run(given), { message: /It is away\.$/ });
		t.like(error, { kind: 'unavailable', retryAfter: 60 }, call);
		Object.assign(files, { [call]: whole });
		t.like(await run({ ...given, attempt: 2 }), { outputPath: 'film.mp4', isOriginalDeleted: true }, call);
		t.is(encoder.encoded, 1);
		t.deepEqual(await stagedIn(app), []);
	}
});

test('a conversion that runs when its sandbox is gone fails with the reason, and leaves all files unchanged', async (t) => {
	const { app, viewer, home } = await setUp(t);
	await writeFile(path.join(home, 'film.mp4'), film);
	const reason = "Videos can't be converted on this server now: no sandbox for the encoder works here.";
	const handbrake = { find: async () => ({ installed: undefined, reason }) } as unknown as HandBrake;
	await t.throwsAsync(run({ app, viewer, input: {}, handbrake }), { message: reason });
	t.deepEqual(await files(home), ['film.mp4']);
	t.deepEqual(await readdir(path.join(app.filesDir, '.stowage/staging')), []);
});
