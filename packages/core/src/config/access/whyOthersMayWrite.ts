import type { Stats } from 'node:fs';
import { lstat, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellCommand } from '../../shellCommand.js';
import { isOnReadOnlyMount } from './readOnlyMount.js';
import { walkPath } from './walkPath.js';

/**
 * The reason why a user other than root may decide what lies at a path: a file, folder or link on the way that is not root's, or that
 * others may write to. Undefined where root alone may. With `tree` everything below the path is examined as well, but the folder
 * `without`; with `orReadOnly` nobody may write to what lies on a read-only mount.
 *
 * A file that its group may write counts as writable by others, whoever is in the group, unless that is group 0: with an ACL these bits
 * are its mask. In a sticky folder, such as /tmp, nobody can replace what is root's. The owner of the program decides anyway what root
 * runs, and counts as root. So does the owner of `/`, which in an unprivileged container is a user that the container does not know.
 */
export async function whyOthersMayWrite(
	file: string,
	{ tree = false, without, orReadOnly = false }: { tree?: boolean; without?: string; orReadOnly?: boolean } = {},
): Promise<string | undefined> {
	const trust = await trusted();
	for await (const { path: at, stat: found } of walkPath(file)) {
		if (found === undefined) return `${at} does not exist`;
		const reason = reasonOf(at, found, trust);
		if (reason !== undefined && !(orReadOnly && (await isOnReadOnlyMount(at)))) return reason;
	}
	return tree ? whyOthersMayWriteBelow(await realpath(file), trust, without) : undefined;
}

/** Why somebody else than root decides about a place, and what ends that: `close it (chmod go-w /srv/files)`. */
export interface Objection {
	reason: string;
	remedy: string;
	/** What root may make to end it, as long as nobody else has. */
	missing?: string;
}

/**
 * Why a user other than root may replace a folder, or make it where it is missing: a folder or link on the way to it, whatever
 * the folder itself permits. Undefined where root alone may.
 */
export async function whyOthersMayReplace(folder: string): Promise<Objection | undefined> {
	const trust = await trusted();
	let objection: Objection | undefined;
	for await (const { path: at, stat: found, folder: above } of walkPath(folder)) {
		// That of the step before, so that the last step, the folder itself, does not count.
		if (objection !== undefined) return objection;
		if (found === undefined) {
			// In a sticky folder nobody replaces it, but others may make it first.
			if (openness(path.dirname(at), above, trust) === undefined) return undefined;
			const remedy = `make it first (${shellCommand`mkdir -m 700 ${at}`})`;
			return { reason: `${at} is missing, and others could make it first`, remedy, missing: at };
		}
		objection = objectionTo(at, found, trust);
	}
	return undefined;
}

/**
 * The same where root is about to work there: what is missing in a sticky folder, such as `/tmp`, is made at once, so that nobody else can
 * make it first or replace it.
 */
export async function whyOthersMayReplaceOrMake(folder: string): Promise<Objection | undefined> {
	const objection = await whyOthersMayReplace(folder);
	if (objection?.missing === undefined) return objection;
	try {
		await mkdir(objection.missing, { mode: 0o700 });
	} catch (error) {
		// Whose it is by now is what is looked at next.
		if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
	}
	return whyOthersMayReplace(folder);
}

/**
 * Why a user other than root may put files into a folder, or make it where it is missing: it, or a folder or link on the way, is
 * not root's, or open to others. Undefined where root alone may. Here a sticky folder is open like any other: it protects what is there,
 * and no name that is free.
 */
export async function whyOthersMayAdd(folder: string): Promise<Objection | undefined> {
	const trust = await trusted();
	let last = { path: '/', stat: await lstat('/') };
	for await (const { path: at, stat: found, folder: above } of walkPath(folder)) {
		if (found === undefined) {
			last = { path: path.dirname(at), stat: above };
			break;
		}
		const objection = objectionTo(at, found, trust);
		if (objection !== undefined) return objection;
		last = { path: at, stat: found };
	}
	const reason = openness(last.path, last.stat, trust);
	if (reason === undefined) return undefined;
	// Whoever closes /tmp takes it from all other programs.
	const isSticky = (last.stat.mode & 0o1000) !== 0;
	return { reason, remedy: isSticky ? "make a folder of root's in it (mkdir -m 700)" : closing(last.path) };
}

/** Why a file belongs to a user other than root, link or not. Undefined where it is root's, or nothing is there. */
export async function whyOthersOwn(file: string): Promise<Objection | undefined> {
	const { owners } = await trusted();
	const found = await undefinedIfGone(lstat(file));
	return found === undefined || owners.has(found.uid)
		? undefined
		: { reason: ownership(file, found), remedy: giving(file) };
}

/**
 * The link of another user than root in a folder that others may write to: what is made by its name lies wherever that one has led it.
 * Undefined where there is none.
 */
export async function linkOfOthersIn(folder: string): Promise<string | undefined> {
	const { owners } = await trusted();
	const found = await undefinedIfGone(stat(folder));
	if (!found?.isDirectory() || (found.mode & (found.gid === 0 ? 0o002 : 0o022)) === 0) return undefined;
	for (const name of await readdir(folder)) {
		const at = path.join(folder, name);
		const each = await undefinedIfGone(lstat(at));
		if (each?.isSymbolicLink() && !owners.has(each.uid)) return at;
	}
	return undefined;
}

export async function undefinedIfGone<T>(looking: Promise<T>): Promise<T | undefined> {
	try {
		return await looking;
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		// Below a file is nothing.
		if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
		throw error;
	}
}

/** Folders that root alone may write to, with all in them, as examined before. Only root could change that. */
const examined = new Set<string>();

/** Examines all below a folder, and the folders that links in it lead to. The folder itself was examined before. */
async function whyOthersMayWriteBelow(
	top: string,
	trust: Trust,
	without: string | undefined,
): Promise<string | undefined> {
	const seen = new Set<string>();
	const folders = [top];
	for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
		if (seen.has(folder) || examined.has(folder)) continue;
		if (folder === without && folder !== top) continue;
		seen.add(folder);
		for (const name of await readdir(folder)) {
			const at = path.join(folder, name);
			const found = await lstat(at);
			const reason =
				reasonOf(at, found, trust) ?? (found.isSymbolicLink() ? await whyOthersMayChangeTarget(at, trust) : undefined);
			if (reason !== undefined) return reason;
			if (found.isDirectory()) folders.push(at);
			if (!found.isSymbolicLink()) continue;
			// A link to nowhere loads nothing, and who could make its target was examined above.
			const target = await realpath(at).catch(() => undefined);
			if (target !== undefined && (await stat(target)).isDirectory() && !isAbove(target, ownModule))
				folders.push(target);
		}
	}
	for (const folder of seen) examined.add(folder);
	return undefined;
}

/** Examines the way from a link to its target. The target may be missing as long as nobody but root can make it. */
async function whyOthersMayChangeTarget(link: string, trust: Trust): Promise<string | undefined> {
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
	/** The bits of the program's own module by which its group and others may write to it, and that group. */
	mode: number;
	group: number;
}

async function trusted(): Promise<Trust> {
	const [own, top] = await Promise.all([stat(ownModule), stat('/')]);
	return { owners: new Set([0, own.uid, top.uid]), mode: own.mode & 0o022, group: own.gid };
}

function reasonOf(at: string, found: Stats, trust: Trust): string | undefined {
	if (!trust.owners.has(found.uid)) return ownership(at, found);
	if (found.isSymbolicLink() || found.isSocket() || (found.isDirectory() && (found.mode & 0o1000) !== 0))
		return undefined;
	return openness(at, found, trust);
}

function objectionTo(at: string, found: Stats, trust: Trust): Objection | undefined {
	const reason = reasonOf(at, found, trust);
	if (reason === undefined) return undefined;
	return { reason, remedy: trust.owners.has(found.uid) ? closing(at) : giving(at) };
}

const closing = (at: string): string => `close it (${shellCommand`chmod go-w ${at}`})`;

const giving = (at: string): string => `give that to root (${shellCommand`chown -h root ${at}`})`;

const ownership = (at: string, { uid }: Stats): string => `${at} belongs to user ${uid}`;

function openness(at: string, found: Stats, { mode, group }: Trust): string | undefined {
	if ((found.mode & 0o002 & ~mode) !== 0) return `${at} can be written by everybody`;
	const isOpenToGroup = (found.mode & 0o020) !== 0 && found.gid !== 0;
	return isOpenToGroup && ((mode & 0o020) === 0 || found.gid !== group)
		? `${at} can be written by its group`
		: undefined;
}
