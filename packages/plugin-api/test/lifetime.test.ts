import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { findProgram } from '../src/programs/findProgram.js';
import { limitedCommand } from '../src/programs/limitedProgram.js';
import type { SandboxOptions } from '../src/programs/sandbox/findSandbox.js';

const killedServer = fileURLToPath(new URL('killedServer.js', import.meta.url));

/** Some user that no machine has. */
const uid = 47_432;

async function temporaryFolder(t: ExecutionContext): Promise<string> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-lifetime-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	return folder;
}

/** The processes of a group that have not ended. */
async function membersOf(group: number): Promise<number[]> {
	const members: number[] = [];
	for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
		const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
		const [state, , found] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
		if (Number(found) === group && state !== 'Z') members.push(Number(pid));
	}
	return members;
}

/** Fails by the time limit of the test if some stay. */
async function untilEnded(t: ExecutionContext, group: number): Promise<void> {
	t.true(group > 0);
	t.teardown(async () => {
		for (const each of await membersOf(group)) process.kill(each, 'SIGKILL');
	});
	while ((await membersOf(group)).length > 0) await setTimeout(20);
}

const places: Readonly<Record<string, { options: SandboxOptions; times: readonly string[] }>> = {
	// Before it has begun a program, a process of its own waits for another of its own, without doing anything.
	bubblewrap: { options: {}, times: [''] },
	Landlock: { options: { bwrap: false }, times: ['', '0', '20'] },
	'no sandbox': { options: { bwrap: false, landlock: false }, times: ['', '0', '20'] },
};

for (const [place, { options, times }] of Object.entries(places)) {
	test(`a program that hangs in ${place} ends with a server that is killed`, async (t) => {
		t.timeout(600_000);
		for (const after of times) {
			const server = spawn(process.execPath, [killedServer, JSON.stringify(options), after]);
			const [output] = await Promise.all([text(server.stdout), once(server, 'close')]);
			t.is(server.signalCode, 'SIGKILL', after);
			await untilEnded(t, Number(output));
		}
	});
}

test('where there are processes for a part only of what watches a program that ends with its input, none of it stays', async (t) => {
	t.timeout(600_000);
	t.is(process.geteuid?.(), 0, 'this test runs as root');
	for (const most of [1, 2, 3, 4]) {
		const { file, args, options } = limitedCommand('/bin/sh', ['-c', 'exec sleep 600'], {
			memoryBytes: 2 ** 29,
			endsWithInput: true,
		});
		const as = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups', 'prlimit', `--nproc=${most}`];
		const child = spawn('setpriv', [...as, file, ...args], options);
		child.stderr?.resume();
		// A shell that has no process for a part of it has ended; else the server ends.
		await Promise.race([once(child, 'exit'), setTimeout(2000)]);
		child.stdin?.destroy();
		await untilEnded(t, child.pid as number);
	}
});

test('programs are confined and have their limits also without a PATH, or with one that has none of those that do so', async (t) => {
	const folder = await temporaryFolder(t);
	await symlink((await findProgram('bwrap')) ?? '', path.join(folder, 'bwrap'));
	const program = fileURLToPath(new URL('describesSandbox.js', import.meta.url));
	const look = async (env: Record<string, string>) => {
		const child = spawn(process.execPath, [program], { env });
		return text(child.stdout);
	};
	const usual = await look({ PATH: process.env.PATH ?? '' });
	t.regex(usual, /^bubblewrap/);
	t.is(await look({ PATH: folder }), usual);
	t.is(await look({ PATH: '' }), usual);
	t.is(await look({}), usual);
	t.regex(await look({ PATH: '/nonexistent' }), /^Landlock/);
});

test.serial('a setpriv that is killed, or lacks memory, is asked again by the next program', async (t) => {
	const folder = await temporaryFolder(t);
	const { PATH } = process.env;
	process.env.PATH = `${folder}:${PATH}`;
	t.teardown(() => {
		process.env.PATH = PATH;
	});
	// A process asks until it knows.
	const asking: string = '../src/programs/boundCommand.js?asking';
	const { boundCommand } = (await import(asking)) as typeof import('../src/programs/boundCommand.js');
	const outOfMemory = 'echo "setpriv: error while loading shared libraries: Cannot allocate memory" >&2; exit 127';
	for (const script of ['kill -KILL $$', outOfMemory, 'exit 1']) {
		await writeFile(path.join(folder, 'setpriv'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
		t.is(boundCommand('true', []).file, 'true', script);
	}
	await writeFile(path.join(folder, 'setpriv'), '#!/bin/sh\n');
	t.is(boundCommand('true', []).file, 'setpriv');
});

test('where setpriv can’t bind a program to the server, it runs without that', async (t) => {
	const folder = await temporaryFolder(t);
	// As busybox has it.
	await writeFile(path.join(folder, 'setpriv'), '#!/bin/sh\necho "setpriv: unrecognized option" >&2\nexit 1\n');
	await chmod(path.join(folder, 'setpriv'), 0o755);
	const program = fileURLToPath(new URL('describesSandbox.js', import.meta.url));
	const child = spawn(process.execPath, [program], { env: { PATH: `${folder}:${process.env.PATH}` } });
	t.regex(await text(child.stdout), /^bubblewrap/);
});
