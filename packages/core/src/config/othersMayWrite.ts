import type { Stats } from 'node:fs';
import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isOnReadOnlyMount } from './readOnlyMount.js';
import { walkPath } from './walkPath.js';

/**
 * Why somebody else than root may decide what lies at a path: a file, folder or link on the way, or in the whole tree there, that is not
 * root's, or that others may write to. Undefined where root alone may. Group 0 is root's. Any other group counts as open, whoever is in
 * it: where there is an ACL its bits are the mask. In a sticky folder, such as /tmp, what is root's can be exchanged by nobody. With
 * `orReadOnly` what lies on a read-only mount is nobody's to write. A folder `without` is left out of the tree.
 *
 * Whoever owns the program decides what root runs already, and counts as root does. So does the owner of `/`: in a container without
 * rights of its own that is nobody whom it knows.
 */
export async function othersMayWrite(
	file: string,
	{ tree = false, without, orReadOnly = false }: { tree?: boolean; without?: string; orReadOnly?: boolean } = {},
): Promise<string | undefined> {
	const trust = await trusted();
	for await (const { path: at, stat: found } of walkPath(file)) {
		if (found === undefined) return `${at} does not exist`;
		const reason = reasonOf(at, found, trust);
		if (reason !== undefined && !(orReadOnly && (await isOnReadOnlyMount(at)))) return reason;
	}
	return tree ? openTree(await realpath(file), trust, without) : undefined;
}

/**
 * Why somebody else than root may put another folder in the place of this one, or make it where it is missing: a folder or link on the
 * way, whatever the folder itself permits. Undefined where root alone may.
 */
export async function othersMayExchange(folder: string): Promise<string | undefined> {
	const trust = await trusted();
	let reason: string | undefined;
	for await (const { path: at, stat: found } of walkPath(folder)) {
		// Of the step before: the last one is the folder.
		if (reason !== undefined || found === undefined) return reason;
		reason = reasonOf(at, found, trust);
	}
	return undefined;
}

/** Folders that were found closed with all in them. They stay so, unless root opens them. */
const closed = new Set<string>();

/** Below a folder that is closed itself. A link to another tree leads to what is examined as well. */
async function openTree(top: string, trust: Trust, without: string | undefined): Promise<string | undefined> {
	const seen = new Set<string>();
	const folders = [top];
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		if (seen.has(folder) || closed.has(folder)) continue;
		if (folder === without && folder !== top) continue;
		seen.add(folder);
		for (const name of await readdir(folder)) {
			const at = path.join(folder, name);
			const found = await lstat(at);
			const reason = reasonOf(at, found, trust) ?? (found.isSymbolicLink() ? await openWay(at, trust) : undefined);
			if (reason !== undefined) return reason;
			if (found.isDirectory()) folders.push(at);
			if (!found.isSymbolicLink()) continue;
			const target = await realpath(at).catch(() => undefined);
			if (target !== undefined && (await stat(target)).isDirectory() && !isAbove(target, ownModule))
				folders.push(target);
		}
	}
	for (const folder of seen) closed.add(folder);
	return undefined;
}

/** Of a link in a tree, which may lead nowhere as long as nobody else can make what it leads to. */
async function openWay(link: string, trust: Trust): Promise<string | undefined> {
	for await (const { path: at, stat: found } of walkPath(link)) {
		if (found !== undefined) {
			const reason = reasonOf(at, found, trust);
			if (reason !== undefined) return reason;
			continue;
		}
		const { mode } = await lstat(path.dirname(at));
		if ((mode & 0o1000) !== 0 && (mode & 0o022) !== 0) return `${at}, to which ${link} leads, can be made by others`;
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

function reasonOf(at: string, found: Stats, { owners, mode, group }: Trust): string | undefined {
	if (!owners.has(found.uid)) return `${at} belongs to user ${found.uid}`;
	if (found.isSymbolicLink() || found.isSocket() || (found.isDirectory() && (found.mode & 0o1000) !== 0))
		return undefined;
	if ((found.mode & 0o002 & ~mode) !== 0) return `${at} can be written by everybody`;
	const isOpenToGroup = (found.mode & 0o020) !== 0 && found.gid !== 0;
	return isOpenToGroup && ((mode & 0o020) === 0 || found.gid !== group)
		? `${at} can be written by its group`
		: undefined;
}
