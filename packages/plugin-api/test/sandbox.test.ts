import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
	chmod,
	link,
	mkdtemp,
	open,
	readdir,
	readFile,
	rename,
	rm,
	stat,
	symlink,
	unlink,
	writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import os, { availableParallelism } from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isFailure } from '@stowage/rules';
import test, { type ExecutionContext } from 'ava';
import { findProgram } from '../src/programs/findProgram.js';
import { nodeReservesBytes, type ProgramOptions, spawnLimited } from '../src/programs/limitedProgram.js';
import { bubblewrapSandbox, findSandbox, landlockSandbox, type Sandbox } from '../src/programs/sandbox/findSandbox.js';
import type { SandboxNeeds } from '../src/programs/sandbox/needs.js';

const bwrap = (await findProgram('bwrap')) ?? '';
const found = await findSandbox();
if (found === undefined) throw new Error('There is no sandbox.');
const sandboxes = {
	bubblewrap: bubblewrapSandbox({ bwrap, hasOwnProc: true, inner: undefined }),
	'bubblewrap with the /proc of the system': bubblewrapSandbox({ bwrap, hasOwnProc: false, inner: undefined }),
	'bubblewrap and a filter': bubblewrapSandbox({ bwrap, hasOwnProc: true, inner: { landlock: 0 } }),
	'bubblewrap and Landlock': bubblewrapSandbox({ bwrap, hasOwnProc: true, inner: { landlock: 1 } }),
	'bubblewrap and Landlock with the /proc of the system': bubblewrapSandbox({
		bwrap,
		hasOwnProc: false,
		inner: { landlock: 1 },
	}),
	Landlock: landlockSandbox(1),
} as const;
/** For comparison. */
const none: Sandbox = { kind: 'landlock', description: '', wrap: (command, args) => ({ command, args: [...args] }) };

type SandboxName = keyof typeof sandboxes;
const names = Object.keys(sandboxes) as SandboxName[];

interface Outcome {
	code: number | null;
	output: string;
	errors: string;
}

interface RunNeeds
	extends Pick<SandboxNeeds, 'readOnly' | 'mayFork' | 'reservesAddresses'>,
		Pick<ProgramOptions, 'fileBytes'> {
	lent?: readonly number[];
	access?: readonly ('read' | 'write')[];
}

async function run(
	sandbox: Sandbox,
	program: string,
	args: readonly string[],
	{ lent = [], access = [], fileBytes, ...needs }: RunNeeds = {},
): Promise<Outcome> {
	const files = lent.map((source, n) => ({ descriptor: 3 + n, access: access[n] ?? 'read', source }));
	const { command, args: wrapped } = sandbox.wrap(program, args, { ...needs, files });
	const child = spawnLimited(command, wrapped, {
		memoryBytes: 2 ** 29,
		files: lent,
		...(fileBytes === undefined ? {} : { fileBytes }),
	});
	child.stdin?.end();
	if (child.stdout === null || child.stderr === null) throw new Error('It has no output.');
	const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	return { code, output, errors };
}

const shell = (sandbox: Sandbox, script: string, needs: RunNeeds = {}) =>
	run(sandbox, '/bin/sh', ['-c', script], { mayFork: true, ...needs });

async function temporaryFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-sandbox-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** In Perl: exits with 0 if the system call succeeds. */
const perlCall = (number: number, ...args: (number | string)[]) =>
	`perl -e 'my $zeros = "\\0" x 200; exit(syscall(${[number, ...args].join(', ')}) < 0 ? 1 : 0)'`;

const isIsolated = test.macro(async (t, name: SandboxName) => {
	const folder = await temporaryFolder(t);
	const secret = path.join(folder, 'session.key');
	await writeFile(secret, 'secret');
	const server = createServer((socket) => socket.destroy());
	server.listen(0, '127.0.0.1');
	const local = createServer((socket) => socket.destroy()).listen(path.join(folder, 'socket'));
	const abstract = createServer((socket) => socket.destroy()).listen(`\0${folder}`);
	await Promise.all([server, local, abstract].map((each) => once(each, 'listening')));
	t.teardown(() => [server, local, abstract].forEach((each) => void each.close()));
	const { port } = server.address() as { port: number };
	const unix = (address: string) =>
		`perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) or exit 1; connect(S, pack_sockaddr_un("${address}")) or exit 1'`;
	const attempts = [
		`cat ${secret}`,
		`ls ${folder}`,
		'cat /etc/passwd',
		// A launcher that is lent from this clone brings the folders above it along, with nothing else in them.
		['/home', '/root', '/var/lib', '/srv', '/opt']
			.filter((each) => !process.cwd().startsWith(`${each}/`))
			.map((each) => `ls ${each}`)
			.join(' || '),
		...['environ', 'maps', 'fd/0', `root${secret}`, `cwd`, 'task'].map((each) => `cat /proc/${process.pid}/${each}`),
		`echo x > /proc/${process.pid}/oom_score_adj`,
		// Opened, and left as it is: what a server of root may write to is a way out.
		...['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe', '/proc/self/oom_score_adj'].map(
			(each) => `: >> ${each}`,
		),
		...['/x', '/tmp/x', `${folder}/x`, '/dev/x', '/dev/shm/x', '/usr/bin/x', '/proc/x', '/etc/x', '/var/tmp/x'].map(
			(each) => `echo x > ${each}`,
		),
		`rm ${secret}`,
		`mv ${secret} ${folder}/moved`,
		`ln ${secret} ${folder}/linked`,
		`ln -s ${secret} ${folder}/linked`,
		`chmod 777 ${secret}`,
		`chown 1 ${secret}`,
		`touch -d 2001-01-01 ${secret}`,
		`truncate -s 0 ${secret}`,
		`perl -e 'truncate("${secret}", 0) or exit 1'`,
		`perl -MIO::Socket::INET -e 'IO::Socket::INET->new("127.0.0.1:${port}") or exit 1'`,
		unix(path.join(folder, 'socket')),
		unix(`\\0${folder}`),
		`kill -9 ${process.pid}`,
		`kill -0 ${process.pid}`,
		`renice -n 19 -p ${process.pid}`,
		`prlimit --pid ${process.pid} --cpu=1`,
		'mount -t tmpfs none /usr',
		...(process.arch === 'x64' ? [`perl -e 'exit(syscall(101, 16, ${process.pid}, 0, 0) < 0 ? 1 : 0)'`] : []),
	];
	for (const attempt of attempts) {
		const { code, errors } = await shell(sandboxes[name], attempt);
		t.not(code, 0, attempt);
		t.notRegex(errors, /^(sandbox|bwrap): |not found/m, attempt);
	}
	t.is(await readFile(secret, 'utf8'), 'secret');
	t.is((await stat(secret)).mode & 0o777, 0o644);
});

const runs = test.macro(async (t, name: SandboxName) => {
	const sandbox = sandboxes[name];
	t.deepEqual(await shell(sandbox, 'cat; echo out; echo err >&2; exit 3'), {
		code: 3,
		output: 'out\n',
		errors: 'err\n',
	});
	const folder = await temporaryFolder(t);
	await writeFile(path.join(folder, 'read.js'), 'console.log(require("node:fs").readFileSync(__filename).length)');
	await writeFile(path.join(folder, 'beside'), 'x');
	const own = path.join(folder, 'own');
	await writeFile(own, `#!/bin/sh\ncat ${own} >/dev/null && ! cat ${folder}/beside\n`);
	await chmod(own, 0o755);
	const script = path.join(folder, 'read.js');
	t.is((await run(sandbox, process.execPath, [script], { readOnly: [script] })).code, 0);
	t.not((await run(sandbox, process.execPath, [script])).code, 0);
	const { code, errors } = await run(sandbox, own, [], { mayFork: true });
	t.is(code, 0, errors);
});

const lends = test.macro(async (t, name: SandboxName) => {
	const folder = await temporaryFolder(t);
	const [sourceName, targetName] = ['source', 'target'].map((each) => path.join(folder, each)) as [string, string];
	await writeFile(sourceName, 'from the source');
	const source = await open(sourceName);
	const target = await open(targetName, 'wx+');
	t.teardown(() => Promise.all([source.close(), target.close()]));
	// What is written is staged without a name.
	await link(targetName, `${targetName}.kept`);
	await unlink(targetName);
	await unlink(`${targetName}.kept`);
	// Without Landlock a source is mounted, by its name.
	if (/Landlock/.test(name)) await unlink(sourceName);
	const lent = [source.fd, target.fd];
	const access = ['read', 'write'] as const;
	const copied = await shell(sandboxes[name], 'cat /proc/self/fd/3 > /dev/fd/4', { lent, access });
	t.deepEqual(copied, { code: 0, output: '', errors: '' });
	t.is((await target.read(Buffer.alloc(99), 0, 99, 0)).bytesRead, 'from the source'.length);
	const tooMuch = await shell(sandboxes[name], 'head -c 100000 /dev/urandom > /proc/self/fd/4', {
		lent,
		access,
		fileBytes: 20_480,
	});
	t.not(tooMuch.code, 0);
	t.is((await target.stat()).size, 20_480);
});

const endsWhole = test.macro(async (t, name: SandboxName) => {
	const { command, args } = sandboxes[name].wrap(
		'/bin/sh',
		['-c', '(sleep 600 & setsid sleep 600 & wait) & echo; wait'],
		{
			mayFork: true,
		},
	);
	const child = spawnLimited(command, args, { memoryBytes: 2 ** 29 });
	await once(child.stdout as NodeJS.ReadableStream, 'data');
	process.kill(-(child.pid ?? 0), 'SIGKILL');
	// Its output ends once the last process that has it open does.
	await once(child, 'close');
	t.pass();
});

for (const name of names) {
	test(`a program in a sandbox of ${name} reaches no file, process, socket or place to write`, isIsolated, name);
	test(
		`a program in a sandbox of ${name} runs, and reads itself and what it needs, but not what lies beside`,
		runs,
		name,
	);
	test(`files lent into a sandbox of ${name} are read and written, also without a name, up to the limit`, lends, name);
	test(`a program in a sandbox of ${name} ends with all that it started`, endsWhole, name);
}

for (const [name, sandbox] of Object.entries({ ...sandboxes, 'the strongest kind': found })) {
	test(`a file that is lent for reading can not be written in a sandbox of ${name}`, async (t) => {
		const folder = await temporaryFolder(t);
		const file = path.join(folder, 'source');
		await writeFile(file, 'source');
		await chmod(file, 0o600);
		const source = await open(file);
		t.teardown(() => source.close());
		const needs = { lent: [source.fd] };
		t.is((await shell(sandbox, 'cat /dev/fd/3', needs)).output, 'source');
		const emptied = `perl -MFcntl -e 'sysopen(F, "/dev/fd/3", O_RDONLY | O_TRUNC) or exit 1'`;
		const changed = ['chmod 777 /dev/fd/3', 'touch -d 2001-01-01 /dev/fd/3'];
		for (const script of [
			'echo x > /dev/fd/3',
			'echo x >> /dev/fd/3',
			'truncate -s 0 /dev/fd/3',
			emptied,
			...changed,
		]) {
			t.not((await shell(sandbox, script, needs)).code, 0, script);
		}
		t.is(await readFile(file, 'utf8'), 'source');
		t.is((await stat(file)).mode & 0o777, 0o600);
	});
	if (process.arch !== 'x64' || !/Landlock|filter|strongest/.test(name)) continue;
	test(`a file that is lent for reading keeps its flags and its number, its lock, and can be opened, in a sandbox of ${name}`, async (t) => {
		const file = path.join(await temporaryFolder(t), 'source');
		await writeFile(file, 'source');
		const source = await open(file);
		t.teardown(() => source.close());
		/** A file system without such a control refuses it by another error. */
		const isRefused = (call: string) => `my $data = pack('L9', 64); exit(syscall(${call}) < 0 && $! == 1 ? 0 : 1)`;
		const calls = {
			FS_IOC_SETFLAGS: '16, 3, 0x40086602, $data',
			FS_IOC_SETVERSION: '16, 3, 0x40087602, $data',
			EXT4_IOC_SETVERSION: '16, 3, 0x40086604, $data',
			FS_IOC_FSSETXATTR: '16, 3, 0x401c5820, $data',
			FS_IOC_ENABLE_VERITY: '16, 3, 0x40806685, $data',
			FAT_IOCTL_SET_ATTRIBUTES: '16, 3, 0x40047211, $data',
			F_SETLEASE: '72, 3, 1024, 1',
			flock: '73, 3, 6',
		};
		for (const [call, words] of Object.entries(calls)) {
			const { code, errors } = await run(sandbox, '/usr/bin/perl', ['-e', isRefused(words)], { lent: [source.fd] });
			t.deepEqual([code, errors], [0, ''], call);
		}
	});
}

for (const [name, sandbox] of Object.entries({ ...sandboxes, 'the strongest kind': found })) {
	if (!/Landlock|filter|strongest/.test(name)) continue;
	test(`a program in a sandbox of ${name} starts no other process, so that its memory has one limit, and its threads have one`, async (t) => {
		const fork = `my $child = fork; exit(7) if !defined $child; exit 0`;
		t.is((await run(sandbox, '/usr/bin/perl', ['-e', fork])).code, 7);
		t.is((await run(sandbox, '/usr/bin/perl', ['-e', fork], { mayFork: true })).code, 0);
		t.is((await shell(sandbox, 'exec true', { mayFork: false })).code, 0);
		const thread = 'new (require("node:worker_threads").Worker)("1", { eval: true }).on("exit", console.log)';
		const { output } = await run(sandbox, process.execPath, ['-e', thread]);
		t.is(output, '0\n', 'it has threads');
		const limit = Number(
			(await shell(sandbox, "grep 'Max processes' /proc/self/limits || ulimit -p")).output.match(/\d+/)?.[0],
		);
		const threads = Number((await readFile('/proc/loadavg', 'latin1')).match(/\/(\d+)/)?.[1]);
		t.true(limit > 256 && limit < threads + 10_000, `${limit}`);
	});
}

test('a source that was exchanged before bubblewrap has mounted it is not read', async (t) => {
	const folder = await temporaryFolder(t);
	const file = path.join(folder, 'source');
	await writeFile(file, 'source');
	const source = await open(file);
	t.teardown(() => source.close());
	for (const name of names.filter((each) => !/Landlock/.test(each))) {
		const needs = { files: [{ descriptor: 3, access: 'read', source: source.fd }] } as const;
		const { command, args } = sandboxes[name].wrap('/bin/cat', ['/dev/fd/3'], needs);
		await rename(file, `${file}.old`);
		await writeFile(file, 'another');
		const child = spawnLimited(command, args, { memoryBytes: 2 ** 29, files: [source.fd] });
		child.stdin?.end();
		const [output, [code]] = await Promise.all([text(child.stdout as Readable), once(child, 'close')]);
		t.deepEqual([output, code], ['', 126]);
		await rename(`${file}.old`, file);
	}
});

if (process.arch === 'x64') {
	const calls: Readonly<Record<string, string>> = {
		socket: perlCall(41, 1, 1, 0),
		socketpair: perlCall(53, 1, 1, 0, '$zeros'),
		unshare: perlCall(272, 0x10000000),
		io_uring_setup: perlCall(425, 1, '$zeros'),
		keyctl: perlCall(250, 0, -3, 1),
		memfd_create: perlCall(319, '$zeros', 0),
		'mmap of shared memory, which no limit counts': perlCall(9, 0, 2 ** 20, 3, 0x21, -1, 0),
		'mmap of a stack, which the limit of memory does not count': perlCall(9, 0, 2 ** 20, 3, 0x122, -1, 0),
		'mmap of shared memory by a device': `perl -e 'open(F, "+<", "/dev/zero") or exit 1; exit(syscall(9, 0, ${2 ** 20}, 3, 1, fileno(F), 0) < 0 ? 1 : 0)'`,
		setsid: 'setsid -w true',
		inotify_init: perlCall(294, 0),
		'a call that is younger than the filter': perlCall(463),
		'a new user by clone': perlCall(56, 0x10000000 | 17, 0, 0, 0, 0),
		'signals of a file to another process': `perl -e 'open(F, "</dev/null"); fcntl(F, 8, ${process.pid}) or exit 1'`,
	};
	for (const [name, script] of Object.entries(calls)) {
		test(`a program in a sandbox with a filter is refused ${name}`, async (t) => {
			for (const sandbox of ['Landlock', 'bubblewrap and a filter', 'bubblewrap and Landlock'] as const) {
				const { code, errors } = await shell(sandboxes[sandbox], script);
				t.not(code, 0, sandbox);
				t.notRegex(errors, /^sandbox: /m);
			}
			if (!name.startsWith('a call')) t.is((await shell(none, script)).code, 0, 'without a sandbox');
		});
	}
}

const withFilter = ['Landlock', 'bubblewrap and a filter', 'bubblewrap and Landlock'] as const;

if (process.arch === 'x64') {
	test('memory that a program has written to and can then only read is bounded in a sandbox with a filter', async (t) => {
		// Maps 64 MB that may be written, makes them readable only, and begins again.
		const script =
			'my $n = 0; for (1..400) { my $at = syscall(9, 0, 2**26, 3, 0x22, -1, 0); last if $at < 0; syscall(10, $at, 2**26, 1); $n++ } print $n';
		for (const sandbox of withFilter) {
			const { output, errors } = await run(sandboxes[sandbox], '/usr/bin/perl', ['-e', script]);
			const bytes = Number(output) * 2 ** 26;
			t.true(bytes > 2 ** 29, `${sandbox}: ${errors}`);
			t.true(bytes < 2 ** 29 + 2 ** 31 + availableParallelism() * 2 ** 26, `${sandbox}: ${output}`);
		}
		const free = await run(sandboxes.Landlock, '/usr/bin/perl', ['-e', script], { reservesAddresses: true });
		t.is(free.output, '400');
	});

	test('a program in a sandbox with a filter takes no room behind the end of the file that it writes', async (t) => {
		const folder = await temporaryFolder(t);
		const file = path.join(folder, 'output');
		await writeFile(file, '');
		const output = await open(file, 'r+');
		t.teardown(() => output.close());
		const allocate = (mode: number, bytes: number) => `exit(syscall(285, 3, ${mode}, 0, ${bytes}) < 0 ? 1 : 0)`;
		for (const sandbox of withFilter) {
			const attempt = async (mode: number, bytes: number) => {
				const needs: RunNeeds = { lent: [output.fd], access: ['write'], fileBytes: 2 ** 20 };
				return (await run(sandboxes[sandbox], '/usr/bin/perl', ['-e', allocate(mode, bytes)], needs)).code;
			};
			t.not(await attempt(1, 2 ** 24), 0, `${sandbox}: FALLOC_FL_KEEP_SIZE`);
			t.is((await stat(file)).blocks, 0);
			t.is(await attempt(0, 2 ** 19), 0, sandbox);
			t.is((await stat(file)).size, 2 ** 19);
			await output.truncate(0);
		}
	});
}

test('a program can not raise its stack, which the limit of memory does not count', async (t) => {
	const { output } = await shell(none, 'ulimit -S -s unlimited 2>/dev/null; ulimit -s; ulimit -H -s');
	t.regex(output, /^\d+\n\d+\n$/);
	t.true(output.split('\n').every((each) => Number(each) <= 8192));
});

test('what Node reserves of the limit of memory is taken off before another program begins, also below what Node has in use', async (t) => {
	const { command, args } = sandboxes.Landlock.wrap('/bin/sh', ['-c', 'ulimit -d; ulimit -Hd']);
	const launch = args.findIndex((each) => each.startsWith('{'));
	t.is(JSON.parse(args[launch] ?? '').reservedBytes, nodeReservesBytes);
	const reservedBytes = 2 ** 29 + nodeReservesBytes;
	const reserving = args.with(launch, JSON.stringify({ ...JSON.parse(args[launch] ?? ''), reservedBytes }));
	const child = spawnLimited(command, reserving, { memoryBytes: 2 ** 29 + 2 ** 24 });
	child.stdin?.end();
	if (child.stdout === null || child.stderr === null) throw new Error('It has no output.');
	const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
	t.is(output, '16384\n16384\n', errors);
	const own = sandboxes.Landlock.wrap(process.execPath, []);
	t.is(JSON.parse(own.args[launch] ?? '').reservedBytes, 0, 'Node itself needs it');
});

test('of the sandboxes the strongest that works is found', async (t) => {
	t.is((await findSandbox())?.kind, 'bubblewrap');
	t.is((await findSandbox({ bwrap: false }))?.kind, 'landlock');
	t.is((await findSandbox({ bwrap: '/nonexistent/bwrap' }))?.kind, 'landlock');
	t.is(await findSandbox({ bwrap: false, landlock: false }), undefined);
});

test('a sandbox that could not be tried for want of processes is not taken for none, and is tried again', async (t) => {
	const folder = await temporaryFolder(t);
	const fake = path.join(folder, 'bwrap');
	await writeFile(
		fake,
		'#!/bin/sh\necho "bwrap: Creating new namespace failed: Resource temporarily unavailable" >&2\nexit 1\n',
	);
	await chmod(fake, 0o755);
	const unknown = await findSandbox({ bwrap: fake, landlock: false });
	t.true(
		isFailure(
			t.throws(() => unknown?.wrap('/bin/true', [])),
			'unavailable',
		),
	);
	await rm(fake);
	await symlink(bwrap, fake);
	t.is((await findSandbox({ bwrap: fake, landlock: false }))?.kind, 'bubblewrap');
});

test.serial('where only a weaker sandbox could be tried, the stronger ones are tried again later', async (t) => {
	const folder = await temporaryFolder(t);
	const [fake, busy] = ['bwrap', 'busy'].map((name) => path.join(folder, name)) as [string, string];
	const fails = 'echo "bwrap: Creating new namespace failed: Resource temporarily unavailable" >&2; exit 1';
	await writeFile(
		fake,
		`#!/bin/sh\n[ -e ${busy} ] && case "$*" in *launch.js*) ${fails} ;; esac\nexec ${bwrap} "$@"\n`,
	);
	await chmod(fake, 0o755);
	await writeFile(busy, '');
	const look = async () => (await findSandbox({ bwrap: fake, landlock: false }))?.description;
	t.is(await look(), 'bubblewrap');
	await rm(busy);
	letMinutePass(t);
	t.is(await look(), 'bubblewrap, and a filter of system calls');
});

test('a sandbox that could not be tried for want of descriptors is not taken for none, and is tried again', async (t) => {
	const program = fileURLToPath(new URL('fewDescriptors.js', import.meta.url));
	const child = spawn('/bin/sh', ['-c', 'ulimit -n 96; exec "$@"', 'sh', process.execPath, program]);
	const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
	t.is(errors, '');
	const outcomes: string[] = JSON.parse(output);
	t.is(outcomes[0], 'not known yet');
	t.is(outcomes.at(-1), found.description);
	t.false(outcomes.includes('none'), output);
});

test('descriptors that run out while a sandbox is tried keep no later one from being found, and leave no folder', async (t) => {
	const folder = await temporaryFolder(t);
	const program = fileURLToPath(new URL('descriptorsRunOut.js', import.meta.url));
	const child = spawn('/bin/sh', ['-c', 'ulimit -n 128; exec "$@"', 'sh', process.execPath, program, folder], {
		env: { ...process.env, TMPDIR: folder },
	});
	const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
	t.is(errors, '');
	t.regex(output, /^\["(none|not known yet)","none"\]$/);
	t.deepEqual((await readdir(folder)).sort(), ['bwrap', 'started']);
});

/** The time after which what could not be found out is tried again. */
function letMinutePass(t: ExecutionContext): void {
	const { now } = performance;
	performance.now = () => now.call(performance) + 61_000;
	t.teardown(() => {
		performance.now = now;
	});
}

/** A program in the place of bubblewrap. */
async function fakeBubblewrap(t: ExecutionContext, script: string): Promise<string> {
	const fake = path.join(await temporaryFolder(t), 'bwrap');
	await writeFile(fake, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
	return fake;
}

const noThreads = "node[12]: ../deps/uv/src/threadpool.c:58: Assertion `0 == uv_thread_create()' failed.";

const noLibrary =
	'echo "node: error while loading shared libraries: libuv.so.1: cannot open shared object file" >&2; exit 127';

const ends: Readonly<Record<string, 'unknown' | 'none'>> = {
	'kill -KILL $$': 'unknown',
	'exit 137': 'unknown',
	'kill -SEGV $$': 'unknown',
	'kill -ABRT $$': 'unknown',
	[`echo "${noThreads.replace('`', '\\`')}" >&2; exit 1`]: 'unknown',
	'exit 1': 'unknown',
	[noLibrary]: 'unknown',
	'exit 0': 'unknown',
	'echo "bwrap: Can\'t find source path /opt/stowage: No such file or directory" >&2; exit 1': 'unknown',
	'echo "sandbox: landlock_add_rule failed with error 12." >&2; exit 126': 'unknown',
	'echo "sandbox: PR_SET_SECCOMP failed with error 22." >&2; exit 126': 'none',
	'echo "bwrap: No permissions to create new namespace" >&2; exit 1': 'none',
	// As a service's filter of system calls does.
	'kill -SYS $$': 'none',
	'exit 159': 'none',
};

test('that a sandbox does not work follows only from what is said, not from an end by a signal or without a word', async (t) => {
	for (const [script, outcome] of Object.entries(ends)) {
		const sandbox = await findSandbox({ bwrap: await fakeBubblewrap(t, script), landlock: false });
		t.is(sandbox?.kind ?? 'none', outcome, script);
	}
});

test.serial('that there is no Landlock follows only from what is said, too', async (t) => {
	const node = process.execPath;
	t.teardown(() => {
		process.execPath = node;
	});
	for (const [script, outcome] of Object.entries(ends)) {
		for (const before of ['', 'case "$*" in *launch.js) printf 7; exit;; esac; ']) {
			process.execPath = await fakeBubblewrap(t, `${before}${script}`);
			const sandbox = await findSandbox({ bwrap: path.join(path.dirname(process.execPath), 'none') });
			t.is(sandbox?.kind ?? 'none', outcome, before + script);
		}
	}
});

test.serial(
	'what fails in each sandbox without a word, or for missing files, for longer than an upgrade takes does not work here',
	async (t) => {
		const lasting = { [noLibrary]: 'none', 'kill -SEGV $$': 'none', 'exit 1': 'none', 'kill -KILL $$': 'unknown' };
		const fakes = await Promise.all(Object.keys(lasting).map((script) => fakeBubblewrap(t, script)));
		const look = () =>
			Promise.all(fakes.map(async (bwrap) => (await findSandbox({ bwrap, landlock: false }))?.kind ?? 'none'));
		const { now } = performance;
		t.teardown(() => {
			performance.now = now;
		});
		t.deepEqual(await look(), ['unknown', 'unknown', 'unknown', 'unknown']);
		performance.now = () => now.call(performance) + 120_000;
		t.deepEqual(await look(), ['unknown', 'unknown', 'unknown', 'unknown']);
		performance.now = () => now.call(performance) + 301_000;
		t.deepEqual(await look(), Object.values(lasting));
	},
);

/** Goes on to the program, also behind the shell that would open files by its mounts. */
const confinesNothing = 'while [ "$1" != -- ]; do shift; done; shift; [ "$1" != /bin/sh ] || shift 4';

test('a sandbox that confines nothing is not taken because the machine had no descriptors for what was tried in it', async (t) => {
	const loaded = path.join(await temporaryFolder(t), 'loaded.cjs');
	await writeFile(
		loaded,
		`const fails = () => { throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' }); };
		Object.assign(require('node:fs'), { openSync: fails, readFileSync: fails, writeFileSync: fails });
		require('node:net').connect = fails;`,
	);
	const notInner = 'case "$*" in *launch.js*) echo "bwrap: refused" >&2; exit 1;; esac';
	const runs = `${notInner}; ${confinesNothing}; node=$1; shift; exec "$node" -r ${loaded} "$@"`;
	const sandbox = await findSandbox({ bwrap: await fakeBubblewrap(t, runs), landlock: false });
	t.is(sandbox?.kind, 'unknown');
});

test.serial(
	'a weaker sandbox that works is kept where it can not be found out now whether a stronger one does',
	async (t) => {
		const busy = path.join(await temporaryFolder(t), 'busy');
		const killed = 'kill -KILL $$';
		// The weakest one seems to hold.
		const fake = await fakeBubblewrap(
			t,
			`[ -e ${busy} ] && ${killed}; case "$*" in *launch.js*) ${killed};; esac; printf '[]'`,
		);
		const look = async () => (await findSandbox({ bwrap: fake, landlock: false }))?.description;
		t.is(await look(), 'bubblewrap');
		await writeFile(busy, '');
		letMinutePass(t);
		t.is(await look(), 'bubblewrap');
	},
);

test.serial('who waits for a sandbox that is being tried does not try it again, however long that takes', async (t) => {
	const begun = path.join(await temporaryFolder(t), 'begun');
	const strongerUnknown = 'case "$*" in *launch.js*) kill -KILL $$;; esac';
	const fake = await fakeBubblewrap(t, `echo >> ${begun}; sleep 0.1; ${strongerUnknown}; printf '[]'`);
	const look = async () => (await findSandbox({ bwrap: fake, landlock: false }))?.description;
	const waiting = Array.from({ length: 5 }, look);
	// By then it is under way.
	await setImmediate();
	letMinutePass(t);
	t.deepEqual(await Promise.all(waiting), Array(5).fill('bubblewrap'));
	t.is((await readFile(begun, 'utf8')).length, 3);
});

test.serial(
	'while stronger sandboxes are tried again, which may take long, the one that works is there in seconds',
	async (t) => {
		const busy = path.join(await temporaryFolder(t), 'busy');
		const heldUp = `while [ -e ${busy} ]; do sleep 0.1; done; kill -KILL $$`;
		const fake = await fakeBubblewrap(t, `case "$*" in *launch.js*) ${heldUp};; esac; printf '[]'`);
		const look = async () => (await findSandbox({ bwrap: fake, landlock: false }))?.description;
		t.is(await look(), 'bubblewrap');
		await writeFile(busy, '');
		letMinutePass(t);
		const begun = Date.now();
		t.deepEqual(await Promise.all([look(), look()]), ['bubblewrap', 'bubblewrap']);
		// Each of two is given up after half a minute.
		t.true(Date.now() - begun < 40_000);
		await rm(busy);
		// Not before what is under way has ended.
		t.is(await look(), 'bubblewrap');
	},
);

test.serial(
	'a sandbox that worked is kept where it can not be found out now whether it does, and a weaker one works',
	async (t) => {
		const busy = path.join(await temporaryFolder(t), 'busy');
		const killed = 'kill -KILL $$';
		const inner = `[ ! -e ${busy} ] || ${killed}; case "$*" in *"--proc /proc"*) ${killed};; esac`;
		const fake = await fakeBubblewrap(t, `case "$*" in *launch.js*) ${inner};; esac; printf '[]'`);
		const look = async () => (await findSandbox({ bwrap: fake, landlock: false }))?.description;
		const withFilter = "bubblewrap, with the system's list of processes, and a filter of system calls";
		t.is(await look(), withFilter);
		await writeFile(busy, '');
		letMinutePass(t);
		t.is(await look(), withFilter);
	},
);

test('a sandbox that confines nothing is not taken', async (t) => {
	const fake = await fakeBubblewrap(t, `${confinesNothing}; exec "$@"`);
	t.is(await findSandbox({ bwrap: fake, landlock: false }), undefined);
});
