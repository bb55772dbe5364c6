import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, rmdir, unlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Failure } from '@stowage/rules';
import { findProgram } from '../findProgram.js';
import { assertDescriptors, killGroup, nodeReservesBytes, spawnLimited } from '../limitedProgram.js';
import { runAlone } from '../runAlone.js';
import { type Bubblewrap, bubblewrapArguments } from './bubblewrap.js';
import type { Launch } from './landlock/launch.js';
import { moduleFiles } from './moduleFiles.js';
import { programPaths, type SandboxNeeds } from './needs.js';

/**
 * A way of running programs on untrusted contents, in which they reach nothing but what they are lent. It works here: a program has been
 * run in it.
 */
export interface Sandbox {
	readonly kind: 'bubblewrap' | 'landlock';
	/** A sentence for people: which sandbox it is, and what the kernel lacks for it. */
	readonly description: string;
	/**
	 * The command that runs a program in it, for `spawnLimited`. The program is an absolute path. It may read the system's programs and
	 * libraries, itself, and what it needs; it has no network, sees no other process and sends none a signal, and writes to nothing but the
	 * files lent for that.
	 */
	wrap(program: string, args: readonly string[], needs?: SandboxNeeds): { command: string; args: string[] };
}

export interface SandboxOptions {
	/**
	 * The name of bubblewrap or its path; false for none.
	 * @default 'bwrap'
	 */
	bwrap?: string | false;
	/** Whether Landlock is tried as well. On by default. */
	landlock?: boolean;
}

const launcher = fileURLToPath(new URL('./landlock/launch.js', import.meta.url));

/** Whether what the launcher loads was there when this process began; for some processors there is none. */
const hadLibrary = isInstalled('koffi');

function isInstalled(name: string): boolean {
	try {
		createRequire(import.meta.url).resolve(name);
		return true;
	} catch {
		return false;
	}
}

/** One that did not work is tried again after this time: the machine may have been too busy, or bubblewrap is installed now. */
const retryMs = 60_000;

const timeoutMs = 30_000;

const found = new Map<string, { tried: Promise<Tried>; at: number }>();

interface Tried {
	sandbox: Sandbox | undefined;
	/** Whether it is known that no stronger one works here. */
	isStrongest: boolean;
}

/**
 * The strongest sandbox that works here: bubblewrap with Landlock and a filter of system calls, else these two, else bubblewrap with the
 * filter, else bubblewrap alone, as on processors for which there is no filter. Undefined where there is none. Tried once for all that
 * ask. Where that could not be found out for want of descriptors, processes or time, or of files that an upgrade exchanges, `wrap` of the
 * result throws `unavailable`, and the next call tries again; where that is so of the stronger ones only, they are tried again later.
 */
export async function findSandbox({
	bwrap = 'bwrap',
	landlock = true,
}: SandboxOptions = {}): Promise<Sandbox | undefined> {
	const key = JSON.stringify([bwrap, landlock]);
	const known = found.get(key);
	if (known !== undefined && ((await known.tried).isStrongest || performance.now() - known.at < retryMs))
		return (await known.tried).sandbox;
	const attempt = { tried: tryAll(bwrap, landlock), at: performance.now() };
	found.set(key, attempt);
	const forget = () => found.get(key) === attempt && found.delete(key);
	try {
		const { sandbox } = await attempt.tried;
		if (sandbox === unknownSandbox) forget();
		return sandbox;
	} catch (error) {
		forget();
		throw error;
	}
}

async function tryAll(bwrap: string | false, landlock: boolean): Promise<Tried> {
	const bwrapAt = bwrap === false ? undefined : await findProgram(bwrap);
	const version = landlock ? await landlockHere() : 0;
	if (version === 'unknown') return { sandbox: unknownSandbox, isStrongest: false };
	const inBubblewrap = (inner: Bubblewrap['inner']) =>
		bwrapAt === undefined
			? []
			: [true, false].map((hasOwnProc) => bubblewrapSandbox({ bwrap: bwrapAt, hasOwnProc, inner }));
	const withLandlock = version > 0 ? [...inBubblewrap({ landlock: version }), landlockSandbox(version)] : [];
	const sandboxes = [...withLandlock, ...inBubblewrap({ landlock: 0 }), ...inBubblewrap(undefined)];
	let isUnknown = false;
	for (const sandbox of sandboxes) {
		const outcome = await trySandbox(sandbox);
		if (outcome === 'holds') return { sandbox, isStrongest: !isUnknown };
		isUnknown ||= outcome === 'unknown';
	}
	// Without a sandbox a program would run with limits only, so that must not follow from a machine that is busy for a moment.
	return { sandbox: isUnknown ? unknownSandbox : undefined, isStrongest: false };
}

const unknownSandbox: Sandbox = {
	kind: 'bubblewrap',
	description: 'not known yet',
	wrap() {
		throw new Failure('unavailable', 'This is not possible right now. Please try again in a moment.', {
			retryAfter: 10,
		});
	},
};

/** A sandbox of bubblewrap, which may not work here. */
export function bubblewrapSandbox(options: Bubblewrap): Sandbox {
	const { bwrap, hasOwnProc, inner } = options;
	return {
		kind: 'bubblewrap',
		description: [
			'bubblewrap',
			...(hasOwnProc ? [] : ["with the system's list of processes"]),
			...(inner === undefined ? [] : [`and ${described(inner.landlock)}`]),
		].join(', '),
		wrap(program, args, needs = {}) {
			if (inner === undefined)
				return { command: bwrap, args: [...bubblewrapArguments(options, program, needs), ...args] };
			const confined = launch(inner.landlock, program, args, needs);
			const { readOnly = [] } = needs;
			const mounted = [...readOnly, ...programPaths(program, needs), ...moduleFiles(launcher, ['koffi'])];
			return {
				command: bwrap,
				args: [...bubblewrapArguments(options, confined.command, { ...needs, readOnly: mounted }), ...confined.args],
			};
		},
	};
}

/** A sandbox of Landlock in this version of it, which may not work here. */
export function landlockSandbox(version: number): Sandbox {
	return {
		kind: 'landlock',
		description: described(version),
		wrap: (program, args, needs = {}) => launch(version, program, args, needs),
	};
}

function described(landlock: number): string {
	return landlock > 0 ? `Landlock ${landlock} with a filter of system calls` : 'a filter of system calls';
}

/** The command of the launcher, which confines itself by a filter of system calls, and by Landlock unless the version is 0. */
function launch(landlock: number, program: string, args: readonly string[], needs: SandboxNeeds) {
	const { files = [], devices = [], mayFork = false, reservesAddresses = false } = needs;
	const parts: Launch = {
		isRestricted: landlock > 0,
		mayFork,
		readOnly: [...programPaths(program, needs), '/proc/cpuinfo', '/proc/meminfo'],
		files: files.map(({ descriptor, access }) => ({ descriptor, access })),
		devices: [...plainDevices, ...devices],
		reservedBytes: program === process.execPath ? 0 : nodeReservesBytes,
		// Node and the drivers of graphics processors reserve addresses by the ten gigabytes.
		limitsAddresses: !reservesAddresses && program !== process.execPath && devices.length === 0,
	};
	return {
		command: process.execPath,
		args: ['--max-old-space-size=32', launcher, JSON.stringify(parts), program, ...args],
	};
}

/** Devices without `zero`, which brings shared memory that no limit counts. */
const plainDevices = ['null', 'full', 'random', 'urandom'].map((name) => `/dev/${name}`);

/** The version of Landlock; 0 for none, also where the calls can't be made. */
async function landlockHere(): Promise<number | 'unknown'> {
	try {
		assertDescriptors();
		const { stdout } = await runAlone(process.execPath, [launcher], { timeout: timeoutMs });
		return Number(stdout);
	} catch (error) {
		return isPassing(error) ? 'unknown' : 0;
	}
}

/**
 * Prints what it reached: a file that it was lent for reading, to write to; a file outside, a port of this machine, a place to write to.
 */
const probe = `
const { openSync, readFileSync, writeFileSync } = require('node:fs');
const [, file, port, folder] = process.argv;
const reached = [];
const attempt = (name, run) => { try { run(); reached.push(name); } catch {} };
attempt('lent', () => openSync('/proc/self/fd/3', 'r+'));
attempt('read', () => readFileSync(file));
attempt('write', () => writeFileSync(folder + '/written', ''));
attempt('device', () => writeFileSync('/dev/shm/stowage-sandbox-probe', ''));
const done = () => process.stdout.write(JSON.stringify(reached));
try {
	const socket = require('node:net').connect(Number(port), '127.0.0.1');
	socket.once('connect', () => { reached.push('connect'); socket.destroy(); done(); });
	socket.once('error', done);
} catch { done(); }
`;

/**
 * Whether the error of a child is one of a machine that has no descriptors, processes, memory or time left, or whose
 * files of this program are being exchanged by an upgrade: a weaker sandbox must not follow from that either.
 */
function isPassing(error: unknown): boolean {
	const { code, killed, stderr = '' } = error as { code?: unknown; killed?: boolean; stderr?: string };
	if (killed === true || ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'].includes(String(code))) return true;
	if (hadLibrary && /^node:internal\//.test(stderr)) return true;
	return /Resource temporarily unavailable|Cannot allocate memory|Too many open files/.test(stderr);
}

/**
 * A file that nothing in a sandbox may read, one to be lent for reading, and a folder that nothing may write to; where none can be made,
 * others that are there.
 */
async function outside(): Promise<{ file: string; source: string; folder: string; remove(): Promise<void> }> {
	let remove = async () => {};
	try {
		const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-sandbox-'));
		const [file, source, written] = ['outside', 'source', 'written'].map((name) => path.join(folder, name)) as [
			string,
			string,
			string,
		];
		// By their names: to list the folder takes a descriptor, of which there may be none.
		remove = async () => {
			for (const each of [file, source, written]) await unlink(each).catch(() => {});
			await rmdir(folder).catch(() => {});
		};
		for (const each of [file, source]) await writeFile(each, '');
		return { file, source, folder, remove };
	} catch {
		await remove();
		return { file: '/etc/passwd', source: launcher, folder: os.tmpdir(), remove: async () => {} };
	}
}

/** How the probe has ended. Rejects if it failed to run. */
async function outcomeOf(child: ChildProcess): Promise<'holds' | 'fails'> {
	const timer = setTimeout(() => killGroup(child), timeoutMs);
	// It rejects with this as well.
	child.on('error', () => {});
	try {
		child.stdin?.on('error', () => {}).end();
		// Without descriptors for them they are not even made, whatever the types say.
		const { stdout, stderr: log } = child as Partial<ChildProcess>;
		const outputs = stdout && log ? [text(stdout), text(log)] : [];
		const [[code, signal], output, stderr] = await Promise.all([once(child, 'close'), ...outputs]);
		if (code !== 0) throw Object.assign(new Error('The probe failed.'), { stderr, killed: signal === 'SIGKILL' });
		return output === '[]' ? 'holds' : 'fails';
	} finally {
		clearTimeout(timer);
	}
}

/** Whether a program runs in it and reaches nothing, by running one. */
async function trySandbox(sandbox: Sandbox): Promise<'holds' | 'fails' | 'unknown'> {
	const { file, source, folder, remove } = await outside();
	// A connection that can't be accepted is an error of its own.
	const server = createServer((socket) => socket.destroy()).on('error', () => {});
	let lent: FileHandle | undefined;
	try {
		lent = await open(source);
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		const { port } = server.address() as AddressInfo;
		const needs: SandboxNeeds = { files: [{ descriptor: 3, access: 'read', source: lent.fd }] };
		const { command, args } = sandbox.wrap(process.execPath, ['-e', probe, file, String(port), folder], needs);
		const limits = { memoryBytes: 512 * 1024 * 1024, cpuSeconds: 20 };
		return await outcomeOf(spawnLimited(command, args, { ...limits, files: [lent.fd] }));
	} catch (error) {
		return isPassing(error) ? 'unknown' : 'fails';
	} finally {
		await lent?.close().catch(() => {});
		server.close();
		await remove();
	}
}
