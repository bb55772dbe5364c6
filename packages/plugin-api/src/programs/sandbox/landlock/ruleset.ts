import { closeSync, constants, fstatSync, openSync } from 'node:fs';

/** Calls the kernel by number, with buffers for pointers; the negative number of an error. */
export type SystemCall = (call: number, ...rest: readonly (number | Buffer)[]) => number;

/** A file that the program is lent as a descriptor, and may open again by `/proc/self/fd/<descriptor>`. */
export interface SandboxedFile {
	descriptor: number;
	access: 'read' | 'write';
}

/** What a program may open, and nothing else. */
export interface Allowed {
	/** Files, and folders with all below them, to be read and executed. Those that do not exist are left out. */
	readOnly: readonly string[];
	/**
	 * Files, and folders with all below them, to be read, executed, written and controlled (ioctl). Those that do not
	 * exist are left out.
	 */
	devices: readonly string[];
	files: readonly SandboxedFile[];
}

const createRuleset = 444;
const addRule = 445;
const restrictSelf = 446;

const execute = 1 << 0;
const writeFile = 1 << 1;
const readFile = 1 << 2;
const readFolder = 1 << 3;
const truncate = 1 << 14;
const controlDevice = 1 << 15;
/** All of the first version; then linking between folders, truncating, and controls of devices. */
const oldestAccess = (1 << 13) - 1;
const linkElsewhere = 1 << 13;

/** The version of Landlock in this kernel; 0 where it has none, or none that is turned on. */
export function landlockVersion(call: SystemCall): number {
	return Math.max(0, call(createRuleset, 0, 0, 1));
}

/** Restricts the calling thread, and all that it starts from here on, for good. Throws where the kernel can't do that. */
export function restrict(call: SystemCall, allowed: Allowed): void {
	const version = landlockVersion(call);
	if (version < 1) throw new Error('This kernel has no Landlock.');
	const handled =
		oldestAccess |
		(version >= 2 ? linkElsewhere : 0) |
		(version >= 3 ? truncate : 0) |
		(version >= 5 ? controlDevice : 0);
	// `struct landlock_ruleset_attr`: files; TCP from version 4 on; abstract sockets and signals from version 6 on.
	const attributes = Buffer.alloc(version >= 6 ? 24 : version >= 4 ? 16 : 8);
	attributes.writeUInt32LE(handled, 0);
	if (version >= 4) attributes.writeUInt32LE(3, 8);
	if (version >= 6) attributes.writeUInt32LE(3, 16);
	const ruleset = must(call(createRuleset, attributes, attributes.length, 0), 'landlock_create_ruleset');

	const allow = (descriptor: number, access: number) => {
		const isFolder = fstatSync(descriptor).isDirectory();
		// `struct landlock_path_beneath_attr`: the access, then the descriptor, without padding.
		const rule = Buffer.alloc(12);
		rule.writeUInt32LE(access & handled & (isFolder ? -1 : ~readFolder), 0);
		rule.writeInt32LE(descriptor, 8);
		must(call(addRule, ruleset, 1, rule, 0), 'landlock_add_rule');
	};
	const allowPath = (path: string, access: number) => {
		let descriptor: number;
		try {
			descriptor = openSync(path, constants.O_RDONLY | pathOnly);
		} catch (error) {
			if (['ENOENT', 'ENOTDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return;
			throw error;
		}
		try {
			allow(descriptor, access);
		} finally {
			closeSync(descriptor);
		}
	};
	for (const path of allowed.readOnly) allowPath(path, execute | readFile | readFolder);
	for (const path of allowed.devices) allowPath(path, readFile | writeFile | readFolder | controlDevice);
	for (const { descriptor, access } of allowed.files) {
		// A pipe has no path that could be checked.
		if (!fstatSync(descriptor).isFile()) continue;
		allow(descriptor, access === 'write' ? readFile | writeFile | truncate : readFile);
	}
	must(call(restrictSelf, ruleset, 0), 'landlock_restrict_self');
	closeSync(ruleset);
}

/** O_PATH: found, but not opened. */
const pathOnly = 0o10000000;

function must(result: number, name: string): number {
	if (result < 0) throw new Error(`${name} failed with error ${-result}.`);
	return result;
}
