import os from 'node:os';

/** How a child process ended, as its event `close` says, and the beginning of its standard error. */
export interface ProgramEnd {
	code: number | null;
	signal: NodeJS.Signals | null;
	errors: string;
}

/** A program brings these on itself, or they are its limits of time and of bytes. */
const own: ReadonlySet<string> = new Set([
	...['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGPIPE', 'SIGSEGV', 'SIGSYS', 'SIGTRAP'],
	...['SIGXCPU', 'SIGXFSZ'],
]);

/** Exit codes of shells, and of a sandbox, for a program that can't be started. */
const notStarted = [125, 126, 127];

/** What they print of themselves. */
const launcherError = /^(bwrap|sandbox|setpriv|nice|ionice|(\/bin\/)?sh): /;

/** What Node prints where it has no memory or threads to begin, before it confines itself and becomes another program. */
const nodeError = /^\s*(?:# +\S*node\[\d+\]: |\S*node\[\d+\]: |#\n# Fatal process OOM|FATAL ERROR: )/;

/** What programs and libraries say of a machine that has no processes, threads or descriptors left. */
const lackError = /Resource temporarily unavailable|Too many open files/;

/**
 * Whether the program was never run: what it is started by, such as a shell, a sandbox or the program of ours that confines it, could not
 * do so. Not for programs of ours that Node runs, whose own libraries may be missing.
 */
export function wasNotStarted({ code, errors }: Pick<ProgramEnd, 'code' | 'errors'>): boolean {
	if (code === 0) return false;
	// Node prints the last one where a file that it is to run is gone, as for a moment during an upgrade.
	return (
		(code !== null && notStarted.includes(code)) ||
		[launcherError, nodeError, /^node:internal\//].some((each) => each.test(errors))
	);
}

/**
 * Whether the end says nothing of what the program was given: it was not started, was killed by the system for memory or by a person, or
 * the machine had no processes or descriptors left. The same may succeed later.
 */
export function wasDisturbed({ code, signal, errors }: ProgramEnd): boolean {
	if (code === 0) return false;
	// Programs that find that out may abort.
	if (lackError.test(errors)) return true;
	const endedBy = signalOf({ code, signal });
	if (endedBy !== undefined) return !own.has(endedBy);
	if (code !== null && notStarted.includes(code)) return true;
	return launcherError.test(errors);
}

/** What programs, shells, loaders and Node say where there is no memory, process, thread or descriptor for the moment. */
const momentaryError =
	/Resource temporarily unavailable|Cannot allocate memory|Too many open files|Cannot fork|Out of (?:memory|space)|\bE(?:AGAIN|NOMEM|MFILE|NFILE)\b|\berror (?:11|12|23|24)\b/i;

/**
 * Whether a program that failed was ended by others, or has said that it lacked memory, processes, threads or descriptors for the
 * moment.
 */
export function wasMomentary({ code, signal, errors }: ProgramEnd): boolean {
	if (momentaryError.test(errors) || nodeError.test(errors)) return true;
	const endedBy = signalOf({ code, signal });
	return endedBy !== undefined && !own.has(endedBy);
}

/**
 * Whether a program that failed has said why by itself, so that it will say so the next time as well: what is decided for longer follows
 * from that only. Not where it was ended by a signal, said nothing, or lacked memory, processes or descriptors for the moment.
 */
export function hasSaidWhy({ code, signal, errors }: ProgramEnd): boolean {
	if (wasMomentary({ code, signal, errors })) return false;
	const endedBy = signalOf({ code, signal });
	// By this one the kernel says that a filter of system calls forbids something.
	if (endedBy !== undefined) return endedBy === 'SIGSYS';
	return code !== null && code > 0 && code < 128 && errors.trim() !== '';
}

function signalOf({ code, signal }: Pick<ProgramEnd, 'code' | 'signal'>): string | undefined {
	if (signal !== null || code === null) return signal ?? undefined;
	// Shells and sandboxes report the signal of their child so.
	return Object.entries(os.constants.signals).find(([, number]) => number === code - 128)?.[0];
}
