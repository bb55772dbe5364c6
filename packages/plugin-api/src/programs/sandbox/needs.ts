import { realpathSync } from 'node:fs';
import path from 'node:path';
import type { SandboxedFile } from './landlock/ruleset.js';

/** What a program needs besides the programs and libraries of the system. Paths are absolute; those that do not exist are left out. */
export interface SandboxNeeds {
	/** Files, and folders with all below them, that it may read and execute. */
	readOnly?: readonly string[];
	/**
	 * All files that it is lent as descriptors, by their numbers in the program: 3 and on. It may open them again by
	 * `/proc/self/fd/<descriptor>`.
	 */
	files?: readonly LentDescriptor[];
	/** Devices below `/dev`, to be written and controlled (ioctl). */
	devices?: readonly string[];
	/**
	 * Whether it may start further processes, each of which may take as much memory as it. Off by default: then it has threads only, and
	 * what it becomes by `exec`.
	 */
	mayFork?: boolean;
	/**
	 * Whether it reserves gigabytes of addresses that it does not use, as engines of languages do. Off by default: then its address space is
	 * limited too, without which a program that was taken over has memory that its limit doesn't count. Node and devices turn it on.
	 */
	reservesAddresses?: boolean;
	/** Whether it is told when the program itself begins, by `beginMark`. Off by default. */
	announces?: boolean;
}

/**
 * The byte in the standard error of a program behind which all is of the program itself, and before which all is of what starts it in its
 * sandbox. No message has it.
 */
export const beginMark = '\x06';

/** A file that a program is lent. */
export interface LentDescriptor extends SandboxedFile {
	/** The descriptor in this process, open until the program has started. */
	source: number;
}

/** What any program needs: not all of `/usr`, where people keep sources and data as well. */
const system = [
	...['bin', 'lib', 'lib32', 'lib64', 'libexec', 'share', 'local/bin', 'local/lib', 'local/share/fonts'].map(
		(each) => `/usr/${each}`,
	),
	// Where some distributions keep all programs.
	...['/nix/store', '/gnu/store'],
	...['/bin', '/lib', '/lib32', '/lib64'],
	...['/etc/alternatives', '/etc/ld.so.cache', '/etc/fonts', '/etc/ssl/openssl.cnf', '/var/cache/fontconfig'],
];

/** The paths that a program may read and execute: also itself, wherever it lies, but not what lies beside it. */
export function programPaths(program: string, { readOnly = [] }: SandboxNeeds): string[] {
	const isSystem = (file: string) => system.some((each) => file.startsWith(`${each}/`));
	const own = [path.resolve(program), realpathSync(program)].filter((file) => !isSystem(file));
	return [...new Set([...system, ...own, ...readOnly])];
}
