import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readdir, readFile, rmdir, statfs, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { Client, reportSpace } from '../../../packages/core/test/testApp.js';
import { until } from '../../../packages/core/test/until.js';
import {
	begin,
	cancel,
	convert,
	encoderIn,
	end,
	film,
	h264,
	holders,
	optionsFor,
	type Place,
	picture,
	removeFilms,
	type Site,
	site,
	statusOf,
} from './conversions.js';

test.after.always(removeFilms);

const run = promisify(execFile);

/** A film that takes a while, so that something can happen meanwhile. */
const longFilm = (at: string) => film('long.mp4', [...picture('640x360', 40), ...h264], at);

/** Asserts that only these files are left. */
async function assertClean(t: ExecutionContext, at: Site, names: string[]): Promise<void> {
	t.deepEqual(await at.names(), names);
	t.deepEqual(await readdir(at.staging), []);
	t.deepEqual(await holders(at.app.dataDir), []);
}

/** Does something as soon as the next conversion has opened its source. */
function afterOpening({ app: { services } }: Site, work: () => Promise<void>): void {
	const { storage } = services.roots.first;
	const { stage, open } = storage;
	storage.stage = async (id) => {
		const staged = await stage.call(storage, id);
		storage.stage = stage;
		storage.open = async (path) => {
			const source = await open.call(storage, path);
			storage.open = open;
			await work();
			return source;
		};
		return staged;
	};
}

const leavesNothing = test.macro(async (t, place: Place) => {
	const at = await site(t, { ...optionsFor(place), shortConversions: 0 });
	const { alice, home, lines } = at;
	const names = ['film.mp4'];
	await longFilm(path.join(home, 'film.mp4'));
	const request = { filePath: 'film.mp4', outputFormat: 'webm', deleteOriginal: true };

	// One conversion is cancelled while it runs, the next one while it is queued.
	const running = await begin(alice, request);
	const waiting = await begin(alice, request);
	await encoderIn(at.staging);
	const status = await until('the status reports the progress', async () => {
		const current = await statusOf(alice, running);
		// An encoder without processor time for a while reports no speed.
		return current.eta === null || !current.currentFps || !current.averageFps ? undefined : current;
	});
	t.like(status, { status: 'processing', error: null, endTime: null, outputPath: null });
	const { progress = 0, currentFps, averageFps, eta } = status ?? {};
	t.true(progress > 0 && (currentFps ?? 0) > 0 && (averageFps ?? 0) > 0);
	t.regex(eta ?? '', /^(\d+h\d+m|\d+m)?\d+s$/);
	t.is((await statusOf(alice, waiting)).status, 'queued');
	t.is((await cancel(alice, waiting)).statusCode, 200);
	t.is((await cancel(alice, running)).statusCode, 200);
	t.is((await end(alice, running)).status, 'cancelled');
	t.is((await end(alice, waiting)).status, 'cancelled');
	await assertClean(t, at, names);

	// The encoder is killed by the system.
	const killed = await begin(alice, request);
	process.kill(await encoderIn(at.staging), 'SIGKILL');
	const failed = await end(alice, killed);
	t.like(failed, { status: 'failed', outputPath: null });
	t.regex(failed.error ?? '', /^The encoder was ended from outside, .* Try it again\. The original was kept\.$/);
	t.true(lines.some((line) => line.includes('a video could not be converted')));
	await assertClean(t, at, names);
	t.is((await alice.post(`/api/jobs/${killed}/retry`, undefined)).statusCode, 200);
	await encoderIn(at.staging);
	t.like(await statusOf(alice, killed), { status: 'processing', error: null });
	t.is((await cancel(alice, killed)).statusCode, 200);
	t.is((await end(alice, killed)).status, 'cancelled');
	await assertClean(t, at, names);

	// The original is changed by another program.
	await film('changing.mp4', [...picture('160x90', 60), ...h264], path.join(home, 'film.mp4'));
	afterOpening(at, () => appendFile(path.join(home, 'film.mp4'), 'more'));
	const changed = await begin(alice, { ...request, outputFormat: 'mp4' });
	const refused = await end(alice, changed);
	t.like(refused, { status: 'failed', error: 'The original was changed while it was converted.' });
	t.true((await readFile(path.join(home, 'film.mp4'))).subarray(-4).equals(Buffer.from('more')));
	await assertClean(t, at, names);
});

for (const place of ['bubblewrap', 'Landlock', 'no sandbox'] as const) {
	test(
		`a conversion in ${place} leaves all files unchanged when it is cancelled or killed or its original changes`,
		leavesNothing,
		place,
	);
}

test('a conversion that reaches the free space reserve fails with a clear error and keeps its original', async (t) => {
	const reserve = 1024 ** 2;
	const at = await site(t, {}, { '--uploads-free-space-reserve': `${reserve}` });
	const { app, alice, home, staging } = at;
	await longFilm(path.join(home, 'film.mp4'));
	// As on a small disk that the output is written to.
	reportSpace(app, {
		freeSpace: async () => {
			const [name] = await readdir(staging);
			const size = name === undefined ? 0 : (await readFile(path.join(staging, name)).catch(() => '')).length;
			return reserve + 100_000 - size;
		},
	});
	const full = await convert(alice, { filePath: 'film.mp4', quality: 18, deleteOriginal: true });
	t.like(full, { status: 'failed', error: 'There is not enough free space.' });
	await assertClean(t, at, ['film.mp4']);
});

test('a conversion that exceeds the quota fails with a clear error and keeps its original', async (t) => {
	const at = await site(t, {}, { '--quotas-user-bytes': '100 KB' });
	await longFilm(path.join(at.home, 'film.mp4'));
	const full = await convert(at.alice, { filePath: 'film.mp4', quality: 18, deleteOriginal: true });
	t.is(full.status, 'failed');
	t.regex(full.error ?? '', /^You may keep 100.* here, and 0 B of that is left\.$/);
	await assertClean(t, at, ['film.mp4']);
});

test('a conversion on a full disk fails with a clear error and keeps its original', async (t) => {
	if (process.getuid?.() !== 0) {
		t.log('not run as root: no small disk can be mounted');
		t.not(process.getuid?.(), 0);
		return;
	}
	const disk = await mkdtemp(path.join(os.tmpdir(), 'stowage-disk-'));
	await run('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'stowage-test', disk]);
	t.teardown(async () => {
		await run('umount', ['-l', disk]);
		await rmdir(disk);
	});
	const at = await site(t, {}, { '--uploads-free-space-reserve': '0' }, path.join(disk, 'files'));
	await longFilm(path.join(at.home, 'film.mp4'));
	const { bavail, bsize } = await statfs(disk);
	await writeFile(path.join(disk, 'filler'), Buffer.alloc(bavail * bsize - 100_000));
	const full = await convert(at.alice, { filePath: 'film.mp4', quality: 18, deleteOriginal: true });
	t.like(full, { status: 'failed', error: 'There is not enough free space.' });
	await assertClean(t, at, ['film.mp4']);
});

test('a clip does not wait behind a film', async (t) => {
	const at = await site(t);
	const bob = await new Client(at.app).register('bob');
	await film('hd.mp4', [...picture('1920x1080', 1, 50), ...h264], path.join(at.home, 'hd.mp4'));
	await film('long-hd.mp4', ['-stream_loop', '70', '-i', 'hd.mp4', '-c', 'copy'], path.join(at.home, 'film.mp4'));
	await film('second.mp4', [...picture('160x90', 1), ...h264], path.join(at.app.filesDir, 'users/bob/clip.mp4'));
	const long = await begin(at.alice, { filePath: 'film.mp4', outputFormat: 'webm' });
	await encoderIn(at.staging);
	const done = await convert(bob, { filePath: 'clip.mp4' });
	t.like(done, { status: 'completed', outputPath: 'clip_converted.mp4' });
	t.is((await statusOf(at.alice, long)).status, 'processing');
	await cancel(at.alice, long);
	t.is((await end(at.alice, long)).status, 'cancelled');
});
