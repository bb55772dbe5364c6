import { randomBytes } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';

/**
 * Identifies a process so that another one can determine for certain that it has ended: by the boot of its machine, its PID namespace,
 * its PID and when it started. All four are the same for two processes only if they are one.
 */
export interface ProcessIdentity {
	/** A name of at most 191 characters that no other process has. */
	readonly name: string;
	/**
	 * Whether the process of this name has ended. Also false if that can't be determined: it runs on another machine or in another
	 * container.
	 */
	hasEnded(name: string): Promise<boolean>;
	/** Whether `hasEnded` can determine it. */
	canTell(name: string): boolean;
}

const form = /^(linux [0-9a-f-]+ \d+) (\d+) (\d+) [0-9a-f]+$/;

export async function identifyProcess(): Promise<ProcessIdentity> {
	const random = randomBytes(16).toString('hex');
	const place = await pidNamespace();
	const started = await startOf(process.pid);
	if (place === undefined || started === undefined)
		return { name: random, hasEnded: async () => false, canTell: () => false };
	return {
		name: `${place} ${process.pid} ${started} ${random}`,
		canTell: (name) => form.exec(name)?.[1] === place,
		async hasEnded(name) {
			const [, otherPlace, pid, otherStart] = form.exec(name) ?? [];
			if (otherPlace !== place || Number(pid) === process.pid) return otherPlace === place && otherStart !== started;
			// The system itself rather than /proc, which may hide the processes of others. One that has ended is there until its last thread is
			// gone.
			if (!isRunning(Number(pid))) return true;
			const start = await startOf(Number(pid));
			return start !== undefined && start !== otherStart;
		},
	};
}

/** The PID of a process by its name; undefined where it has none. */
export function pidOf(name: string): number | undefined {
	const [, , pid] = form.exec(name) ?? [];
	return pid === undefined ? undefined : Number(pid);
}

function isRunning(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code !== 'ESRCH';
	}
}

/** Where a PID has a meaning; nothing on other systems than Linux. */
async function pidNamespace(): Promise<string | undefined> {
	try {
		const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
		const [namespace] = /\d+/.exec(await readlink('/proc/self/ns/pid')) ?? [];
		return namespace === undefined ? undefined : `linux ${boot} ${namespace}`;
	} catch {
		return undefined;
	}
}

/** When a process started, in ticks since the boot; undefined if that can't be determined. */
async function startOf(pid: number): Promise<string | undefined> {
	try {
		const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
		// The name of the program, in brackets, may contain any character.
		return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
	} catch {
		return undefined;
	}
}
