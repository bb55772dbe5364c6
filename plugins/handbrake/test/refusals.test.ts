import { chmod, mkdir, readdir, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findProgram } from '@stowage/plugin-api';
import test from 'ava';
import { serversOfRun } from '../../../packages/core/test/severalApps.js';
import { Client, json } from '../../../packages/core/test/testApp.js';
import { until } from '../../../packages/core/test/until.js';
import {
	begin,
	convert,
	end,
	film,
	h264,
	optionsFor,
	picture,
	removeFilms,
	requestConversion,
	site,
} from './conversions.js';

test.after.always(removeFilms);

test("a conversion of a file that is no video, missing or another user's is refused before it begins", async (t) => {
	const { app, alice, home } = await site(t);
	const bob = await new Client(app).register('bob');
	const his = path.join(app.filesDir, 'users/bob');
	await film('short.mp4', [...picture('160x90', 2), ...h264], path.join(home, 'film.mp4'));
	await film('short.mp4', [], path.join(his, 'Public/his.mp4'));
	await film('short.ts', [...picture('160x90', 2), ...h264, '-f', 'mpegts'], path.join(his, 'private.ts'));
	const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${his}/private.ts\n#EXT-X-ENDLIST\n`;
	await writeFile(path.join(home, 'leak.mp4'), playlist);
	await writeFile(path.join(home, 'leak.mkv'), `\uFEFF\n ${playlist}`);
	await writeFile(path.join(home, 'concat.mp4'), `ffconcat version 1.0\nfile ${his}/private.ts\n`);
	await writeFile(path.join(home, 'empty.mp4'), '');
	await writeFile(path.join(home, 'text.txt'), 'text');
	await writeFile(path.join(home, 'picture.mp4'), '\x89PNG\r\n\x1a\n', 'latin1');
	await film('short.mp4', [], path.join(home, 'film.jpg'));
	await mkdir(path.join(home, 'folder.mp4'));
	await symlink(path.join(his, 'Public/his.mp4'), path.join(home, 'link.mp4'));

	const refused = async (
		client: Client,
		request: Parameters<typeof requestConversion>[1],
		status: number,
		error?: string,
	) => {
		const answer = await requestConversion(client, request);
		t.is(answer.statusCode, status, `${JSON.stringify(request)}: ${answer.payload}`);
		if (error !== undefined) t.is(json(answer).error, error);
	};
	for (const filePath of [
		'leak.mp4',
		'leak.mkv',
		'concat.mp4',
		'empty.mp4',
		'text.txt',
		'picture.mp4',
		'film.jpg',
		'folder.mp4',
	]) {
		await refused(alice, { filePath }, 400, 'File is not a video');
	}
	for (const filePath of ['none.mp4', 'link.mp4', '../bob/Public/his.mp4', `${his}/Public/his.mp4`, '']) {
		const { statusCode } = await requestConversion(alice, { filePath });
		t.true([400, 404].includes(statusCode), filePath);
	}
	await refused(alice, { filePath: 'his.mp4', type: 'public' }, 404);
	for (const owner of ['bob', null, 'anonymous'])
		await refused(alice, { filePath: 'his.mp4', type: 'public', owner }, 403);
	await refused(alice, { filePath: 'his.mp4', owner: 'bob' }, 403);
	await refused(bob, { filePath: 'film.mp4' }, 404);
	await refused(new Client(app), { filePath: 'film.mp4' }, 401);
	for (const quality of [17, 36, 20.5, '20; touch x'])
		await refused(alice, { filePath: 'film.mp4', quality: quality as number }, 400);
	for (const outputFormat of ['avi', '../mp4', '-o', ''])
		await refused(alice, { filePath: 'film.mp4', outputFormat }, 400);
	for (const customOutputName of ['', ' ', '../out', 'a/b.mp4', 'a\\b', 'x\0', '..', 'x'.repeat(252)]) {
		const answer = await requestConversion(alice, { filePath: 'film.mp4', customOutputName });
		t.is(answer.statusCode, 400, customOutputName);
		t.is(json(answer).code, 'INVALID_NAME');
	}
	for (const url of ['/api/handbrake/check', '/api/handbrake/status/x']) {
		t.is((await new Client(app).get(url)).statusCode, 401);
	}
	t.deepEqual(json(await alice.get('/api/jobs')), []);
});

test('HandBrake that is installed, broken or removed while the server runs is detected', async (t) => {
	const { alice, home, names, lines } = await site(t, {
		handbrake: path.join('/tmp', `stowage-handbrake-${process.pid}`),
		...optionsFor('no sandbox'),
	});
	const program = path.join('/tmp', `stowage-handbrake-${process.pid}`);
	t.teardown(() => rm(program, { force: true }));
	await film('short.mp4', [...picture('160x90', 2), ...h264], path.join(home, 'film.mp4'));
	const check = async () => json(await alice.get('/api/handbrake/check'));
	t.deepEqual(await check(), { available: false });
	const answer = await requestConversion(alice, { filePath: 'film.mp4' });
	t.is(answer.statusCode, 503);
	t.is(json(answer).error, 'HandBrake CLI is not available');
	t.false(json(await alice.get('/api/capabilities')).handbrake);

	// Of several servers each looks when it is asked, and what the others have found it hears some seconds later.
	const isKnown = async (holds: () => Promise<boolean>) => {
		if (serversOfRun === 1) return holds();
		let agreeing = 0;
		return until('all servers agree', async () => {
			agreeing = (await holds()) ? agreeing + 1 : 0;
			return agreeing === serversOfRun;
		});
	};
	await symlink((await findProgram('HandBrakeCLI')) ?? '', program);
	t.true((await check()).available);
	t.true(await isKnown(async () => json(await alice.get('/api/capabilities')).handbrake));
	t.true(lines.some((line) => line.includes('with limits only')));

	await rm(program);
	await writeFile(program, '#!/bin/sh\nexit 1\n');
	await chmod(program, 0o755);
	t.true(await isKnown(async () => !(await check()).available));
	t.deepEqual(await check(), { available: false });
	t.deepEqual(await names(), ['film.mp4']);
});

test('a conversion that is retried converts no film of another owner whose shared folder has got the name of the first', async (t) => {
	const { app, alice } = await site(t);
	const owners = { bob: await new Client(app).register('bob'), carol: await new Client(app).register('carol') };
	const share = (owner: Client, members: object[]) => owner.call('PUT', '/api/members', { path: 'Films', members });
	const homeOf = (owner: string) => path.join(app.filesDir, 'users', owner, 'Films');
	for (const owner of Object.keys(owners)) await mkdir(homeOf(owner));
	await writeFile(path.join(homeOf('bob'), 'film.mp4'), '\0\0\0\x14ftypisom\0\0\x02\0isom and no film');
	await film('short.mp4', [...picture('160x90', 2), ...h264], path.join(homeOf('carol'), 'film.mp4'));
	const member = [{ username: 'alice', role: 'edit' }];
	t.is((await share(owners.bob, member)).statusCode, 200);
	const id = await begin(alice, { type: 'shared', filePath: 'Films/film.mp4', deleteOriginal: true });
	t.is((await end(alice, id)).status, 'failed');
	await share(owners.bob, []);
	t.is((await share(owners.carol, member)).statusCode, 200);
	t.is((await alice.post(`/api/jobs/${id}/retry`, {})).statusCode, 200);
	t.like(await end(alice, id), { status: 'failed', error: 'This is not shared with you any more.' });
	t.deepEqual(await readdir(homeOf('carol')), ['film.mp4']);
});

test('a conversion whose answer was lost begins once when it is requested again with its key, also once its original is gone', async (t) => {
	const { alice, home, names } = await site(t);
	await film('clip.mp4', [...picture('160x90', 1), ...h264], path.join(home, 'clip.mp4'));
	const request = { filePath: 'clip.mp4', outputFormat: 'mp4', quality: 30, deleteOriginal: true };
	const send = (key: string, more = {}) =>
		alice.post('/api/handbrake/convert', { ...request, ...more }, { 'idempotency-key': key });
	const key = 'a1'.repeat(16);
	const answers = await Promise.all([send(key), send(key)]);
	const [id, other] = answers.map((answer) => json(answer).conversionId);
	t.is(other, id);
	t.is((await end(alice, id)).status, 'completed');
	await rm(path.join(home, 'clip.mp4'));
	const again = await send(key);
	t.deepEqual([again.statusCode, json(again)], [202, { conversionId: id }]);
	for (const more of [{ quality: 20 }, { customOutputName: 'other' }]) t.is((await send(key, more)).statusCode, 409);
	t.is((await send('guessed')).statusCode, 400);
	t.is((await send('b2'.repeat(16))).statusCode, 404);
	t.is(json(await alice.get('/api/jobs')).length, 1);
	t.deepEqual(await names(), []);
});

test('a member’s conversion that is to delete its original is refused at once where there is no trash', async (t) => {
	const { app, alice } = await site(t, {}, { '--trash-keep-for': '0' });
	const bob = await new Client(app).register('bob');
	await film('clip.mp4', [...picture('160x90', 1), ...h264], path.join(app.filesDir, 'users/bob/Films/clip.mp4'));
	const members = [{ username: 'alice', role: 'edit' }];
	t.is((await bob.call('PUT', '/api/members', { path: 'Films', members })).statusCode, 200);
	const request = { filePath: 'Films/clip.mp4', type: 'shared', deleteOriginal: true };
	const refused = await requestConversion(alice, request);
	t.is(refused.statusCode, 403);
	t.is(json(refused).message, 'Only its owner can delete this forever.');
	t.is((await requestConversion(alice, { ...request, deleteOriginal: false })).statusCode, 202);
});

test('a conversion of an invalid or truncated film fails and keeps its original', async (t) => {
	const { alice, home, names, staging, lines } = await site(t);
	await film('whole.mp4', [...picture('160x90', 12), ...h264, '-movflags', '+faststart'], path.join(home, 'cut.mp4'));
	await truncate(path.join(home, 'cut.mp4'), Math.floor((await stat(path.join(home, 'cut.mp4'))).size / 3));
	await writeFile(path.join(home, 'junk.mp4'), `\0\0\0\x14ftypisom\0\0\x02\0isom${'junk'.repeat(1000)}`);
	const cut = await begin(alice, { filePath: 'cut.mp4', deleteOriginal: true });
	const junk = await convert(alice, { filePath: 'junk.mp4', deleteOriginal: true });
	t.like(junk, { status: 'failed', error: 'File is not a video', outputPath: null });
	const { status, error } = await end(alice, cut);
	t.is(status, 'failed');
	t.regex(error ?? '', /^Only \d.* of 12 s could be converted: the original is probably damaged/);
	t.deepEqual(await names(), ['cut.mp4', 'junk.mp4']);
	t.deepEqual(await readdir(staging), []);
	t.true(lines.some((line) => line.includes('a converted video is incomplete')));
});
