import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { sandboxText, unitText } from '../../cli/src/service/unit.js';
import { checkServing } from '../packages/checkServing.js';
import { serveArgs, startServer } from '../serverProcess.js';

/** V8 and SQLite try these and continue without them. */
const optional = ['fchown', 'pkey_alloc'];

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

test('the unit allows every system call that serving, uploading and rendering thumbnails make', async (t) => {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-calls-'));
	t.teardown(() => rm(folder, { recursive: true, force: true }));
	const trace = path.join(folder, 'trace');
	const server = await startServer(t, {
		command: 'strace',
		args: ['-f', '-qq', '-o', trace, process.execPath, ...serveArgs(path.join(folder, 'data'))],
	});
	await checkServing(t, server.url);
	await server.stop();
	const called = (await readFile(trace, 'latin1')).matchAll(/^\d+ +(?:<\.\.\. )?(\w+)(?:\(| resumed)/gm);
	const unit = unitText({
		user: 'stowage',
		node: process.execPath,
		program: '/usr/lib/stowage/app/bin/stowage.js',
		config: '/etc/stowage/config.yaml',
		dataDir: '/var/lib/stowage',
		storageRoots: [],
	});
	const allowed = await allowedBy(unit + sandboxText());
	const denied = [...new Set([...called].map(([, name = '']) => name))].filter((name) => !allowed.has(name));
	t.deepEqual(
		denied.filter((name) => !optional.includes(name)),
		[],
	);
	t.true(allowed.has('openat') && !allowed.has('reboot'));
});
