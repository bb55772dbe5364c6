import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, rmdir, unlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Failure } from '@stowage/rules';
import { findProgram } from '../findProgram.js';
import { assertDescriptors, killGroup, nodeReservesBytes, spawnLimited } from '../limitedProgram.js';
import { hasSaidWhy, type ProgramEnd, wasMomentary } from '../programEnd.js';
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
	/** `unknown` where it could not be found out yet which one works: `wrap` throws `unavailable`. */
	readonly kind: 'bubblewrap' | 'landlock' | 'unknown';
	/** A sentence for people: which sandbox it is, and what the kernel lacks for it. */
	readonly description: string;
	/**
	 * The command that runs a program in it, for `spawnLimited`. The program is an absolute path. It may read the system's programs and
	 * libraries, itself, and what it needs; it has no network, sees no other process and sends none a signal, and writes to nothing but the
	 * files lent for that.
	 */
	wrap(program: string, args: readonly string[], needs?: SandboxNeeds): WrappedCommand;
}

/** A command that runs a program in a sandbox. */
export interface WrappedCommand {
	command: string;
	args: string[];
	/** Whether `beginMark` comes before the program: not from each sandbox that is asked for it. */
	announces?: boolean;
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

/** How long an upgrade may take. What fails without a word, or for files that are missing, and does so for longer, does not work here. */
const upgradeMs = 5 * 60_000;

const timeoutMs = 30_000;

/** How long callers wait for a stronger one where a weaker one works: less than a picture may take. */
const patienceMs = 5_000;

interface Attempt {
	/** One that has worked. */
	before: Sandbox | undefined;
	tried: Promise<Sandbox | undefined>;
	/** Undefined while it is under way. */
	ended: (Tried & { at: number }) | undefined;
}

const found = new Map<string, Attempt>();

/** When programs failed first and last in what is tried, without a word or for missing files, by its options; none has held since. */
const failures = new Map<string, { first: number; last: number }>();

interface Tried {
	sandbox: Sandbox | undefined;
	/** Whether it is known that no stronger one works here. */
	isStrongest: boolean;
}

/**
 * The strongest sandbox that works here: bubblewrap with Landlock and a filter of system calls, else these two, else bubblewrap with the
 * filter, else bubblewrap alone, as on processors for which there is no filter. Undefined where there is none. Tried once for all that
 * ask. That one does not work follows only from what is said by it or by the system. Where it could not be found out, as for want of
 * descriptors, processes, memory or time, of files that an upgrade exchanges, or because what was tried was killed, the result is of the
 * kind `unknown`, and the next call tries again; where that is so of the stronger ones only, they are tried again later, and callers wait
 * for these no longer than some seconds. There is none, too, where programs fail in each without a word, or for missing files, for longer
 * than an upgrade takes.
 */
export async function findSandbox({
	bwrap = 'bwrap',
	landlock = true,
}: SandboxOptions = {}): Promise<Sandbox | undefined> {
	const key = JSON.stringify([bwrap, landlock]);
	const known = found.get(key);
	const ended = known?.ended;
	const isCurrent = !ended || ended.isStrongest || performance.now() - ended.at < retryMs;
	// What is under way is not tried again by each that waits for it, however long it takes.
	if (known !== undefined && isCurrent) return outcomeOf(known);
	const before = ended?.sandbox;
	const attempt: Attempt = { before, tried: findNow(), ended: undefined };
	found.set(key, attempt);
	return outcomeOf(attempt);

	async function findNow(): Promise<Sandbox | undefined> {
		try {
			const tried = await tryAll(bwrap, landlock, key, before);
			attempt.ended = { ...tried, at: performance.now() };
			if (tried.sandbox === unknownSandbox) found.delete(key);
			return tried.sandbox;
		} catch (error) {
			found.delete(key);
			throw error;
		}
	}
}

async function outcomeOf({ before, tried, ended }: Attempt): Promise<Sandbox | undefined> {
	if (before === undefined || ended !== undefined) return tried;
	return Promise.race([tried, wait(patienceMs, before, { ref: false })]);
}

/** `before` is one that has worked, for where it can't be found out now whether a stronger one does. */
async function tryAll(
	bwrap: string | false,
	landlock: boolean,
	key: string,
	before: Sandbox | undefined,
): Promise<Tried> {
	// Without a sandbox a program would run with limits only, so that must not follow from a machine that is busy for a moment.
	const unknown = { sandbox: before ?? unknownSandbox, isStrongest: false };
	const bwrapAt = bwrap === false ? undefined : await findProgram(bwrap);
	const version = landlock ? await landlockHere(key) : 0;
	if (version === 'unknown') return unknown;
	const inBubblewrap = (inner: Bubblewrap['inner']) =>
		bwrapAt === undefined
			? []
			: [true, false].map((hasOwnProc) => bubblewrapSandbox({ bwrap: bwrapAt, hasOwnProc, inner }));
	const withLandlock = version > 0 ? [...inBubblewrap({ landlock: version }), landlockSandbox(version)] : [];
	const sandboxes = [...withLandlock, ...inBubblewrap({ landlock: 0 }), ...inBubblewrap(undefined)];
	let isUnknown = false;
	for (const sandbox of sandboxes) {
		const outcome = await trySandbox(sandbox, key);
		if (outcome === 'holds') {
			failures.delete(key);
			return { sandbox, isStrongest: !isUnknown };
		}
		if (outcome === 'unknown' && sandbox.description === before?.description) return unknown;
		isUnknown ||= outcome === 'unknown';
	}
	return isUnknown ? unknown : { sandbox: undefined, isStrongest: false };
}

const unknownSandbox: Sandbox = {
	kind: 'unknown',
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
				...confined,
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
function launch(landlock: number, program: string, args: readonly string[], needs: SandboxNeeds): WrappedCommand {
	const { files = [], devices = [], mayFork = false, reservesAddresses = false, announces = false } = needs;
	const parts: Launch = {
		isRestricted: landlock > 0,
		mayFork,
		readOnly: [...programPaths(program, needs), '/proc/cpuinfo', '/proc/meminfo'],
		files: files.map(({ descriptor, access }) => ({ descriptor, access })),
		devices: [...plainDevices, ...devices],
		reservedBytes: program === process.execPath ? 0 : nodeReservesBytes,
		// Node and the drivers of graphics processors reserve addresses by the ten gigabytes.
		limitsAddresses: !reservesAddresses && program !== process.execPath && devices.length === 0,
		announces,
	};
	return {
		announces,
		command: process.execPath,
		args: [...frugal, launcher, JSON.stringify(parts), program, ...args],
	};
}

/** Node begins where there are few threads: it waits for ever for one of these that could not be started. */
const frugal = ['--max-old-space-size=32', '--v8-pool-size=1'];

/** Devices without `zero`, which brings shared memory that no limit counts. */
const plainDevices = ['null', 'full', 'random', 'urandom'].map((name) => `/dev/${name}`);

/** The version of Landlock; 0 for none, also where what makes the calls says that it can't be loaded here. */
async function landlockHere(key: string): Promise<number | 'unknown'> {
	try {
		assertDescriptors();
		const { stdout } = await runAlone(process.execPath, [...frugal, launcher], { timeout: timeoutMs });
		return /^\d+$/.test(stdout) ? Number(stdout) : 'unknown';
	} catch (error) {
		return isRefusal(error, key) ? 0 : 'unknown';
	}
}

/**
 * Prints what it reached: a file that it was lent for reading, to write to; a file outside, a port of this machine, a place to write to.
 * What it lacks descriptors or memory for is not out of reach: then it fails.
 */
const probe = `
const { openSync, readFileSync, writeFileSync } = require('node:fs');
const [, file, port, folder] = process.argv;
const reached = [];
const lacking = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'];
const refused = (error) => { if (lacking.includes(error.code)) throw error; };
const attempt = (name, run) => { try { run(); reached.push(name); } catch (error) { refused(error); } };
attempt('lent', () => openSync('/proc/self/fd/3', 'r+'));
attempt('read', () => readFileSync(file));
attempt('write', () => writeFileSync(folder + '/written', ''));
attempt('device', () => writeFileSync('/dev/shm/stowage-sandbox-probe', ''));
const done = () => process.stdout.write(JSON.stringify(reached));
const failed = (error) => { refused(error); done(); };
let socket;
try { socket = require('node:net').connect(Number(port), '127.0.0.1'); } catch (error) { failed(error); }
socket?.once('connect', () => { reached.push('connect'); socket.destroy(); done(); }).once('error', failed);
`;

/** By these the system says that it does not allow something, rather than that it has nothing left for it. */
const refusals: ReadonlySet<string> = new Set(['EACCES', 'EAFNOSUPPORT', 'ENOSYS', 'EPERM']);

/** The exit code of a shell that finds no program, or of a program without its libraries. */
const notFound = 127;

/** What bubblewrap and the launcher say of a file that was there a moment ago. */
const isGone = (errors: string) =>
	errors.includes('could not be started: error 2.') ||
	(errors.includes("Can't find source path ") && errors.includes(': No such file or directory'));

/**
 * Whether the error of this process, or of a child, says that something does not work on this machine. Where it is not said, and where
 * files of this program are being exchanged by an upgrade, a weaker sandbox, or none, must not follow from it, unless it stays so.
 */
function isRefusal(error: unknown, key: string): boolean {
	const { code = null, signal = null, stderr } = error as { code?: unknown; signal?: NodeJS.Signals; stderr?: string };
	if (stderr === undefined) return refusals.has(String(code));
	const end: ProgramEnd = { code: typeof code === 'number' ? code : null, signal, errors: stderr };
	const lacksFile = code === notFound || isGone(stderr) || (hadLibrary && /^node:internal\//.test(stderr));
	if (!lacksFile && hasSaidWhy(end)) return true;
	return !wasMomentary(end) && failsForLong(key);
}

/** Whether it fails for long, as for a Node whose libraries lie where a sandbox has none: pictures would wait for ever. */
function failsForLong(key: string): boolean {
	const now = performance.now();
	const known = failures.get(key);
	// Two upgrades between which nobody has asked are not a long one.
	const first = known !== undefined && now - known.last < upgradeMs ? known.first : now;
	failures.set(key, { first, last: now });
	return now - first >= upgradeMs;
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

/** What the probe prints. Rejects with its end, as `runAlone` does, if it failed or could not be run. */
async function outputOf(child: ChildProcess): Promise<string> {
	const timer = setTimeout(() => killGroup(child), timeoutMs);
	// It rejects with this as well.
	child.on('error', () => {});
	try {
		child.stdin?.on('error', () => {}).end();
		// Without descriptors for them they are not even made, whatever the types say.
		const { stdout, stderr: log } = child as Partial<ChildProcess>;
		const outputs = stdout && log ? [text(stdout), text(log)] : [];
		const [[code, signal], output = '', stderr = ''] = await Promise.all([once(child, 'close'), ...outputs]);
		if (code !== 0) throw Object.assign(new Error('The probe failed.'), { code, signal, stderr });
		return output;
	} finally {
		clearTimeout(timer);
	}
}

/** Whether a program runs in it and reaches nothing, by running one. */
async function trySandbox(sandbox: Sandbox, key: string): Promise<'holds' | 'fails' | 'unknown'> {
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
		const reached = await outputOf(spawnLimited(command, args, { ...limits, files: [lent.fd] }));
		if (reached === '[]') return 'holds';
		return reached.startsWith('["') ? 'fails' : 'unknown';
	} catch (error) {
		return isRefusal(error, key) ? 'fails' : 'unknown';
	} finally {
		await lent?.close().catch(() => {});
		server.close();
		await remove();
	}
}
