import {
	type Area,
	type Clipboard,
	itemOf,
	parentPath,
	parsePath,
	type StoragePath,
	uploadDenial,
	type Viewer,
} from '@stowage/rules';
import { entryAt, type Rows } from '../list/rows.js';
import type { EntryDrag } from './useEntryDrag.js';
import { type DropTarget, useFolderDrops } from './useFolderDrops.js';

export interface DropFolderOptions {
	viewer: Viewer;
	area: Area;
	directory: StoragePath;
	rows: Rows | undefined;
	drag: EntryDrag;
	/** Entries of the list were dropped on a folder into which they may be moved. */
	onEntries: (dragged: Clipboard, directory: StoragePath) => unknown;
	/** Files were dropped on a folder, or elsewhere on the page, which means the folder on screen. */
	onFiles: (transfer: DataTransfer, directory: StoragePath) => void;
}

/**
 * Accepts drops on rows (`data-index`), on breadcrumbs (`data-directory`) and on the rest of the page. Returns whether files
 * are being dragged over the page itself.
 */
export function useDropFolders({
	viewer,
	area,
	directory,
	rows,
	drag,
	onEntries,
	onFiles,
}: DropFolderOptions): boolean {
	/** The folder of a drop target, if the viewer may write to it as far as that is known here. */
	function folderOf(target: DropTarget): StoragePath | undefined {
		if (target.kind === 'page') return directory;
		const { directory: step, index } = target.element.dataset;
		const entry = rows && entryAt(rows, Number(index));
		if (step === undefined && entry?.type === 'file') return undefined;
		const folder =
			step === undefined && entry
				? itemOf(area, entry)
				: { area, path: step === undefined ? parentPath(directory) : parsePath(step) };
		return uploadDenial(viewer, folder) ? undefined : folder.path;
	}

	return useFolderDrops({
		folderSelector: '[data-index], [data-directory]',
		effectOf: (transfer, target) => {
			const isFiles = transfer.types.includes('Files');
			// Files are accepted everywhere; a refused drop shows a notice with the reason.
			if (target.kind === 'page') return isFiles ? 'copy' : 'none';
			const folder = folderOf(target);
			if (folder === undefined) return 'none';
			if (isFiles) return 'copy';
			return drag.droppableIn(transfer, folder) ? 'move' : 'none';
		},
		onDrop: (transfer, target) => {
			const folder = folderOf(target) ?? directory;
			const dragged = drag.droppableIn(transfer, folder);
			if (dragged) onEntries(dragged, folder);
			else onFiles(transfer, folder);
		},
	});
}
