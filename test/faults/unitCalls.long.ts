import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { sandboxText, unitText } from '../../cli/src/service/unit.js';
import { until } from '../../packages/core/test/until.js';
import { film, h264, picture, removeFilms, type Status } from '../../plugins/handbrake/test/conversions.js';
import { checkServing } from '../packages/checkServing.js';
import { type ServerProcess, serveArgs, startServer } from '../serverProcess.js';

test.after.always(removeFilms);

/** V8 tries the first and continues without it; a sandbox gives up capabilities only where there are some, and the unit leaves none. */
const optional = ['pkey_alloc', 'capset'];

/** The system calls in one of systemd's sets, and those in the sets that it names. */
async function callsIn(set: string): Promise<string[]> {
	const { stdout } = await promisify(execFile)('systemd-analyze', ['syscall-filter', set]);
	const [, ...lines] = stdout.split('\n').map((line) => line.trim());
	const words = lines.filter((line) => line !== '' && !line.startsWith('#'));
	return (await Promise.all(words.map((word) => (word.startsWith('@') ? callsIn(word) : [word])))).flat();
}

/** The system calls that the filters of a unit allow, applied in order. */
async function allowedBy(unit: string): Promise<Set<string>> {
	const allowed = new Set(await callsIn('@default'));
	for (const [, minus, sets = ''] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
		for (const set of sets.split(' ')) {
			for (const call of set.startsWith('@') ? await callsIn(set) : [set]) {
				if (minus === '') allowed.add(call);
				else allowed.delete(call);
			}
		}
	}
	return allowed;
}

/** A folder of the programs that a server runs, but not bubblewrap. */
async function programsWithoutBubblewrap(folder: string): Promise<string> {
	for (const name of ['ffmpeg', 'ffprobe', 'pdftoppm', 'HandBrakeCLI', 'nice', 'ionice'])
		await symlink(`/usr/bin/${name}`, path.join(folder, name));
	return folder;
}

/** Has the server convert a short film of a new user's. */
async function convertFilm(server: ServerProcess, dataDir: string): Promise<void> {
	const cookie = await server.register('grace');
	await film('calls.mp4', [...picture('160x90', 1), ...h264], path.join(dataDir, 'files/users/grace/film.mp4'));
	const begun = await fetch(`${server.url}/api/handbrake/convert`, {
		method: 'POST',
		headers: { cookie, 'content-type': 'application/json' },
		body: JSON.stringify({ filePath: 'film.mp4', outputFormat: 'mp4', quality: 30, deleteOriginal: true }),
	});
	const { conversionId } = (await begun.json()) as { conversionId?: string };
	const status = await until('the film is converted', async () => {
		const answer = await fetch(`${server.url}/api/handbrake/status/${conversionId}`, { headers: { cookie } });
		const now = (await answer.json()) as Status;
		return ['queued', 'processing'].includes(now.status) ? undefined : now;
	});
	if (status?.status !== 'completed') throw new Error(`It was not converted: ${JSON.stringify(status)}`);
}

const isAllowed = test.macro(async (t, sandbox: 'bubblewrap' | 'Landlock') => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-calls-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const trace = path.join(folder, 'trace');
	const programs = sandbox === 'bubblewrap' ? (process.env.PATH ?? '') : await programsWithoutBubblewrap(folder);
	const server = await startServer(t, {
		command: 'strace',
		args: [
			'-f',
			'-qq',
			'-o',
			trace,
			'-E',
			`PATH=${programs}`,
			process.execPath,
			...serveArgs(path.join(folder, 'data')),
		],
	});
	await checkServing(t, server.url);
	await convertFilm(server, path.join(folder, 'data'));
	await server.stop();
	const lines = await readFile(trace, 'latin1');
	t.is(sandbox === 'bubblewrap', /execve\("[^"]*\/bwrap"/.test(lines));
	t.regex(lines, /prctl\(PR_SET_SECCOMP, SECCOMP_MODE_FILTER/, 'both sandboxes filter system calls');
	// What has failed is allowed to: a sandbox refuses calls of its own.
	const called = lines.matchAll(/^\d+ +(?:<\.\.\. )?(\w+)(?:\(.*| resumed.*) = (?!-1 )/gm);
	const unit = unitText({
		user: 'stowage',
		node: process.execPath,
		program: '/usr/lib/stowage/app/bin/stowage.js',
		config: '/etc/stowage/config.yaml',
		dataDir: '/var/lib/stowage',
		storageRoots: [],
	});
	const allowed = await allowedBy(sandbox === 'bubblewrap' ? unit + sandboxText() : unit);
	const denied = [...new Set([...called].map(([, name = '']) => name))].filter((name) => !allowed.has(name));
	t.deepEqual(
		denied.filter((name) => !optional.includes(name)),
		[],
	);
	t.true(allowed.has('openat') && !allowed.has('reboot'));
});

test(
	'the unit with its drop-in allows all system calls of serving, uploading, rendering and converting in bubblewrap',
	isAllowed,
	'bubblewrap',
);
test(
	'the unit allows all system calls of serving, uploading, rendering and converting in a sandbox of Landlock',
	isAllowed,
	'Landlock',
);
