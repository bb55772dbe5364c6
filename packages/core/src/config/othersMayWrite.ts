import type { Stats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { walkPath } from './walkPath.js';

/**
 * Why somebody else than root may decide what lies at a path: a file, folder or link on the way, or in the whole tree there, that is not
 * root's, or that more than its owner may write to. Undefined where root alone may. Of a folder with an ACL the bits of its group are the
 * mask. In a sticky folder, such as /tmp, what is root's can be exchanged by nobody.
 *
 * Whoever owns the program decides what root runs already, and counts as root does. So does the owner of `/`: in a container without
 * rights of its own that is nobody whom it knows.
 */
export async function othersMayWrite(file: string, { tree = false } = {}): Promise<string | undefined> {
	const trust = await trusted();
	for await (const { path: at, stat: found } of walkPath(file)) {
		if (found === undefined) return `${at} does not exist`;
		const reason = reasonOf(at, found, trust);
		if (reason !== undefined) return reason;
	}
	return tree ? openTree(await realpath(file), trust) : undefined;
}

/** Below a folder that is closed itself. A link to another tree leads to what is examined as well. */
async function openTree(top: string, trust: Trust): Promise<string | undefined> {
	const seen = new Set<string>();
	const folders = [top];
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		if (seen.has(folder)) continue;
		seen.add(folder);
		for (const name of await readdir(folder)) {
			const at = path.join(folder, name);
			const found = await lstat(at);
			const reason = reasonOf(at, found, trust);
			if (reason !== undefined) return reason;
			if (found.isDirectory()) folders.push(at);
			if (!found.isSymbolicLink()) continue;
			const target = await realpath(at).catch(() => undefined);
			// What leads nowhere, or into this tree, is nothing more.
			if (target === undefined || target.startsWith(`${top}/`)) continue;
			const behind = await othersMayWrite(at);
			if (behind !== undefined) return behind;
			if ((await stat(target)).isDirectory() && !isAbove(target, ownModule)) folders.push(target);
		}
	}
	return undefined;
}

/** Whether a folder contains a file. */
export function isAbove(folder: string, file: string): boolean {
	return file.startsWith(folder === '/' ? folder : `${folder}/`);
}

/** A module of the program. */
export const ownModule = fileURLToPath(import.meta.url);

interface Trust {
	owners: ReadonlySet<number>;
	/** As much as this the program's own module can be written to. */
	mode: number;
	group: number;
}

async function trusted(): Promise<Trust> {
	const [own, top] = await Promise.all([stat(ownModule), stat('/')]);
	return { owners: new Set([0, own.uid, top.uid]), mode: own.mode & 0o022, group: own.gid };
}

function reasonOf(at: string, found: Stats, trust: Trust): string | undefined {
	if (!trust.owners.has(found.uid)) return `${at} belongs to user ${found.uid}`;
	if (found.isSymbolicLink() || (found.isDirectory() && (found.mode & 0o1000) !== 0)) return undefined;
	const open = found.mode & 0o022 & ~trust.mode;
	if ((open & 0o002) !== 0) return `${at} can be written by everybody`;
	const isOpenToGroup = open !== 0 || ((found.mode & 0o020) !== 0 && found.gid !== trust.group);
	return isOpenToGroup ? `${at} can be written by its group` : undefined;
}
