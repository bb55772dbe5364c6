import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { findProgram } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { execaNode } from 'execa';
import { Encoder } from '../src/Encoder.js';
import { HandBrake } from '../src/HandBrake.js';
import type { Sandbox } from '../src/sandbox.js';
import { scan } from '../src/scan.js';
import { film, h264, picture, removeFilms } from './conversions.js';

test.after.always(removeFilms);

const { signal } = new AbortController();

const places = { 'a cage': true, 'a cage with the /proc of the system': false, 'no cage': undefined } as const;
type PlaceName = keyof typeof places;

async function cageOf(place: PlaceName): Promise<Sandbox | undefined> {
	const hasOwnProc = places[place];
	return hasOwnProc === undefined ? undefined : { bwrap: (await findProgram('bwrap')) ?? '', hasOwnProc };
}

async function encoderOf(place: PlaceName, memoryBytes = 2 ** 30) {
	const program = (await findProgram('sh')) ?? '';
	return new Encoder({ program, sandbox: await cageOf(place), memoryBytes, mayUseHardware: false });
}

async function temporaryFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-handbrake-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** Ids of the processes of a group. */
async function groupMembers(group: number): Promise<string[]> {
	const members: string[] = [];
	for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
		const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
		const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		if (Number(pgrp) === group && state !== 'Z') members.push(pid);
	}
	return members;
}

async function untilEnded(group: number): Promise<void> {
	while ((await groupMembers(group)).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

const isIsolated = test.macro(async (t, place: PlaceName) => {
	const folder = await temporaryFolder(t);
	await writeFile(path.join(folder, 'secret'), 'secret');
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => void server.close());
	const { port } = server.address() as { port: number };
	const encoder = await encoderOf(place);
	const commands = [
		`cat ${folder}/secret`,
		'cat /etc/passwd',
		'ls /home /root /var /srv',
		`perl -MIO::Socket::INET -e 'IO::Socket::INET->new("127.0.0.1:${port}") or die "no network"'`,
		...['environ', 'maps', 'fd/0', `root${folder}/secret`].map((what) => `cat /proc/${process.pid}/${what}`),
		`kill -9 ${process.pid}`,
		...['/x', '/tmp/x', '/dev/x', '/dev/shm/x', '/usr/x', '/proc/x', '/etc/x'].map((file) => `echo x > ${file}`),
	];
	for (const command of commands) {
		const { code } = await encoder.run(['-c', command], { signal });
		t.not(code, 0, command);
	}
	const seen = await encoder.run(['-c', 'ls /'], { signal });
	t.is(seen.code, 0);
	t.deepEqual(seen.output.split('\n').filter(Boolean).sort(), ['bin', 'dev', 'etc', 'lib', 'lib64', 'proc', 'usr']);
});

test('a program in a cage has no network, no files, no other processes and no place to write', isIsolated, 'a cage');
test(
	'a program in a cage with the /proc of the system has no network, no files and no place to write',
	isIsolated,
	'a cage with the /proc of the system',
);

const usesLentFiles = test.macro(async (t, place: PlaceName) => {
	const folder = await temporaryFolder(t);
	await writeFile(path.join(folder, 'source'), 'from the source');
	const source = await open(path.join(folder, 'source'));
	const target = await open(path.join(folder, 'target'), 'wx+');
	const encoder = await encoderOf(place);
	const copy = 'cat /proc/self/fd/3 > /proc/self/fd/4';
	const files = [source.fd, target.fd];
	const { code } = await encoder.run(['-c', copy], { files, signal });
	t.is(code, 0);
	t.is(await readFile(path.join(folder, 'target'), 'utf8'), 'from the source');
	const write = 'head -c 100000 /dev/zero > /proc/self/fd/4';
	const tooMuch = await encoder.run(['-c', write], { files, fileBytes: 20_480, signal });
	t.not(tooMuch.code, 0);
	t.is((await target.stat()).size, 20_480);
	await source.close();
	await target.close();
});

test('lent files are read and written in a cage, up to the size limit', usesLentFiles, 'a cage');
test(
	'lent files are read and written in a cage with the /proc of the system, up to the size limit',
	usesLentFiles,
	'a cage with the /proc of the system',
);
test('lent files are read and written without a cage, up to the size limit', usesLentFiles, 'no cage');

const isLimited = test.macro(async (t, place: PlaceName) => {
	process.env.STOWAGE_TEST_SECRET = 'hunter2';
	const encoder = await encoderOf(place, 100 * 1024 * 1024);
	const seen = await encoder.run(['-c', 'env; ulimit -d; ulimit -n; nice; cat /proc/self/oom_score_adj'], { signal });
	t.notRegex(seen.output, /hunter2/);
	t.regex(seen.output, /\n102400\n256\n19\n500\n$/);
	const greedy = await encoder.run(['-c', `perl -e 'my $x = "x" x 300_000_000'`], { signal });
	t.not(greedy.code, 0);
});

test("a program in a cage has its limits and nothing of the server's environment", isLimited, 'a cage');
test("a program without a cage has its limits and nothing of the server's environment", isLimited, 'no cage');

const isEnded = test.macro(async (t, place: PlaceName) => {
	const encoder = await encoderOf(place);
	const aborting = new AbortController();
	const began: string[] = [];
	const run = encoder.run(['-c', '(setsid sleep 600 & sleep 600) & echo begun; wait'], {
		signal: aborting.signal,
		onLine(line) {
			began.push(line);
			aborting.abort(new Error('the owner has cancelled'));
		},
	});
	await t.throwsAsync(run, { message: 'the owner has cancelled' });
	t.deepEqual(began, ['begun']);
	await t.throwsAsync(encoder.run(['-c', 'echo'], { signal: aborting.signal }));
});

test('an aborted program in a cage ends with all that it started', isEnded, 'a cage');

const reportsExit = test.macro(async (t, place: PlaceName) => {
	const encoder = await encoderOf(place);
	t.is((await encoder.run(['-c', 'echo two >&2; exit 2'], { signal })).code, 2);
	const killed = await encoder.run(['-c', 'echo last words >&2; kill -KILL $$'], { signal });
	// As the first process of its cage it can't kill itself.
	if (place === 'no cage') t.is(killed.code, 137);
	t.true(killed.log.includes('last words'));
});

test('the exit code and the last lines of a program in a cage are returned', reportsExit, 'a cage');
test('the exit code and the last lines of a program without a cage are returned', reportsExit, 'no cage');

test('a program ends when the server is killed', async (t) => {
	const server = execaNode(new URL('childProgram.js', import.meta.url), { buffer: false, reject: false });
	const [output] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
	const group = Number(output.toString());
	t.true((await groupMembers(group)).length >= 3);
	server.kill('SIGKILL');
	await untilEnded(group);
	t.pass();
});

test('HandBrake in a cage finds no file that a playlist names', async (t) => {
	const folder = await temporaryFolder(t);
	await film('secret.ts', [...picture('160x90', 2), ...h264, '-f', 'mpegts'], path.join(folder, 'secret.ts'));
	const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${folder}/secret.ts\n#EXT-X-ENDLIST\n`;
	await writeFile(path.join(folder, 'leak.mp4'), playlist);
	const scanned = async (name: string, place: PlaceName) => {
		const program = (await findProgram('HandBrakeCLI')) ?? '';
		const encoder = new Encoder({ program, sandbox: await cageOf(place), memoryBytes: 2 ** 31, mayUseHardware: false });
		const file = await open(path.join(folder, name));
		try {
			return (await scan(encoder, file.fd, signal))?.width;
		} finally {
			await file.close();
		}
	};
	t.is(await scanned('secret.ts', 'a cage'), 160);
	t.is(await scanned('leak.mp4', 'a cage'), undefined);
	// Without a cage it is found, so the first bytes of a file are checked before.
	t.is(await scanned('leak.mp4', 'no cage'), 160);
});

const brokenBubblewraps = {
	'cannot create namespaces': ['exit 1', undefined, /limits only, since bubblewrap does not work here/],
	'cannot mount /proc': [
		'case "$*" in *"--proc /proc"*) exit 1;; esac; exec bwrap "$@"',
		{ hasOwnProc: false },
		/in a bubblewrap cage/,
	],
} as const;

for (const [how, [script, cage, logged]] of Object.entries(brokenBubblewraps)) {
	test(`HandBrake runs where bubblewrap ${how}, and the log says with which protection`, async (t) => {
		const bwrap = path.join(await temporaryFolder(t), 'bwrap');
		await writeFile(bwrap, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
		const lines: string[] = [];
		const addLine = (_: object, line: string) => void lines.push(line);
		const handbrake = new HandBrake(
			{ program: 'HandBrakeCLI', bwrap, memoryBytes: 2 ** 31, mayUseHardware: false },
			{ info: addLine, warn: addLine, error: addLine },
		);
		const found = await handbrake.find();
		t.deepEqual(found?.encoder.options.sandbox, cage && { bwrap, ...cage });
		t.regex(lines.join(), logged);
		const encoders = await found?.encoders();
		for (const name of ['x264', 'VP9', 'av_aac', 'opus']) t.true(encoders?.has(name));
		t.true(handbrake.isAvailable);
		t.is(await handbrake.find(), found);
	});
}

test('a program is killed when the shell that waits for it is killed', async (t) => {
	const encoder = await encoderOf('no cage');
	let group = 0;
	const onLine = (line: string) => {
		group = Number(line);
		process.kill(group, 'SIGKILL');
	};
	t.like(await encoder.run(['-c', 'echo $PPID; exec sleep 600'], { signal, onLine }), { code: 137 });
	await untilEnded(group);
	t.pass();
});
