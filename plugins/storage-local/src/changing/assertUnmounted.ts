import { dirname, join, relative } from 'node:path';
import { Failure, rootPath, type StoragePath } from '@stowage/rules';
import type { Disk } from '../root/Disk.js';
import { readlink } from '../system/descriptors.js';

/**
 * Throws `conflict` where something is mounted at the path, or below it: its files are in use in another
 * place, and go with whatever is removed here.
 */
export async function assertUnmounted(disk: Disk, path: StoragePath): Promise<void> {
	const points = await disk.calls.mountPoints();
	if (points.length === 0) return;
	using root = await disk.folder(rootPath, 'path');
	// That of a folder below is not told by the system where it has more than 4,095 bytes.
	const place = join(root.isNamedByDescriptor ? await readlink(root.path) : root.path, path);
	const mounted = points.find((point) => point === place || point.startsWith(`${place}/`));
	if (mounted === undefined) return;
	throw new Failure(
		'conflict',
		`${relative(dirname(place), mounted)} is mounted from another place, where its files may be in use. Unmount it first: until then neither it nor a folder around it can be removed.`,
	);
}
