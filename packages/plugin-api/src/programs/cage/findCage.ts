import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Failure } from '@stowage/rules';
import { findProgram } from '../findProgram.js';
import { limitedCommand, nodeReservesBytes } from '../limitedProgram.js';
import { type Bubblewrap, bubblewrapArguments } from './bubblewrap.js';
import type { Launch } from './landlock/launch.js';
import { moduleFiles } from './moduleFiles.js';
import { type CageNeeds, programPaths } from './needs.js';

/** A way of running programs on untrusted contents, in which they reach nothing but what they are lent. It works here: a program has been run in it. */
export interface Cage {
	readonly kind: 'bubblewrap' | 'landlock';
	/** For people: which cage it is, and what the kernel lacks for it. */
	readonly description: string;
	/**
	 * The command that runs a program in it, for `spawnLimited`. The program is an absolute path. It may read the system's programs and libraries, itself, and what it needs; it has no
	 * network, sees no other process and sends none a signal, and writes to nothing but the files lent for that.
	 */
	wrap(program: string, args: readonly string[], needs?: CageNeeds): { command: string; args: string[] };
}

export interface CageOptions {
	/**
	 * The name of bubblewrap or its path; false for none.
	 * @default 'bwrap'
	 */
	bwrap?: string | false;
	/** Whether Landlock is tried as well. On by default. */
	landlock?: boolean;
}

const launcher = fileURLToPath(new URL('./landlock/launch.js', import.meta.url));

/** One that did not work is tried again after this time: the machine may have been too busy, or bubblewrap is installed now. */
const retryMs = 60_000;

const timeoutMs = 30_000;

const found = new Map<string, { cage: Promise<Cage | undefined>; at: number }>();

/**
 * The strongest cage that works here: bubblewrap, in which Landlock keeps lent sources from being written, else Landlock with a filter of system calls, else bubblewrap alone. Undefined where there is none. Tried once for all that ask. Where that could not be found
 * out for want of descriptors, processes or time, `wrap` of the result throws `unavailable`, and the next call tries again.
 */
export async function findCage({ bwrap = 'bwrap', landlock = true }: CageOptions = {}): Promise<Cage | undefined> {
	const key = JSON.stringify([bwrap, landlock]);
	const known = found.get(key);
	if (known !== undefined && ((await known.cage) !== undefined || performance.now() - known.at < retryMs)) {
		return known.cage;
	}
	const cage = tryAll(bwrap, landlock);
	found.set(key, { cage, at: performance.now() });
	if ((await cage) === unknownCage) found.delete(key);
	return cage;
}

async function tryAll(bwrap: string | false, landlock: boolean): Promise<Cage | undefined> {
	const bwrapAt = bwrap === false ? undefined : await findProgram(bwrap);
	const version = landlock ? await landlockHere() : 0;
	if (version === 'unknown') return unknownCage;
	const inBubblewrap = (inner: number) =>
		bwrapAt === undefined
			? []
			: [true, false].map((hasOwnProc) => bubblewrapCage({ bwrap: bwrapAt, hasOwnProc, landlock: inner }));
	// Bubblewrap alone comes last: in it a lent source can be opened for writing.
	const cages = [...(version > 0 ? [...inBubblewrap(version), landlockCage(version)] : []), ...inBubblewrap(0)];
	let isUnknown = false;
	for (const cage of cages) {
		const outcome = await tryCage(cage);
		if (outcome === 'holds') return cage;
		isUnknown ||= outcome === 'unknown';
	}
	// Without a cage a program would run with limits only, so that must not follow from a machine that is busy for a moment.
	return isUnknown ? unknownCage : undefined;
}

const unknownCage: Cage = {
	kind: 'bubblewrap',
	description: 'not known yet',
	wrap() {
		throw new Failure('unavailable', 'This is not possible right now. Please try again in a moment.', {
			retryAfter: 10,
		});
	},
};

/** A cage of bubblewrap, which may not work here. */
export function bubblewrapCage(options: Bubblewrap): Cage {
	const { bwrap, hasOwnProc, landlock } = options;
	const inner = landlock > 0 ? landlockCage(landlock) : undefined;
	return {
		kind: 'bubblewrap',
		description: [
			'bubblewrap',
			...(hasOwnProc ? [] : ["with the system's list of processes"]),
			...(inner === undefined ? [] : [`and ${inner.description} for what reads files`]),
		].join(', '),
		wrap(program, args, needs = {}) {
			const { files = [], readOnly = [] } = needs;
			if (inner === undefined || files.length === 0) {
				return { command: bwrap, args: [...bubblewrapArguments(options, program, needs), ...args] };
			}
			// A descriptor that is lent for reading is a way to open its file for writing, of which bubblewrap knows nothing.
			const confined = inner.wrap(program, args, needs);
			const mounted = [...readOnly, ...programPaths(program, needs), ...moduleFiles(launcher, ['koffi'])];
			return {
				command: bwrap,
				args: [...bubblewrapArguments(options, confined.command, { ...needs, readOnly: mounted }), ...confined.args],
			};
		},
	};
}

/** A cage of Landlock in this version of it, which may not work here. */
export function landlockCage(version: number): Cage {
	return {
		kind: 'landlock',
		description: `Landlock ${version} with a filter of system calls`,
		wrap(program, args, needs = {}) {
			const { files = [], devices = [] } = needs;
			const readOnly = [...programPaths(program, needs), '/proc/cpuinfo', '/proc/meminfo'];
			const allowed = { readOnly, files, devices: [...plainDevices, ...devices] };
			const launch: Launch = { ...allowed, reservedBytes: program === process.execPath ? 0 : nodeReservesBytes };
			return {
				command: process.execPath,
				args: ['--max-old-space-size=32', launcher, JSON.stringify(launch), program, ...args],
			};
		},
	};
}

const plainDevices = ['null', 'zero', 'full', 'random', 'urandom'].map((name) => `/dev/${name}`);

/** The version of Landlock; 0 for none, also where the calls can't be made. */
async function landlockHere(): Promise<number | 'unknown'> {
	try {
		const { stdout } = await promisify(execFile)(process.execPath, [launcher], { timeout: timeoutMs });
		return Number(stdout);
	} catch (error) {
		return isPassing(error) ? 'unknown' : 0;
	}
}

/** Prints what it reached: a file outside, a port of this machine, a place to write to. */
const probe = `
const { readFileSync, writeFileSync } = require('node:fs');
const [, file, port, folder] = process.argv;
const reached = [];
const attempt = (name, run) => { try { run(); reached.push(name); } catch {} };
attempt('read', () => readFileSync(file));
attempt('write', () => writeFileSync(folder + '/written', ''));
attempt('device', () => writeFileSync('/dev/shm/stowage-cage-probe', ''));
const done = () => process.stdout.write(JSON.stringify(reached));
try {
	const socket = require('node:net').connect(Number(port), '127.0.0.1');
	socket.once('connect', () => { reached.push('connect'); socket.destroy(); done(); });
	socket.once('error', done);
} catch { done(); }
`;

/** Whether the error of a child is one of a machine that has no descriptors, processes, memory or time left. */
function isPassing(error: unknown): boolean {
	const { code, killed, stderr = '' } = error as { code?: unknown; killed?: boolean; stderr?: string };
	if (killed === true || ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'].includes(String(code))) return true;
	return /Resource temporarily unavailable|Cannot allocate memory|Too many open files/.test(stderr);
}

/** A file that nothing in a cage may read, in a folder that nothing may write to; where none can be made, others that are there. */
async function outside(): Promise<{ file: string; folder: string; remove(): Promise<void> }> {
	try {
		const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-cage-'));
		const file = path.join(folder, 'outside');
		await writeFile(file, '');
		return { file, folder, remove: () => rm(folder, { recursive: true, force: true }) };
	} catch {
		return { file: '/etc/passwd', folder: os.tmpdir(), remove: async () => {} };
	}
}

/** Whether a program runs in it and reaches nothing, by running one. */
async function tryCage(cage: Cage): Promise<'holds' | 'fails' | 'unknown'> {
	const { file, folder, remove } = await outside();
	const server = createServer((socket) => socket.destroy());
	try {
		server.listen(0, '127.0.0.1');
		await once(server, 'listening');
		const { port } = server.address() as AddressInfo;
		// With files it is confined as those programs are that read them.
		const needs: CageNeeds = { files: [{ descriptor: 0, access: 'read' }] };
		const { command, args } = cage.wrap(process.execPath, ['-e', probe, file, String(port), folder], needs);
		const limited = limitedCommand(command, args, { memoryBytes: 512 * 1024 * 1024, cpuSeconds: 20 });
		const { cwd, env } = limited.options;
		const { stdout } = await promisify(execFile)(limited.file, limited.args, { cwd, env, timeout: timeoutMs });
		return stdout === '[]' ? 'holds' : 'fails';
	} catch (error) {
		return isPassing(error) ? 'unknown' : 'fails';
	} finally {
		server.close();
		await remove();
	}
}
