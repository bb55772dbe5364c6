import { type ChildProcess, spawn } from 'node:child_process';

/** What a child process may take. */
export interface ChildLimits {
	/** Of private memory: the heap and all anonymous mappings (RLIMIT_DATA), which unlike the address space a JavaScript engine does not only reserve. */
	memoryBytes: number;
	/** Of processor time, over its whole life. */
	cpuSeconds?: number;
}

export interface ChildOptions extends ChildLimits {
	/** Becomes descriptor 3 of the child. */
	descriptor?: number;
}

/** The shell sets what Node can't: limits hold from the first instruction on, and all that the child starts inherits them. */
const script =
	'ulimit -c 0; ulimit -n 64; ulimit -d "$1"; [ "$2" = 0 ] || ulimit -t "$2"; shift 2; exec nice -n 10 "$@"';

/**
 * Starts a program that reads what a stranger made: with limits, a low priority, none of the server's environment, which holds secrets, and in a process group
 * of its own, so that `killGroup` ends it with all that it started.
 */
export function spawnLimited(program: string, args: readonly string[], options: ChildOptions): ChildProcess {
	const { memoryBytes, cpuSeconds = 0, descriptor } = options;
	const limits = [String(Math.floor(memoryBytes / 1024)), String(cpuSeconds)];
	return spawn('/bin/sh', ['-c', script, 'sh', ...limits, program, ...args], {
		detached: true,
		cwd: '/',
		env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LANG: 'C.UTF-8', MALLOC_ARENA_MAX: '2', UV_THREADPOOL_SIZE: '2' },
		stdio: ['pipe', 'pipe', 'pipe', ...(descriptor === undefined ? [] : [descriptor])],
	});
}

/** Ends a child with everything that it started, at once. */
export function killGroup({ pid }: ChildProcess): void {
	if (pid === undefined) return;
	try {
		process.kill(-pid, 'SIGKILL');
	} catch (error) {
		// It has ended by itself.
		if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
	}
}
