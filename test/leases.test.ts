import { setTimeout as wait } from 'node:timers/promises';
import test from 'ava';
import { until } from '../packages/core/test/until.js';
import {
	beginTooMany,
	fileBytes,
	serverPair,
	staged,
	TusUpload,
	takeOverKilled,
	takeOverSilent,
	takeOverStopped,
} from './uploadTakeovers.js';

test('two processes share the limit of visitors’ uploads, and an upload continues at the other process when its connection is silent or its process is stopped or killed', async (t) => {
	const pair = await serverPair(t, { more: ['--uploads-anonymous-unfinished', '2'] });
	await beginTooMany(t, pair, 2);
	await takeOverSilent(t, pair, 'silent.bin');
	await takeOverStopped(t, pair, 'stopped.bin');
	await takeOverKilled(t, pair, 'killed.bin');
});

test('while one process writes an upload, another one answers its offset, refuses to write it with 423, and can delete it', async (t) => {
	const pair = await serverPair(t);
	const upload = await new TusUpload(pair, 'a.bin').create();
	const part = 1_000_000;
	const sent = await upload.sendPart(pair.one, part);
	let at = part;
	let latest = performance.now();
	let longestGap = 0;
	const dripping = setInterval(() => {
		sent.write(upload.bytes.subarray(at, ++at));
		longestGap = Math.max(longestGap, performance.now() - latest);
		latest = performance.now();
	}, 20);
	t.teardown(() => clearInterval(dripping));
	await until('a write at the other process is refused while bytes arrive', async () => {
		longestGap = 0;
		const known = await upload.head(pair.two);
		t.is(known.status, 200);
		const offset = Number(known.headers.get('upload-offset'));
		t.true(offset >= 0 && offset < fileBytes);
		const answer = await upload.patch(pair.two, offset);
		// A machine that was busy for longer has left the connection silent.
		if (longestGap > 2000 && answer.status !== 423) return false;
		t.is(answer.status, 423);
		t.is(answer.headers.get('retry-after'), '1');
		return true;
	});
	t.is((await upload.remove(pair.two)).status, 204);
	await sent.hasEnded;
	for (const server of [pair.one, pair.two]) t.is((await upload.head(server)).status, 404);
	await until('nothing is left in staging', async () => (await staged(pair)).length === 0 || wait(10, false));
});
