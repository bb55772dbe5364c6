import { readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import { Client, json } from '../../../packages/core/test/testApp.js';
import { until } from '../../../packages/core/test/until.js';
import {
	begin,
	brightness,
	cancel,
	convert,
	end,
	film,
	frameTimes,
	h264,
	picture,
	probe,
	removeFilms,
	site,
	statusOf,
	subtitles,
	tone,
} from './conversions.js';

test.after.always(removeFilms);

test('a conversion to mkv keeps all tracks and black borders of a file named like options and shell code, and only its owner can follow it', async (t) => {
	const { app, alice, home, names, staging } = await site(t, { concurrency: 2 });
	const bob = await new Client(app).register('bob');
	const name = `-i --version "quotes" 'n' $(touch pwned) ; & 🎬.mkv`;
	await subtitles('film.srt');
	await film(
		'tracks.mkv',
		[
			...[...picture('320x120', 3), ...tone(440, 3), ...tone(880, 3), '-i', 'film.srt', '-i', 'film.srt'],
			...['-map', '0', '-map', '1', '-map', '2', '-map', '3', '-map', '4'],
			...['-vf', 'pad=320:180:0:30:black', ...h264, '-c:a', 'aac', '-c:s', 'srt'],
		],
		path.join(home, 'Films', name),
	);
	await film(
		'sound.mp4',
		[...picture('160x90', 3), ...tone(440, 3), ...h264],
		path.join(app.filesDir, 'users/bob/Public/clip.mp4'),
	);

	const begunAt = Date.now();
	const hers = await begin(alice, { filePath: `Films/${name}`, outputFormat: 'mkv' });
	const request = {
		filePath: 'clip.mp4',
		outputFormat: 'webm',
		type: 'public',
		customOutputName: 'Née.mp4',
		quality: 35,
	};
	const his = await begin(bob, { ...request, owner: 'bob' });
	await until('both run at once', async () => {
		const both = [await statusOf(alice, hers), await statusOf(bob, his)];
		return both.every(({ status }) => status !== 'queued');
	});
	for (const [other, id] of [
		[bob, hers],
		[alice, his],
		[alice, 'unknown'],
	] as const) {
		t.is((await other.get(`/api/handbrake/status/${id}`)).statusCode, 404);
		t.is((await cancel(other, id)).statusCode, 404);
		t.is((await other.call('DELETE', `/api/jobs/${id}`)).statusCode, 404);
	}
	const base = name.slice(0, -'.mkv'.length);
	const done = await end(alice, hers);
	t.like(done, { status: 'completed', fileName: name, progress: 100, error: null, currentFps: null, eta: null });
	t.is(done.outputPath, `Films/${base}_converted.mkv`);
	// Milliseconds, as in all calls: seconds or a text would lie outside of the test's time.
	t.true((done.startTime ?? 0) >= begunAt && (done.startTime ?? 0) <= (done.endTime ?? 0));
	t.true((done.endTime ?? Number.POSITIVE_INFINITY) <= Date.now());
	const output = path.join(home, 'Films', `${base}_converted.mkv`);
	const { streams, codecs, seconds } = await probe(output);
	t.deepEqual(codecs, ['h264', 'aac', 'aac', 'ass', 'ass']);
	t.like(streams[0], { width: 320, height: 180 });
	t.true((await brightness(output, 160, 5)) < 40, 'the border is kept');
	t.true(Math.abs(seconds - 3) < 0.5);
	t.deepEqual(await names('alice'), ['Films']);
	const { detail } = json(await alice.get(`/api/jobs/${hers}`));
	t.is(detail.sizeBefore, (await readFile(path.join(home, 'Films', name))).length);
	t.is(detail.sizeAfter, (await readFile(output)).length);
	// Cancelling an ended conversion has no effect.
	t.is((await cancel(alice, hers)).statusCode, 200);
	t.is((await statusOf(alice, hers)).status, 'completed');

	const webm = await end(bob, his);
	t.like(webm, { status: 'completed', fileName: 'clip.mp4', outputPath: 'Née.webm' });
	t.deepEqual((await probe(path.join(app.filesDir, 'users/bob/Public/Née.webm'))).codecs, ['vp9', 'opus']);
	t.deepEqual(await readdir(staging), []);
});

test('a conversion to mp4 in place of the original keeps its rotation and frame times, and can be played while it is loaded', async (t) => {
	const { alice, home, names, lines } = await site(t);
	await film(
		'landscape.mp4',
		[
			...[...picture('320x180', 3), ...tone(440, 3)],
			...['-vf', "select='if(gt(t,1),not(mod(n,2)),1)'", '-vsync', 'vfr', ...h264],
		],
		path.join(home, 'x.mp4'),
	);
	await film(
		'portrait.mp4',
		['-i', 'landscape.mp4', '-c', 'copy', '-metadata:s:v:0', 'rotate=90'],
		path.join(home, 'Clip.mp4'),
	);
	await rm(path.join(home, 'x.mp4'));
	const before = await probe(path.join(home, 'Clip.mp4'));
	const times = await frameTimes(path.join(home, 'Clip.mp4'));
	const { size: sizeBefore } = await stat(path.join(home, 'Clip.mp4'));
	const done = await convert(alice, { filePath: 'Clip.mp4', deleteOriginal: true, quality: 18 });
	t.like(done, { status: 'completed', outputPath: 'Clip.mp4', phase: null, hold: null, losses: [] });
	t.like(done, { deletesOriginal: true, isOriginalDeleted: true, sizeBefore });
	t.is(done.sizeAfter, (await stat(path.join(home, 'Clip.mp4'))).size);
	t.deepEqual(await names(), ['Clip.mp4']);
	const output = path.join(home, 'Clip.mp4');
	const { streams, codecs, seconds } = await probe(output);
	t.deepEqual(codecs, ['h264', 'aac']);
	const shown = ({ width, height, side_data_list }: (typeof streams)[number]) => {
		const isTurned = Math.abs(side_data_list?.[0]?.rotation ?? 0) % 180 === 90;
		return isTurned ? [height, width] : [width, height];
	};
	t.deepEqual(shown(before.streams[0] as (typeof streams)[number]), [180, 320]);
	t.deepEqual(shown(streams[0] as (typeof streams)[number]), [180, 320]);
	t.true(Math.abs(seconds - before.seconds) < 0.5);
	const steps = (all: readonly number[]) => all.slice(1).map((time, n) => time - (all[n] ?? 0));
	t.deepEqual([...new Set(steps(times))].sort(), [40, 80]);
	const kept = await frameTimes(output);
	t.is(kept.length, times.length);
	// The encoder evens out the times where the frame rate changes.
	t.is(Math.min(...steps(kept)), 40);
	t.true(steps(kept).includes(80));
	const drift = kept.map((time, n) => Math.abs(time - (kept[0] ?? 0) - (times[n] ?? 0) + (times[0] ?? 0)));
	t.true(Math.max(...drift) < 600, `${Math.max(...drift)} ms`);
	const bytes = await readFile(output);
	t.true(bytes.indexOf('moov') < bytes.indexOf('mdat'));
	t.true(lines.some((line) => line.includes('HandBrake runs in a sandbox without network and files: bubblewrap')));
	const capabilities = json(await alice.get('/api/capabilities'));
	t.true(capabilities.handbrake);
	const check = json(await alice.get('/api/handbrake/check'));
	t.true(check.available);
	t.regex(check.version, /^\d+\.\d+/);
});
