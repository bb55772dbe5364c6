import type { Stats } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';
import path from 'node:path';
import { type Config, shellCommand } from '@stowage/core';
import { type AccountIds, accountOf } from '../privileges/accounts.js';
import { isInReach } from '../privileges/ownerOf.js';
import { installCommand, installedUnit } from '../service/installedUnit.js';
import { isMountPointUnknown } from '../service/mountPoints.js';
import { unitFaultOf } from '../service/unitFault.js';
import { addedRoots, serviceFolders } from '../service/unitFolders.js';
import { type Finding, fault, ok, reasonOf, warn } from './findings.js';
import { statIfThere } from './statIfThere.js';

/**
 * Whether the installed service, if there is one, may use its folders: the permissions of this command say nothing about that. `root` is
 * the folder of the units.
 */
export async function checkService(config: Config, root = '/'): Promise<Finding[]> {
	const what = 'service';
	const unit = await installedUnit(root);
	if (unit === undefined) return [];
	// Another check reports a database that can't be read.
	const added = await addedRoots(config.databaseUrl).catch((): string[] => []);
	const { dataDir, roots, others } = serviceFolders(config, added);
	const findings: Finding[] = [];
	for (const folder of [dataDir, ...others, ...roots]) {
		const found = await unitFaultOf(unit, folder);
		if (found?.isWritable === false) {
			const isAway = added.includes(folder) && (await isMountPointUnknown(folder));
			findings.push(fault(what, found.message, isAway ? mountFirst(folder) : found.remedy));
		}
		// The service ends with the disk of its data folder.
		else if (found !== undefined && roots.includes(folder)) findings.push(warn(what, found.message, found.remedy));
	}
	const account = await accountOf(unit.user);
	if (account === undefined) {
		const { installedWith } = unit;
		const remedy =
			installedWith === undefined
				? 'Make that user, or name another one in the unit.'
				: `${installCommand(installedWith)}, or name another user by --user.`;
		return [...findings, fault(what, `${unit.file} names a user that does not exist: ${unit.user}`, remedy)];
	}
	const { uid } = account;
	for (const folder of [dataDir, ...roots]) {
		let found: Stats | undefined;
		try {
			found = await statIfThere(folder);
		} catch (error) {
			const message = `whether ${folder} belongs to ${unit.user}, the user of the service, is unknown: ${reasonOf(error)}`;
			findings.push(warn(what, message, 'Correct what is said of that folder, then run stowage doctor again.'));
		}
		// A missing folder is reported by the checks of the data folder and the roots.
		if (found === undefined || found.uid === uid || uid === 0) continue;
		const message = `${folder} does not belong to ${unit.user}, the user of the service`;
		findings.push(fault(what, message, await givingRemedy(folder, dataDir, unit.user, account)));
	}
	return findings.length > 0 ? findings : [ok(what, `${unit.user} may write to all its folders`)];
}

/**
 * The database, which has the places of roots, is up to its owner: root gives away no folder for that alone, such as
 * `/etc`, nor for a `.stowage` that somebody else could make there, as in `/tmp`, nor one whose path could lead
 * elsewhere by the time root gives the command.
 */
async function givingRemedy(folder: string, dataDir: string, user: string, ids: AccountIds): Promise<string> {
	if (folder !== dataDir && !(await isRootOfOwner(folder, ids))) {
		return `If that is a storage root, give it to ${user}, with all that is in it.`;
	}
	return shellCommand`sudo chown -R ${`${user}:`} ${await realpath(folder)}`;
}

/** Whether this is a storage root that its owner has made, and nobody could put another folder in its place. */
async function isRootOfOwner(folder: string, ids: AccountIds): Promise<boolean> {
	try {
		const real = await realpath(folder);
		const [found, marker] = await Promise.all([lstat(real), lstat(path.join(real, '.stowage'))]);
		return marker.isDirectory() && marker.uid === found.uid && !(await isInReach(real, ids));
	} catch {
		return false;
	}
}

function mountFirst(folder: string): string {
	return `Mount the disk of ${folder} first, then run stowage doctor again: the unit must name the mount point of the disk and no folder below it.`;
}
