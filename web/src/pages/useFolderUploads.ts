import { type MemberRole, type StoragePath, uploadDenial, type Viewer } from '@stowage/rules';
import { type RefObject, useRef } from 'react';
import type { BrowserLocation } from '../features/files/location/location.js';
import { operationMessages } from '../features/files/operations/messages.js';
import { chooseFolder } from '../features/uploadQueue/choosing/chooseFolder.js';
import { type Chosen, droppedFiles } from '../features/uploadQueue/choosing/chosenFiles.js';
import { useUploadQueue } from '../features/uploadQueue/useUploadQueue.js';
import { useNotify } from '../ui/notifications/useNotify.js';
import { useMediaQuery } from '../ui/useMediaQuery.js';

export interface FolderUploads {
	/** How files come into the folder on screen while it is empty; undefined if the viewer may not upload there. */
	hint: string | undefined;
	/** The input of the `FilePicker`. */
	picker: RefObject<HTMLInputElement | null>;
	chooseFiles: () => void;
	chooseFolder: () => void;
	/** Adds files to the queue and opens it. Without a directory they go into the folder on screen. */
	add: (chosen: Chosen | Promise<Chosen>, directory?: StoragePath) => void;
	/** Adds dropped or pasted files. Must be called while their event is handled. */
	addTransfer: (transfer: DataTransfer, directory?: StoragePath) => void;
}

/** Uploads into the folder on screen and its subfolders. `role` is what the viewer may do in the former, if it is shared. */
export function useFolderUploads(
	viewer: Viewer,
	{ area, directory }: BrowserLocation,
	role?: MemberRole,
): FolderUploads {
	const queue = useUploadQueue();
	const { notify } = useNotify();
	const picker = useRef<HTMLInputElement>(null);
	const hint = operationMessages.uploadHint[useMediaQuery('(pointer: coarse)') ? 'touch' : 'mouse'];

	function add(chosen: Chosen | Promise<Chosen>, target = directory) {
		const refusal = uploadDenial(viewer, { area, path: target, ...(target === directory ? { role } : {}) });
		if (refusal) return void notify({ intent: 'danger', message: refusal.message });
		queue.add(chosen, { area, directory: target });
		queue.openDialog();
	}

	return {
		hint: uploadDenial(viewer, { area, path: directory, role }) ? undefined : hint,
		picker,
		chooseFiles: () => picker.current?.click(),
		chooseFolder: () => chooseFolder(add),
		add,
		addTransfer: (transfer, target) => add(droppedFiles(transfer), target),
	};
}
