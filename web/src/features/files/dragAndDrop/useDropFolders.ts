import {
	type Area,
	type Clipboard,
	itemOf,
	parentPath,
	parsePath,
	refuseUpload,
	type StoragePath,
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
	/** Entries of the list were dropped on a folder into which they may move. */
	onEntries: (dragged: Clipboard, directory: StoragePath) => void;
	/** Files from outside were dropped on a folder, or anywhere else, which means the one on screen. */
	onFiles: (transfer: DataTransfer, directory: StoragePath) => void;
}

/**
 * Drops on rows (`data-index`), on breadcrumbs (`data-directory`) and on the rest of the page. Answers whether files are
 * held over the page itself.
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
	/** The folder that is meant, if the viewer may put something into it. */
	function folderOf(target: DropTarget): StoragePath | undefined {
		if (target.kind === 'page') return directory;
		const { directory: step, index } = target.element.dataset;
		const entry = rows && entryAt(rows, Number(index));
		if (step === undefined && entry?.type === 'file') return undefined;
		const folder =
			step === undefined && entry
				? itemOf(area, entry)
				: { area, path: step === undefined ? parentPath(directory) : parsePath(step) };
		return refuseUpload(viewer, folder) ? undefined : folder.path;
	}

	return useFolderDrops({
		folderSelector: '[data-index], [data-directory]',
		effectOf: (transfer, target) => {
			const isFiles = transfer.types.includes('Files');
			// Files are taken everywhere; a drop that is not allowed is told why.
			if (target.kind === 'page') return isFiles ? 'copy' : 'none';
			const folder = folderOf(target);
			if (folder === undefined) return 'none';
			if (isFiles) return 'copy';
			return drag.carriedTo(folder) ? 'move' : 'none';
		},
		onDrop: (transfer, target) => {
			const folder = folderOf(target) ?? directory;
			const carried = drag.carriedTo(folder);
			if (carried) onEntries(carried, folder);
			else onFiles(transfer, folder);
		},
	});
}
