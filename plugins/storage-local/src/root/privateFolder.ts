import { randomBytes } from 'node:crypto';

/** The root's own folder: it proves whose root this is and holds what is not yet, or no longer, visible. */
export const privateFolder = '.stowage';

export const stagingFolder = 'staging';
export const trashFolder = 'trash-in-progress';

/** Begins the names of what may be swept from staging when nobody works on it any more. Uploads have no such beginning. */
export const scratchPrefix = 'scratch-';

/** Begins the names of copies that can be gone on with, until they are discarded. */
export const copyPrefix = 'copy-';

/** Begins the names of files that are about to take the place of others, and of what tells where they belong. */
export const replacingPrefix = 'replacing-';

/** Whether a name at the root could reach the private folder, also on a disk that ignores case, width or trailing dots. */
export function isPrivateName(segment: string): boolean {
	return (
		segment
			.normalize('NFKC')
			.toUpperCase()
			.replace(/[. ]+$/, '') === privateFolder.toUpperCase()
	);
}

/** A name that nothing in the private folder has, nor had. */
export function randomName(): string {
	return randomBytes(16).toString('hex');
}
