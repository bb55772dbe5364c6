import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import test from 'ava';
import { until } from '../packages/core/test/until.js';
import {
	encoderIn,
	film,
	h264,
	holders,
	picture,
	probe,
	removeFilms,
	type Status,
} from '../plugins/handbrake/test/conversions.js';
import { type ServerProcess, serveArgs, startServer } from './serverProcess.js';

test.after.always(removeFilms);

test('a conversion survives a killed and a stopped server, and its encoder ends with each', async (t) => {
	const data = await mkdtemp(path.join(os.tmpdir(), 'stowage-conversion-'));
	t.teardown(() => rm(data, { recursive: true, force: true }));
	const staging = path.join(data, 'files/.stowage/staging');
	const home = path.join(data, 'files/users/ada');
	const names = async () => (await readdir(home)).filter((name) => name !== 'Public');
	const start = () => startServer(t, { args: serveArgs(data) });

	const first = await start();
	const cookie = await first.register('ada');
	await film('server.mp4', [...picture('320x180', 8), ...h264], path.join(home, 'film.mp4'));
	const answer = await fetch(`${first.url}/api/handbrake/convert`, {
		method: 'POST',
		headers: { cookie, 'content-type': 'application/json' },
		body: JSON.stringify({ filePath: 'film.mp4', outputFormat: 'webm', quality: 30, deleteOriginal: true }),
	});
	t.is(answer.status, 202);
	const { conversionId } = (await answer.json()) as { conversionId: string };
	const statusAt = async ({ url }: ServerProcess) =>
		(await (await fetch(`${url}/api/handbrake/status/${conversionId}`, { headers: { cookie } })).json()) as Status;

	await encoderIn(staging);
	await first.stop('SIGKILL');
	await until('the encoder has ended', async () => (await holders(data)).length === 0);
	t.deepEqual(await names(), ['film.mp4']);

	const second = await start();
	t.like(await statusAt(second), { fileName: 'film.mp4', error: null, outputPath: null });
	await encoderIn(staging);
	t.is((await readdir(staging)).length, 1, 'the output of the first run was removed');
	t.is(await second.stop('SIGTERM'), 0);
	t.deepEqual(await holders(data), []);
	t.deepEqual(await readdir(staging), []);
	t.deepEqual(await names(), ['film.mp4']);

	const third = await start();
	const done = await until('the film is converted', async () => {
		const status = await statusAt(third);
		return ['queued', 'processing'].includes(status.status) ? undefined : status;
	});
	t.like(done, { status: 'completed', outputPath: 'film.webm', progress: 100 });
	t.deepEqual(await names(), ['film.webm']);
	t.deepEqual(await readdir(staging), []);
	const { codecs, seconds } = await probe(path.join(home, 'film.webm'));
	t.deepEqual(codecs, ['vp9']);
	t.true(Math.abs(seconds - 8) < 1);
});
