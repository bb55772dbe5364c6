import { auditArch, firstUnknownCall, judgedCall, type Processor, refusedCalls } from './systemCalls.js';

/** An instruction of classic BPF, `struct sock_filter`. */
type Instruction = readonly [code: number, jumpIfTrue: number, jumpIfFalse: number, value: number];

const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfAnyBit = 0x45;
const and = 0x54;
const end = 0x06;

const killProcess = 0x80000000;
const allow = 0x7fff0000;
const failWith = (errno: number) => 0x00050000 | errno;
/** EPERM; and ENOSYS, after which libraries use an older call. */
const refuse = failWith(1);
const unknown = failWith(38);

/**
 * Offsets in `struct seccomp_data`. The lower halves of the arguments: both processors are little-endian, and the kernel looks at no more
 * of these.
 */
const callOffset = 0;
const archOffset = 4;
const argumentOffset = (index: number) => 16 + 8 * index;

/** CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const namespaceFlags = 0x80 | 0x20000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000;

/** CLONE_THREAD: without it another process begins. */
const threadFlag = 0x10000;

/** F_SETOWN, F_SETSIG and F_SETOWN_EX send signals to other processes; F_SETLEASE has whoever opens the file wait for 45 s. */
const badFileControls = [8, 10, 15, 1024];
/** FIOSETOWN and SIOCSPGRP do so as well; TIOCSTI and TIOCLINUX type into a terminal. */
const badControls = [0x8901, 0x8902, 0x5412, 0x541c];

/**
 * The kinds of controls (bits 8 to 15) by which file systems change a file that is open for reading only: its flags, its generation, its
 * encryption, and whether it can ever be written again. Common ones, those of ext2 to 4, XFS, FAT, btrfs, F2FS and bcachefs.
 */
const controlsOfFileSystems = [...'fvXr'].map((kind) => kind.charCodeAt(0)).concat(0x94, 0xf5, 0xbc);

/** O_TRUNC with O_RDONLY: it empties a file, and old versions of Landlock take it for reading. */
const truncate = 0o1000;
const accessMode = 3;

/**
 * The system calls of a program in a sandbox: all but those of `systemCalls.ts`, with signals, limits and priorities for itself alone
 * (`pid`), and `mayFork` those that start processes. A refused call fails with EPERM. It stays in force for all that the program starts.
 */
export function seccompFilter(processor: Processor, pid: number, { mayFork }: { mayFork: boolean }): Buffer {
	const number = (name: Parameters<typeof judgedCall>[0]) => judgedCall(name, processor);
	const instructions: Instruction[] = [
		[load, 0, 0, archOffset],
		[jumpIfEqual, 1, 0, auditArch[processor]],
		// Calls by the numbers of another processor.
		[end, 0, 0, killProcess],
		[load, 0, 0, callOffset],
		[jumpIfAtLeast, 0, 1, firstUnknownCall],
		[end, 0, 0, unknown],
		...refusedCalls(processor).flatMap((call) => endIf(call, refuse)),
		// Their flags lie in memory, which a filter can't read.
		...endIf(number('clone3'), unknown),
		...endIf(number('openat2'), unknown),
		...judge(number('clone'), 0, [
			[jumpIfAnyBit, 0, 1, namespaceFlags],
			[end, 0, 0, refuse],
			...(mayFork ? [] : onlyThreads),
		]),
		...(mayFork ? [] : [...endIf(number('fork'), refuse), ...endIf(number('vfork'), refuse)]),
		// With FALLOC_FL_KEEP_SIZE a file takes room behind its end, which neither RLIMIT_FSIZE nor its size shows.
		...judge(number('fallocate'), 1, onlyEqual(0)),
		...judge(number('fcntl'), 1, badFileControls.flatMap(refuseEqual)),
		...judge(number('ioctl'), 1, badControls.flatMap(refuseEqual)),
		...judge(number('ioctl'), 1, noChangeOfFiles),
		...judge(number('kill'), 0, onlyEqual(pid)),
		...judge(number('tgkill'), 0, onlyEqual(pid)),
		...judge(number('mmap'), 3, noUncountedMemory),
		...judge(number('open'), 1, noTruncatingRead),
		...judge(number('openat'), 2, noTruncatingRead),
		...judge(number('setpriority'), 0, onlyEqual(0)),
		...judge(number('setpriority'), 1, onlyEqual(0, pid)),
		...judge(number('ioprio_set'), 1, onlyEqual(0, pid)),
		...(['prlimit64', 'sched_setaffinity', 'sched_setattr', 'sched_setparam', 'sched_setscheduler'] as const).flatMap(
			(name) => judge(number(name), 0, onlyEqual(0, pid)),
		),
		[end, 0, 0, allow],
	];
	const bytes = Buffer.alloc(instructions.length * 8);
	for (const [index, [code, jumpIfTrue, jumpIfFalse, value]] of instructions.entries()) {
		bytes.writeUInt16LE(code, index * 8);
		bytes.writeUInt8(jumpIfTrue, index * 8 + 2);
		bytes.writeUInt8(jumpIfFalse, index * 8 + 3);
		bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
	}
	return bytes;
}

function endIf(call: number | undefined, outcome: number): Instruction[] {
	if (call === undefined) return [];
	return [
		[jumpIfEqual, 0, 1, call],
		[end, 0, 0, outcome],
	];
}

/** Loads an argument of this call for the tests; they end the filter, or go on behind their last instruction. */
function judge(call: number | undefined, argument: number, tests: readonly Instruction[]): Instruction[] {
	if (call === undefined) return [];
	return [
		[jumpIfEqual, 0, tests.length + 2, call],
		[load, 0, 0, argumentOffset(argument)],
		...tests,
		// For the next comparison.
		[load, 0, 0, callOffset],
	];
}

function refuseEqual(value: number): Instruction[] {
	return [
		[jumpIfEqual, 0, 1, value],
		[end, 0, 0, refuse],
	];
}

function onlyEqual(...values: number[]): Instruction[] {
	return [
		...values.map((value, index): Instruction => [jumpIfEqual, values.length - index, 0, value]),
		[end, 0, 0, refuse],
	];
}

const onlyThreads: readonly Instruction[] = [
	[jumpIfAnyBit, 1, 0, threadFlag],
	[end, 0, 0, refuse],
];

/** MAP_SHARED with MAP_ANONYMOUS, and MAP_GROWSDOWN, which takes it for a stack: RLIMIT_DATA counts no such memory. */
const sharedAnonymous = 0x21;
const growsDown = 0x100;

const noUncountedMemory: readonly Instruction[] = [
	[jumpIfAnyBit, 0, 1, growsDown],
	[end, 0, 0, refuse],
	[and, 0, 0, sharedAnonymous],
	[jumpIfEqual, 0, 1, sharedAnonymous],
	[end, 0, 0, refuse],
];

const noChangeOfFiles: readonly Instruction[] = [
	[and, 0, 0, 0xff00],
	...controlsOfFileSystems.flatMap((kind) => refuseEqual(kind << 8)),
];

const noTruncatingRead: readonly Instruction[] = [
	[and, 0, 0, truncate | accessMode],
	[jumpIfEqual, 0, 1, truncate],
	[end, 0, 0, refuse],
];
