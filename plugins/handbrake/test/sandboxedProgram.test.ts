import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { findProgram, findSandbox, isFailure, type Sandbox } from '@stowage/plugin-api';
import test, { type ExecutionContext } from 'ava';
import { execaNode } from 'execa';
import { scan } from '../src/films/probing/scan.js';
import { HandBrake, type HandBrakeOptions } from '../src/HandBrake.js';
import { SandboxedProgram } from '../src/SandboxedProgram.js';
import { film, h264, type Place, picture, places, removeFilms } from './conversions.js';

test.after.always(removeFilms);

const { signal } = new AbortController();

async function programIn(place: Place, name: string, memoryBytes: number): Promise<SandboxedProgram> {
	const sandbox = await findSandbox(places[place]);
	if (sandbox === undefined && place !== 'no sandbox') throw new Error(`There is no ${place} here.`);
	const program = (await findProgram(name)) ?? '';
	return new SandboxedProgram({ program, sandbox, memoryBytes });
}

/** A shell that may start programs, as encoders don't. */
async function shellIn(place: Place, memoryBytes = 2 ** 30): Promise<SandboxedProgram> {
	const { program, sandbox } = (await programIn(place, 'sh', memoryBytes)).options;
	const forking: Sandbox | undefined = sandbox && {
		...sandbox,
		wrap: (command, args, needs) => sandbox.wrap(command, args, { ...needs, mayFork: true }),
	};
	return new SandboxedProgram({ program, sandbox: forking, memoryBytes });
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

const usesLentFiles = test.macro(async (t, place: Place) => {
	const folder = await temporaryFolder(t);
	await writeFile(path.join(folder, 'source'), 'from the source');
	const source = await open(path.join(folder, 'source'));
	const target = await open(path.join(folder, 'target'), 'wx+');
	const encoder = await shellIn(place);
	const copy = 'cat /proc/self/fd/3 > /proc/self/fd/4';
	const files = [source.fd, target.fd];
	const { code } = await encoder.run(['-c', copy], { files, fileBytes: 1000, signal });
	t.is(code, 0);
	t.is(await readFile(path.join(folder, 'target'), 'utf8'), 'from the source');
	const write = 'head -c 100000 /dev/urandom > /proc/self/fd/4';
	const tooMuch = await encoder.run(['-c', write], { files, fileBytes: 20_480, signal });
	t.not(tooMuch.code, 0);
	t.is((await target.stat()).size, 20_480);
	await source.close();
	await target.close();
});

test('a program that prints without an end is killed, after as much as its file may give where it prints its content', async (t) => {
	const folder = await temporaryFolder(t);
	await writeFile(path.join(folder, 'film'), Buffer.alloc(1000));
	const source = await open(path.join(folder, 'film'));
	const shell = await shellIn('no sandbox');
	const files = [source.fd];
	let lines = 0;
	const onLine = () => lines++;
	const line = 'a line of twenty-four';
	const endless = await shell.run(['-c', `while :; do yes ${line}; done`], {
		files,
		printsContent: true,
		signal,
		onLine,
	});
	t.deepEqual([endless.code, endless.output], [137, '']);
	t.true(lines > 2 ** 19 && lines < 2 ** 20, `${lines}`);
	// The log counts, too, and what is not read in lines.
	t.is((await shell.run(['-c', 'yes >&2'], { signal, maxPrinted: 100_000 })).code, 137);
	t.is((await shell.run(['-c', 'yes'], { signal, maxPrinted: 100_000 })).code, 137);
	// One that has printed less has printed all of it, however slowly it was read.
	lines = 0;
	t.is(
		(await shell.run(['-c', `yes ${line} | head -n 400000`], { files, printsContent: true, signal, onLine })).code,
		0,
	);
	t.is(lines, 400_000);
	await source.close();
});

for (const place of Object.keys(places) as Place[]) {
	test(`lent files are read and written in ${place}, up to the size limit`, usesLentFiles, place);
}

const isLimited = test.macro(async (t, place: Place) => {
	process.env.STOWAGE_TEST_SECRET = 'hunter2';
	const encoder = await shellIn(place, 100 * 1024 * 1024);
	const seen = await encoder.run(['-c', 'env; ulimit -d; ulimit -n; nice; cat /proc/self/oom_score_adj'], { signal });
	t.notRegex(seen.output, /hunter2/);
	// In Landlock it may not read the last one.
	const niceness = Math.min(19, os.getPriority() + 19);
	t.true(seen.output.endsWith(`\n102400\n256\n${niceness}\n${place === 'Landlock' ? '' : '500\n'}`), seen.output);
	const greedy = await encoder.run(['-c', `perl -e 'my $x = "x" x 300_000_000'`], { signal });
	t.not(greedy.code, 0);
});

for (const place of Object.keys(places) as Place[]) {
	test(`a program in ${place} has its limits and nothing of the server's environment`, isLimited, place);
}

const isEnded = test.macro(async (t, place: Place) => {
	const encoder = await shellIn(place);
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

test('an aborted program in bubblewrap ends with all that it started', isEnded, 'bubblewrap');
test('an aborted program in Landlock ends with all that it started', isEnded, 'Landlock');

const reportsExit = test.macro(async (t, place: Place) => {
	const encoder = await shellIn(place);
	t.is((await encoder.run(['-c', 'echo two >&2; exit 2'], { signal })).code, 2);
	const killed = await encoder.run(['-c', 'echo last words >&2; kill -KILL $$'], { signal, returnsKill: true });
	// As the first process of its sandbox it can't kill itself.
	if (place !== 'bubblewrap') t.is(killed.code, 137);
	t.true(killed.log.includes('last words'));
});

for (const place of Object.keys(places) as Place[]) {
	test(`the exit code and the last lines of a program in ${place} are returned`, reportsExit, place);
}

test('a program whose sandbox or limits can not be set up, as while an upgrade exchanges their files, has said nothing of a film', async (t) => {
	const program = (await findProgram('sh')) ?? '';
	const missing = path.join(await temporaryFolder(t), 'launch.js');
	const commands: [string, ...string[]][] = [
		[process.execPath, missing],
		['/nonexistent/bwrap'],
		['/bin/sh', '-c', 'echo "bwrap: Can\'t find source path /opt/stowage: No such file or directory" >&2; exit 1'],
		['/bin/sh', '-c', 'echo "sandbox: PR_SET_SECCOMP failed with error 22." >&2; exit 126'],
		// Without memory or threads to begin.
		['/bin/sh', '-c', `ulimit -v 400000; exec ${process.execPath}`],
	];
	for (const [command, ...before] of commands) {
		const wrap: Sandbox['wrap'] = (file, args) => ({ command, args: [...before, file, ...args] });
		const sandbox: Sandbox = { kind: 'bubblewrap', description: '', wrap };
		const failing = new SandboxedProgram({ program, sandbox, memoryBytes: 2 ** 29 });
		const error = await t.throwsAsync(failing.run(['-c', 'echo'], { signal }), undefined, command);
		t.true(isFailure(error, 'unavailable'), String(error));
	}
	const working = new SandboxedProgram({ program, sandbox: undefined, memoryBytes: 2 ** 29 });
	t.is((await working.run(['-c', 'echo "a film: node:internal/" >&2; exit 1'], { signal })).code, 1);
});

test('a program that is killed, lacks processes or is held up has said nothing of a film, but one that crashes or has had its time has', async (t) => {
	const shell = await shellIn('no sandbox');
	for (const script of [
		'kill -KILL $$',
		'kill -TERM $$',
		'echo "x265: Resource temporarily unavailable" >&2; exit 3',
	]) {
		const error = await t.throwsAsync(shell.run(['-c', script], { signal }), undefined, script);
		t.true(isFailure(error, 'unavailable') && error.retryAfter !== undefined, script);
		t.not((await shell.run(['-c', script], { signal, returnsKill: true })).code, 0);
	}
	// Nothing is lost of what has not begun.
	for (const returnsKill of [false, true]) {
		const heldUp = shell.run(['-c', 'exec sleep 600'], { signal, returnsKill, silentSeconds: 0.1 });
		t.true(isFailure(await t.throwsAsync(heldUp), 'unavailable'));
	}
	const slow = ['', '>&2'].map((to) =>
		shell.run(['-c', `echo begun ${to}; sleep 5; exit 3`], { signal, silentSeconds: 4 }),
	);
	t.deepEqual(
		(await Promise.all(slow)).map(({ code }) => code),
		[3, 3],
	);
	for (const name of ['SEGV', 'ABRT', 'XCPU'] as const) {
		const { code } = await shell.run(['-c', `kill -${name} $$`], { signal });
		t.is(code, 128 + os.constants.signals[`SIG${name}`]);
	}
});

test('encoders are asked for again where HandBrake failed to list them, also in the midst of the list', async (t) => {
	const program = path.join(await temporaryFolder(t), 'HandBrakeCLI');
	const write = (script: string) => writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
	const ffprobe = path.join(await temporaryFolder(t), 'ffprobe');
	await writeFile(ffprobe, '#!/bin/sh\necho ffprobe version 7\n', { mode: 0o755 });
	await write('echo "HandBrake 1.2.3"');
	const { handbrake } = lookup({ program, ffprobe, bwrap: false, landlock: false, allowWithoutSandbox: true });
	const { installed } = await handbrake.find();
	const list = (...names: string[]) => `echo '   -e, --encoder <string>'; printf '      %s\\n' ${names.join(' ')}`;
	for (const script of [`${list('x264')}; kill -KILL $$`, `${list('x264')}; kill -SEGV $$`, 'exit 1', 'exit 0']) {
		await write(script);
		t.true(isFailure(await t.throwsAsync(async () => installed?.encoders()), 'unavailable'), script);
	}
	await write(list('x264', 'VP9'));
	t.deepEqual([...((await installed?.encoders()) ?? [])], ['x264', 'VP9']);
});

test.serial('encoders are asked for again where HandBrake did not list them in time', async (t) => {
	const folder = await temporaryFolder(t);
	const [program, ffprobe] = ['HandBrakeCLI', 'ffprobe'].map((name) => path.join(folder, name)) as [string, string];
	await writeFile(program, '#!/bin/sh\n[ "$1" != --help ] || exec sleep 600\necho "HandBrake 1.2.3"\n', {
		mode: 0o755,
	});
	await writeFile(ffprobe, '#!/bin/sh\necho ffprobe version 7\n', { mode: 0o755 });
	const { handbrake } = lookup({ program, ffprobe, bwrap: false, landlock: false, allowWithoutSandbox: true });
	const { installed } = await handbrake.find();
	const { timeout } = AbortSignal;
	t.teardown(() => {
		AbortSignal.timeout = timeout;
	});
	AbortSignal.timeout = () => timeout(100);
	t.true(isFailure(await t.throwsAsync(async () => installed?.encoders()), 'unavailable'));
});

test('a program ends when the server is killed', async (t) => {
	const server = execaNode(new URL('childProgram.js', import.meta.url), { buffer: false, reject: false });
	const [output] = (await once(server.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
	const group = Number(output.toString());
	t.true((await groupMembers(group)).length >= 3);
	server.kill('SIGKILL');
	await untilEnded(group);
	t.pass();
});

test('HandBrake in a sandbox finds no file that a playlist names', async (t) => {
	const folder = await temporaryFolder(t);
	await film('secret.ts', [...picture('160x90', 2), ...h264, '-f', 'mpegts'], path.join(folder, 'secret.ts'));
	const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${folder}/secret.ts\n#EXT-X-ENDLIST\n`;
	await writeFile(path.join(folder, 'leak.mp4'), playlist);
	const scanned = async (name: string, place: Place) => {
		const encoder = await programIn(place, 'HandBrakeCLI', 2 ** 31);
		const file = await open(path.join(folder, name));
		try {
			return (await scan(encoder, file.fd, signal))?.width;
		} finally {
			await file.close();
		}
	};
	for (const place of ['bubblewrap', 'Landlock'] as const) {
		t.is(await scanned('secret.ts', place), 160);
		t.is(await scanned('leak.mp4', place), undefined);
	}
	// Without a sandbox it is found, so that ffprobe and the first bytes decide before.
	t.is(await scanned('leak.mp4', 'no sandbox'), 160);
});

interface Lookup {
	lines: string[];
	handbrake: HandBrake;
}

function lookup(options: Partial<HandBrakeOptions>): Lookup {
	const lines: string[] = [];
	const addLine = (_: object, line: string) => void lines.push(line);
	const handbrake = new HandBrake(
		{
			program: 'HandBrakeCLI',
			ffprobe: 'ffprobe',
			bwrap: 'bwrap',
			landlock: true,
			allowWithoutSandbox: false,
			memoryBytes: 2 ** 31,
			mayUseHardware: false,
			...options,
		},
		{ info: addLine, warn: addLine, error: addLine },
	);
	return { lines, handbrake };
}

test('an answer that asks for HandBrake with each of its jobs has it looked for once', async (t) => {
	const { handbrake } = lookup({ program: 'no-such-encoder' });
	const running = handbrake.findInBackground();
	t.is(handbrake.findInBackground(), running);
	await running;
	t.not(handbrake.findInBackground(), running);
});

const refused = 'echo "bwrap: Operation not permitted" >&2';

const brokenBubblewraps = {
	'cannot create namespaces': [`${refused}; exit 1`, 'landlock', /: Landlock/],
	'cannot mount /proc': [
		`case "$*" in *"--proc /proc"*) ${refused}; exit 1;; esac; exec bwrap "$@"`,
		'bubblewrap',
		/: bubblewrap, with the system's list of processes, and Landlock \d+ with a filter of system calls$/,
	],
} as const;

for (const [how, [script, kind, logged]] of Object.entries(brokenBubblewraps)) {
	test(`HandBrake runs where bubblewrap ${how}, and the log says in which sandbox`, async (t) => {
		const bwrap = path.join(await temporaryFolder(t), 'bwrap');
		await writeFile(bwrap, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
		const { handbrake, lines } = lookup({ bwrap });
		const { installed } = await handbrake.find();
		t.is(installed?.encoder.options.sandbox?.kind, kind);
		t.is(installed?.ffprobe.options.sandbox?.kind, kind);
		t.regex(lines.join(), logged);
		const encoders = await installed?.encoders();
		for (const name of ['x264', 'VP9', 'av_aac', 'opus']) t.true(encoders?.has(name));
		t.true(handbrake.isAvailable);
		t.is((await handbrake.find()).installed, installed);
	});
}

/** In the place of bubblewrap: a probe finds nothing in it, and programs say their versions, unless `isKilled` is there for them. */
async function fakeBubblewrap(t: ExecutionContext, killed: string): Promise<{ bwrap: string; isKilled: string }> {
	const folder = await temporaryFolder(t);
	const [bwrap, isKilled] = [path.join(folder, 'bwrap'), path.join(folder, 'killed')];
	const script = [
		`case "$*" in ${killed}) [ ! -e ${isKilled} ] || kill -KILL $$;; esac`,
		'case "$*" in *" --version") echo "HandBrake 1.2.3";; *" -version") echo "ffprobe version 7";; *) printf "[]";; esac',
	];
	await writeFile(bwrap, `#!/bin/sh\n${script.join('\n')}\n`, { mode: 0o755 });
	await writeFile(isKilled, '');
	return { bwrap, isKilled };
}

test('HandBrake is unavailable where it is not known whether a sandbox works, also if none is accepted, and is found with one', async (t) => {
	const { bwrap, isKilled } = await fakeBubblewrap(t, '*');
	const { handbrake } = lookup({ bwrap, landlock: false, allowWithoutSandbox: true });
	t.like(await handbrake.find(), {
		installed: undefined,
		reason: `Videos can't be converted on this server now: whether a sandbox for the encoder works here could not be found out.`,
	});
	await rm(isKilled);
	t.is((await handbrake.find()).installed?.encoder.options.sandbox?.kind, 'bubblewrap');
});

test.serial('HandBrake gets the stronger sandbox once it could be tried', async (t) => {
	const { bwrap, isKilled } = await fakeBubblewrap(t, '*launch.js*');
	const { handbrake } = lookup({ bwrap, landlock: false });
	const look = async () => (await handbrake.find()).installed?.encoder.options.sandbox?.description;
	t.is(await look(), 'bubblewrap');
	await rm(isKilled);
	const { now } = performance;
	performance.now = () => now.call(performance) + 61_000;
	t.teardown(() => {
		performance.now = now;
	});
	t.is(await look(), 'bubblewrap, and a filter of system calls');
});

test('where no sandbox works HandBrake is unavailable, unless the administrator accepts that', async (t) => {
	const none = { bwrap: false, landlock: false } as const;
	const off = lookup(none);
	const found = await off.handbrake.find();
	t.is(found.installed, undefined);
	const reason = 'no sandbox for the encoder works here, neither bubblewrap nor Landlock';
	t.deepEqual(found, { installed: undefined, reason: `Videos can't be converted on this server now: ${reason}.` });
	t.deepEqual(off.lines, [`videos can not be converted: ${reason}`]);
	t.false(off.handbrake.isAvailable);

	const accepted = lookup({ ...none, allowWithoutSandbox: true });
	const { installed } = await accepted.handbrake.find();
	t.truthy(installed);
	t.is(installed?.encoder.options.sandbox, undefined);
	t.deepEqual(accepted.lines, ['HandBrake runs with limits only, without a sandbox, as the configuration allows']);
});

test('without ffprobe HandBrake is unavailable, and is found once ffprobe is installed', async (t) => {
	const ffprobe = path.join(await temporaryFolder(t), 'ffprobe');
	const { handbrake, lines } = lookup({ ffprobe });
	t.is((await handbrake.find()).installed, undefined);
	t.regex(lines.join(), /ffprobe, which decides what is a video, is not installed/);
	await writeFile(ffprobe, '#!/bin/sh\nexec ffprobe "$@"\n', { mode: 0o755 });
	t.truthy((await handbrake.find()).installed);
});

test('a program is killed when the shell that waits for it is killed', async (t) => {
	const encoder = await shellIn('no sandbox');
	let group = 0;
	const onLine = (line: string) => {
		group = Number(line);
		process.kill(group, 'SIGKILL');
	};
	const outcome = await encoder.run(['-c', 'echo $PPID; exec sleep 600'], { signal, returnsKill: true, onLine });
	t.is(outcome.code, 137);
	await untilEnded(group);
	t.pass();
});
