// The program that confines itself by Landlock and a filter of system calls, and then becomes the program that it is given: the
// confinement stays, also for all that this one starts. Its arguments: JSON of `Launch`; the program; its arguments. Without any it
// prints the version of Landlock.
import { readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { beginMark } from '../needs.js';
import { type Allowed, landlockVersion, restrict, type SystemCall } from './ruleset.js';
import { seccompFilter } from './seccompFilter.js';
import type { Processor } from './systemCalls.js';

// As CommonJS it is loaded in a fifth less time.
const koffi: typeof import('koffi').default = createRequire(import.meta.url)('koffi');
const libc = koffi.load(null);
const syscall = libc.func('long syscall(long, long, long, long, long)');
const prctl = libc.func('int prctl(int, long, long, long, long)');
const capget = libc.func('int capget(const void*, void*)');
const capset = libc.func('int capset(const void*, const void*)');
const fcntl = libc.func('int fcntl(int, int, int)');
const signal = libc.func('void* signal(int, void*)');
const getrlimit = libc.func('int getrlimit(int, void*)');
const setrlimit = libc.func('int setrlimit(int, const void*)');
const poll = libc.func('int poll(void*, unsigned long, int)');
const execv = libc.func('int execv(const char*, const char**)');

/** What the other program may open and do, and how much of the limit of private memory is for this one alone. */
export interface Launch extends Allowed {
	/** False where the kernel has no Landlock: then it may open what it finds. */
	isRestricted: boolean;
	/** Whether it may start further processes. */
	mayFork: boolean;
	reservedBytes: number;
	/** Whether its address space is limited as well. */
	limitsAddresses: boolean;
	/** Whether `beginMark` is written to the standard error before it begins. */
	announces: boolean;
}

/** The code by which shells say that a program can't be started. */
const cannotStart = 126;

const dieWithParent = 1;
/** POLLERR or POLLHUP. */
const hungUp = 0x18;
const setFilter = 22;
const noNewPrivileges = 38;
const filterMode = 2;
const setDescriptorFlags = 2;
const brokenPipe = 13;
const processes = 6;

/** Encoders have some for each processor. */
const threadsOfOwn = () => 256 + 16 * availableParallelism();
/** Where the system does not say how many there are. */
const threadsOfOthers = 4096;
const privateMemory = 2;
const addressSpace = 9;

const mebibyte = 1024n * 1024n;

/** More than libraries, files and what allocators only reserve take beside private memory: half of it for HandBrake on two processors. */
const addressesBeside = () => (2048n + 64n * BigInt(availableParallelism())) * mebibyte;

const unlimited = 2n ** 64n - 1n;

const call: SystemCall = (number, ...rest) => {
	const values = rest.map((value) => (typeof value === 'number' ? value : koffi.address(value)));
	const result = Number(syscall(number, values[0] ?? 0, values[1] ?? 0, values[2] ?? 0, values[3] ?? 0));
	return result < 0 ? -koffi.errno() : result;
};

function must(result: number, name: string): void {
	if (result < 0) throw new Error(`${name} failed with error ${koffi.errno()}.`);
}

function confine(launch: Launch): void {
	const processor = processorHere();
	must(prctl(dieWithParent, 9, 0, 0, 0), 'PR_SET_PDEATHSIG');
	assertServerLives();
	must(prctl(noNewPrivileges, 1, 0, 0, 0), 'PR_SET_NO_NEW_PRIVS');
	dropCapabilities();
	limitThreads();
	if (launch.isRestricted) restrict(call, launch);
	const filter = seccompFilter(processor, process.pid, launch);
	// `struct sock_fprog`: the number of instructions, padding, their address.
	const program = Buffer.alloc(16);
	program.writeUInt16LE(filter.length / 8, 0);
	program.writeBigUInt64LE(BigInt(koffi.address(filter)), 8);
	must(prctl(setFilter, filterMode, koffi.address(program), 0, 0), 'PR_SET_SECCOMP');
}

/**
 * Throws if the server has been killed before this process could end with it, or before bubblewrap could, which is then
 * the parent, and has not ended: nobody has the other end of the output then.
 */
function assertServerLives(): void {
	// `struct pollfd`: the descriptor, what to wait for, what there is.
	const output = Buffer.alloc(8);
	output.writeInt32LE(1, 0);
	must(poll(output, 1, 0), 'poll');
	if ((output.readInt16LE(6) & hungUp) !== 0) throw new Error('Who has started this has ended.');
}

/**
 * RLIMIT_NPROC counts all threads of a user, those outside of the sandbox as well where that has no user of its own.
 * All that there are now, whosever, are no fewer. The system lets only root have more.
 */
function limitThreads(): void {
	const others = Number(/^\S+ \S+ \S+ \d+\/(\d+) /.exec(readIfThere('/proc/loadavg'))?.[1] ?? threadsOfOthers);
	const limit = Buffer.alloc(16);
	for (const offset of [0, 8]) limit.writeBigUInt64LE(BigInt(others + threadsOfOwn()), offset);
	// A lower limit that it was given stays.
	if (setrlimit(processes, limit) < 0 && koffi.errno() !== koffi.os.errno.EPERM)
		throw new Error(`setrlimit failed with error ${koffi.errno()}.`);
}

function readIfThere(file: string): string {
	try {
		return readFileSync(file, 'latin1');
	} catch {
		return '';
	}
}

function processorHere(): Processor {
	if (process.arch === 'x64' || process.arch === 'arm64') return process.arch;
	throw new Error(`There is no filter for ${process.arch}.`);
}

/** A server that runs as root has some; without new privileges the next program gets none again. */
function dropCapabilities(): void {
	// `struct __user_cap_header_struct`: version 3 and the process; then two times three sets.
	const header = Buffer.alloc(8);
	header.writeUInt32LE(0x20080522, 0);
	const sets = Buffer.alloc(24);
	must(capget(header, sets), 'capget');
	const none = Buffer.alloc(24);
	if (!sets.equals(none)) must(capset(header, none), 'capset');
}

/** Sets a limit that was prepared: once it is set, this program may get no more memory for anything else. */
type Limiting = () => void;

/** The other program begins without any memory, so that its limit may be less than what this one has by now. */
function lowerMemory(bytes: number): Limiting {
	// `struct rlimit`: the soft and the hard limit, of which the largest number is none.
	const limits = Buffer.alloc(16);
	must(getrlimit(privateMemory, limits), 'getrlimit');
	for (const offset of [0, 8]) {
		const limit = limits.readBigUInt64LE(offset);
		if (limit !== unlimited) limits.writeBigUInt64LE(limit - BigInt(bytes), offset);
	}
	return () => must(setrlimit(privateMemory, limits), 'setrlimit');
}

/**
 * Private memory that was written to counts no more once it can only be read (`mprotect`), and the tables for what is mapped never do: the
 * address space bounds both.
 */
function limitAddresses(reservedBytes: number): Limiting | undefined {
	const memory = Buffer.alloc(16);
	must(getrlimit(privateMemory, memory), 'getrlimit');
	const memoryLimit = memory.readBigUInt64LE(0);
	if (memoryLimit === unlimited) return undefined;
	const limits = Buffer.alloc(16);
	must(getrlimit(addressSpace, limits), 'getrlimit');
	const limit = memoryLimit - BigInt(reservedBytes) + addressesBeside();
	for (const offset of [0, 8]) {
		if (limits.readBigUInt64LE(offset) > limit) limits.writeBigUInt64LE(limit, offset);
	}
	return () => must(setrlimit(addressSpace, limits), 'setrlimit');
}

const [, , launch, program, ...rest] = process.argv;
if (launch === undefined || program === undefined) {
	process.stdout.write(String(landlockVersion(call)));
} else {
	try {
		const parsed: Launch = JSON.parse(launch);
		confine(parsed);
		// Node closes all descriptors for the programs that it starts; only these are meant for this one.
		for (const descriptor of [0, 1, 2, ...parsed.files.map((file) => file.descriptor)]) {
			must(fcntl(descriptor, setDescriptorFlags, 0), 'F_SETFD');
		}
		// Node ignores it, and a program inherits that.
		signal(brokenPipe, null);
		const { reservedBytes } = parsed;
		const setAddresses = parsed.limitsAddresses ? limitAddresses(reservedBytes) : undefined;
		const setMemory = reservedBytes > 0 ? lowerMemory(reservedBytes) : undefined;
		const words = [program, ...rest, null];
		if (parsed.announces) writeSync(2, beginMark);
		setAddresses?.();
		setMemory?.();
		execv(program, words);
		throw new Error(`${program} could not be started: error ${koffi.errno()}.`);
	} catch (error) {
		process.stderr.write(`sandbox: ${(error as Error).message}\n`);
		process.exitCode = cannotStart;
	}
}
