import type { Ownership } from './fileStat.js';

const readBits = { file: 4, directory: 4 | 1 };

/**
 * Whether the mode of an object allows this process to read it; for a folder, also its contents. Where it does not, an ACL or a
 * capability may: then the system has to be asked.
 */
export function mayReadByMode({ mode, uid, gid }: Ownership, type: 'file' | 'directory'): boolean {
	const bits = readBits[type];
	const allows = (shift: number) => ((mode >> shift) & bits) === bits;
	if (allows(6) && allows(3) && allows(0)) return true;
	const user = process.geteuid?.();
	if (user === 0 || user === undefined) return true;
	if (uid === user) return allows(6);
	// As for most files, whichever of the two counts.
	if (allows(3) === allows(0)) return allows(0);
	return isInGroup(gid) ? allows(3) : allows(0);
}

function isInGroup(gid: number): boolean {
	// Of the effective group first: the list need not contain it.
	return process.getegid?.() === gid || (process.getgroups?.().includes(gid) ?? false);
}
