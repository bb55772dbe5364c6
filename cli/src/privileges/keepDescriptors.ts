import { readdirSync, readFileSync } from 'node:fs';
import { loadKoffi } from '../loadKoffi.js';

const setFlags = 2;
const closeOnExec = 1;

/** The close-on-exec flag as `/proc/self/fdinfo` shows it. */
const closesOnExec = 0o2000000;

/**
 * Keeps the open files of the shell or supervisor that started this process from the programs that it starts: those may belong to
 * another user, or read untrusted content in a sandbox. Node does so for the first few alone. This process may still use them.
 */
export function keepDescriptors(): void {
	const inherited = descriptors().filter((each) => each > 2 && isInherited(each));
	if (inherited.length === 0) return;
	const fcntl = fcntlHere();
	for (const each of inherited) fcntl?.(each, setFlags, 'int', closeOnExec);
}

/** Node can't change the flags of a descriptor. Undefined where the library can't be called: there is no sandbox then either. */
function fcntlHere() {
	try {
		return loadKoffi().load(null).func('int fcntl(int, int, ...)');
	} catch {
		return undefined;
	}
}

function descriptors(): number[] {
	try {
		return readdirSync('/proc/self/fd').map(Number);
	} catch {
		// Another system, or a container without it.
		return [];
	}
}

function isInherited(descriptor: number): boolean {
	try {
		const [, flags = ''] = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
		return (Number.parseInt(flags, 8) & closesOnExec) === 0;
	} catch {
		// That by which the list was read.
		return false;
	}
}
