import { join } from 'node:path';
import type { Disk } from '../root/Disk.js';
import { privateFolder, removedFolder } from '../root/privateFolder.js';
import { lstat } from '../system/descriptors.js';
import { pathPart } from '../system/rawNames.js';
import { ignoreMissing } from '../system/systemErrors.js';

/** The paths of what was removed by that time, in milliseconds since the epoch, and could not be freed. */
export async function findLeftovers(disk: Disk, until: number): Promise<string[]> {
	using folder = await disk.privateFolder(removedFolder, 'read');
	const places: string[] = [];
	for await (const batch of disk.calls.readNames(folder)) {
		for (const { name } of batch) {
			const stats = await lstat(folder.at(pathPart(name))).catch(ignoreMissing);
			// Changed by the rename that brought it there, and by each removal in it.
			if (stats && stats.ctimeMs <= until)
				places.push(join(disk.root.path, privateFolder, removedFolder, pathPart(name).toString()));
		}
	}
	return places.sort();
}
