import type { DescriptorFile, StagedFile } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import type { FileParts } from './FileParts.js';
import { withStagedDescriptor } from './placing/withStagedDescriptor.js';

/** Begins a file on the disk of the viewer's files, or finds one by its id. */
export async function stage({ trees, storage }: FileParts, viewer: Viewer, id?: string): Promise<StagedFile> {
	const tree = trees.own(viewer, 'public');
	const space = await tree.space();
	if (id === undefined) await space.assertSpace();
	return space.guarded(await (id === undefined ? tree.storage.begin() : storage().stage(id)));
}

/** Lends a staged file to a program of its own. Its growth is checked against the quota and the reserve. */
export async function withDescriptor<T>(
	{ trees, temporaryFolder }: FileParts,
	viewer: Viewer,
	{ staged }: { staged: StagedFile },
	use: (file: DescriptorFile) => Promise<T>,
): Promise<T> {
	const tree = trees.own(viewer, 'public');
	const reservation = await tree.quota.reserve();
	try {
		const space = await tree.space();
		const reserve = (bytes: number) => reservation.add({ bytes, entries: 0 });
		return await withStagedDescriptor({ staged, space, reserve, temporaryFolder }, use);
	} finally {
		// The publishing call checks it again.
		reservation.release();
	}
}
