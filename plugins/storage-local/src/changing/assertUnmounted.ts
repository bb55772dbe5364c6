import { join, relative } from 'node:path';
import { Failure } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { readlink } from '../system/descriptors.js';
import type { Folder } from '../system/openFolder.js';

/**
 * Throws `conflict` where something is mounted on the object of that name, or below it: its files are in use in another
 * place, and go with whatever is removed here.
 */
export async function assertUnmounted({ calls }: Disk, folder: Folder, name: string): Promise<void> {
	const points = await calls.mountPoints();
	if (points.length === 0) return;
	const above = folder.isNamedByDescriptor ? await readlink(folder.path) : folder.path;
	const place = join(above, name);
	const mounted = points.find((point) => point === place || point.startsWith(`${place}/`));
	if (mounted === undefined) return;
	throw new Failure(
		'conflict',
		`${relative(above, mounted)} is mounted from another place, where its files may be in use. Unmount it first: until then neither it nor a folder around it can be removed.`,
	);
}
