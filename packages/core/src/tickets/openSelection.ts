import type { Files, OpenFile } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import type { Archives } from '../archives/createArchives.js';
import type { Selection } from '../archives/freeze.js';

export interface OpenSelection {
	kind: 'file' | 'archive';
	/** The caller closes it. */
	file: OpenFile;
	name: string;
	skipped: number;
}

/** A single file as itself, all else as an archive. */
export async function openSelection(
	{ files, archives }: { files: Files; archives: Archives },
	viewer: Viewer,
	selection: Selection,
	signal: AbortSignal,
): Promise<OpenSelection> {
	const [only, ...others] = selection.items;
	if (only !== undefined && others.length === 0 && only.path !== '') {
		const ref = { area: selection.area, ...only };
		const found = await files.find(viewer, ref);
		if (found.type === 'file') {
			const { entry, file } = await files.open(viewer, ref);
			return { kind: 'file', file, name: entry.name, skipped: 0 };
		}
	}
	return { kind: 'archive', ...(await archives.open(viewer, selection, signal)) };
}
