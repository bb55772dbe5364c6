import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { ConfigError, type Step, walkPath } from '@stowage/core';
import { type InstalledUnit, installedUnit } from '../service/installedUnit.js';
import { type AccountIds, accountOf, groupOf, isGroup } from './accounts.js';

/**
 * Whom root becomes to work on a data folder: its owner, with the groups of that account and those that the unit of the service gives it.
 * Undefined where it is root's own. Of a folder that is missing the nearest one above it counts. A folder of root's, such as the empty
 * mount point of a disk, is the service's where its unit names it. Throws ConfigError for a link of anybody but root: whoever made it
 * would choose where root works.
 */
export async function ownerOf(dataDir: string, unitRoot = '/'): Promise<AccountIds | undefined> {
	const [folder, unit] = await Promise.all([nearestFolder(dataDir), installedUnit(unitRoot)]);
	const service = unit === undefined ? undefined : await accountOf(unit.user);
	if (unit !== undefined && service !== undefined && service.uid !== 0) {
		const isServices =
			folder.uid === service.uid || (folder.uid === 0 && (await unit.writableFolderOf(dataDir)) !== undefined);
		if (isServices) return withGroupsOf(unit, service);
	}
	if (folder.uid === 0) return undefined;
	return (await accountOf(folder.uid)) ?? withoutAccount(folder);
}

/**
 * The ids of an owner that has a number only. The group of its folder counts where this machine knows no such group: that may be root's
 * still, or a proxy's, and this owner need not be in it. Throws ConfigError where each number is that of some group.
 */
async function withoutAccount({ uid, gid: ofFolder }: Stats): Promise<AccountIds> {
	for (const gid of [ofFolder, uid]) if (gid !== 0 && !(await isGroup(gid))) return { uid, gid, groups: [gid] };
	throw new ConfigError(
		`The data folder is of user ${uid}, whom root becomes to work on it, and who has no account here. The group of this user is unknown, for the groups ${ofFolder} and ${uid} may be others': make an account of that number, or name the user and its group in the variables PUID and PGID.`,
	);
}

/** The unit may give the service further groups, such as that of a family's files. */
async function withGroupsOf({ group, supplementaryGroups }: InstalledUnit, service: AccountIds): Promise<AccountIds> {
	const gid = (group === undefined ? undefined : await groupOf(group)) ?? service.gid;
	const further = (await Promise.all(supplementaryGroups.map(groupOf))).filter((each) => each !== undefined);
	return { uid: service.uid, gid, groups: [...new Set([gid, ...service.groups, ...further])] };
}

/** The folder, or the nearest one above it. */
async function nearestFolder(folder: string): Promise<Stats> {
	let found = await lstat('/');
	const inFoldersOfOthers: Step[] = [];
	for await (const each of walkPath(folder)) {
		if (each.stat === undefined) break;
		if (each.stat.isSymbolicLink() && each.stat.uid !== 0) {
			throw new ConfigError(
				`${each.path} is a link of user ${each.stat.uid}, which root does not follow: set dataDir to the folder itself, or run this as its owner.`,
			);
		}
		if (!each.stat.isSymbolicLink()) found = each.stat;
		else if (each.folder.uid !== 0) inFoldersOfOthers.push(each);
	}
	const link = inFoldersOfOthers.find((each) => each.folder.uid !== found.uid);
	if (link === undefined) return found;
	throw new ConfigError(
		`${link.path} is a link in a folder of user ${link.folder.uid}, which root follows to folders of that user only: set dataDir to the folder itself, or run this as its owner.`,
	);
}

/**
 * Whether this account could put something else in the place of a file that root names, since a folder or a link on the way is its own or
 * may be open to it. Such a file is opened by the account itself.
 *
 * Where a folder has an ACL, the bits of its group are the mask: the most that any other user or group has by the ACL.
 * So a folder that its group may write to counts as open, whoever is in that group; one that is closed to its group is
 * closed to every entry. What a folder hands down to new files by a default ACL opens none that is made with 0600. The
 * sticky bit protects what others have in a folder, also against entries of an ACL, but neither a name that is free nor
 * a further name of a file that lies elsewhere.
 */
export async function isInReach(file: string, { uid }: AccountIds): Promise<boolean> {
	const openFolders = new Set<string>();
	for await (const { path: at, stat } of walkPath(file)) {
		const isFree = stat === undefined || (!stat.isDirectory() && stat.nlink > 1);
		if (isFree && openFolders.has(path.dirname(at))) return true;
		if (stat === undefined) return false;
		if (stat.uid === uid) return true;
		if (!stat.isDirectory() || (stat.mode & 0o022) === 0) continue;
		if ((stat.mode & 0o1000) === 0) return true;
		openFolders.add(at);
	}
	return false;
}
