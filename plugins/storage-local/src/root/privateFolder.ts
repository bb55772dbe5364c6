import { randomBytes } from 'node:crypto';
import { foldedName } from '@stowage/rules';

/** The root's own folder: it identifies the root and contains the files that are not yet, or no longer, visible. */
export const privateFolder = '.stowage';

export const stagingFolder = 'staging';
/** The folder of what is being removed: its contents are on their way to nothing. */
export const removedFolder = 'trash-in-progress';

/** Prefix of the names in staging that may be swept when they are not in use. Uploads have no such prefix. */
export const scratchPrefix = 'scratch-';

/** Prefix of copies that can be continued until they are discarded. */
export const copyPrefix = 'copy-';

/** Prefix of files that are about to replace others, and of the records of where they belong. */
export const replacingPrefix = 'replacing-';

/** Whether a name at the root could reach the private folder, also on a disk that ignores case, width or trailing dots. */
export function isPrivateName(segment: string): boolean {
	return foldedName(segment) === foldedName(privateFolder);
}

/** A name that has never been used in the private folder. */
export function randomName(): string {
	return randomBytes(16).toString('hex');
}
