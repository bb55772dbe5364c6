import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { boundCommand } from './boundCommand.js';
import { programEnvironment } from './programEnvironment.js';

/** The resource limits of a child process. A missing one is not limited. */
export interface ProgramLimits {
	/**
	 * The most private memory: the heap and all anonymous mappings (RLIMIT_DATA). The address space is no measure,
	 * since a JavaScript engine reserves much more than it uses.
	 */
	memoryBytes: number;
	/** Processor time in all. It ends with SIGXCPU; a program that ignores that is killed two seconds later. */
	cpuSeconds?: number;
	/** The length of any file that it writes, 0 for none at all. Infinity is no bound either. */
	fileBytes?: number;
	/**
	 * How many files it may have open.
	 * @default 64
	 */
	openFiles?: number;
	/**
	 * `low` has a lower priority than the server, `idle` gets only unused processor and disk time.
	 * @default 'low'
	 */
	priority?: 'low' | 'idle';
	/**
	 * Whether the child is killed with all that it started once its standard input ends, also when the server is
	 * killed. It can't read its input then.
	 */
	endsWithInput?: boolean;
}

export interface ProgramOptions extends ProgramLimits {
	/** Open files that become its descriptors 3 and on. */
	files?: readonly number[];
	/** Further variables of its environment, which has none of the server's but its PATH. */
	env?: Readonly<Record<string, string>>;
}

/** A command as `spawn` takes it. */
export interface ProgramCommand {
	file: string;
	args: string[];
	options: { detached: true; cwd: string; env: Record<string, string>; stdio: ['pipe', 'pipe', 'pipe', ...number[]] };
}

/**
 * How much private memory Node reserves without using it: since V8 13 its code range, which counts, and without which
 * it does not start. A command with Node in it gets as much more, and a sandbox takes that off again before Node
 * becomes another program.
 */
export const nodeReservesBytes = Number(process.versions.node.split('.')[0]) > 20 ? 512 * 1024 * 1024 : 0;

/**
 * The shell sets the limits that Node can't: they apply from the first instruction on, and all child processes inherit them. RLIMIT_DATA
 * doesn't count the stack, which a program may raise to its hard limit; one that is lower already stays.
 */
const limits =
	'ulimit -c 0; ulimit -s 8192 2>/dev/null; ulimit -n "$1"; ulimit -d "$2"; [ -z "$3" ] || { ulimit -S -t "$3"; ulimit -H -t $(($3 + 2)); }; [ -z "$4" ] || ulimit -f "$4"; shift 4; ';

const low = 'set -- nice -n 10 "$@"; ';

/** The preferred victim when the system runs out of memory. */
const idle =
	'echo 500 2>/dev/null >/proc/self/oom_score_adj; ! command -v ionice >/dev/null || set -- ionice -c 3 "$@"; set -- nice -n 19 "$@"; ';

const exec = 'exec "$@"';

/**
 * The shell stays and waits for the program. Beside it a reader waits for the end of the input and then kills the process group; it holds
 * none of the descriptors that were lent, or a lock on one of them would outlive the program. The reader comes first: where there is no
 * process left for it, the shell ends, and nothing runs that nobody would kill.
 */
const watched =
	'exec 9<&0 </dev/null; (exec 3>&- 4>&- >/dev/null 2>&1; read -r _ <&9; kill -KILL 0) & reader=$!; "$@" 9<&- & program=$!; exec 9<&-; ' +
	'wait $program; code=$?; kill -KILL $reader; wait $reader 2>/dev/null; exit $code';

/** More than the start of a program takes. */
const descriptorsOfStart = 16;

/**
 * Throws the system's EMFILE or ENFILE where there are too few descriptors to start a program, right before that: a start that fails for
 * want of them never closes the pipes that it had made (Node forgets them), so that a server would have ever fewer.
 */
export function assertDescriptors(): void {
	const free: number[] = [];
	try {
		while (free.length < descriptorsOfStart) free.push(openSync('/dev/null', 'r'));
	} finally {
		for (const descriptor of free) closeSync(descriptor);
	}
}

/**
 * The command that runs a program on untrusted input: with limits, a low priority, none of the server's environment, which holds secrets,
 * and in a process group of its own, so that `killGroup` ends it with all that it started. It is killed when this process ends, however
 * that ends: on Linux with setpriv, and under `endsWithInput` everywhere; there a program that was ended by a signal has 128 and its
 * number as its code. To be started at once: throws as `assertDescriptors` does.
 */
export function limitedCommand(program: string, args: readonly string[], options: ProgramOptions): ProgramCommand {
	assertDescriptors();
	const { memoryBytes, cpuSeconds, fileBytes, openFiles = 64, files = [], env } = options;
	const script =
		limits + (options.priority === 'idle' ? idle : low) + (options.endsWithInput === true ? watched : exec);
	const reserved = [program, ...args].includes(process.execPath) ? nodeReservesBytes : 0;
	const values = [
		openFiles,
		Math.floor((memoryBytes + reserved) / 1024),
		limitOrNone(cpuSeconds),
		limitOrNone(fileBytes === undefined ? undefined : Math.ceil(fileBytes / 512)),
	].map(String);
	const words = ['-c', script, 'sh', ...values, program, ...args];
	// The shell that watches the input must outlive this process, to end all that was started.
	const command = options.endsWithInput === true ? { file: '/bin/sh', args: words } : boundCommand('/bin/sh', words);
	return {
		...command,
		options: {
			detached: true,
			cwd: '/',
			env: {
				...programEnvironment(),
				MALLOC_ARENA_MAX: '2',
				UV_THREADPOOL_SIZE: '2',
				...env,
			},
			stdio: ['pipe', 'pipe', 'pipe', ...files],
		},
	};
}

/** Distinguished from a limit of 0. */
function limitOrNone(limit: number | undefined): number | '' {
	return limit === undefined || limit === Number.POSITIVE_INFINITY ? '' : limit;
}

/** Starts a limited program. */
export function spawnLimited(program: string, args: readonly string[], options: ProgramOptions): ChildProcess {
	const command = limitedCommand(program, args, options);
	return spawn(command.file, command.args, command.options);
}

/** Ends a child with everything that it started, at once. */
export function killGroup({ pid }: { readonly pid?: number | undefined }): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, 'SIGKILL');
	} catch (error) {
		// It has ended already.
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
	}
}
