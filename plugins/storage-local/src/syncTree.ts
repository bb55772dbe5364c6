import type { Disk } from './Disk.js';
import { closeSync, fstat, fsync, open } from './descriptors.js';
import type { Folder } from './Folder.js';
import { readFileFlags, stepInto } from './opening.js';
import { pathPart } from './rawNames.js';

/** Makes a whole copied tree durable, one object after another. */
export async function syncTree(disk: Disk, folder: Folder): Promise<void> {
	for await (const batch of disk.calls.readNames(folder)) {
		for (const { name } of batch) {
			const fd = await open(folder.at(pathPart(name)), readFileFlags);
			try {
				await fsync(fd);
				if (!(await fstat(fd)).isDirectory()) continue;
			} finally {
				closeSync(fd);
			}
			using inner = await stepInto(folder, pathPart(name), 'read');
			await syncTree(disk, inner);
		}
	}
}
