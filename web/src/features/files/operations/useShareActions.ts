import { type Entry, parsePath, type StoragePath } from '@stowage/rules';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import type { FolderView } from '../folder/useFolderView.js';
import type { EntryCommand } from '../keyboard/listCommands.js';
import { type Action, isPreviewable } from '../menu/menu.js';
import { filesMessages as messages } from '../messages.js';

export interface ShareActionContext {
	folder: Pick<FolderView, 'rows' | 'select' | 'refresh'>;
	/** Whether the share can be downloaded only. */
	isLimited: boolean;
	openFolder: (directory: StoragePath) => void;
	preview: (entry: Entry) => void;
	download: (entries: readonly Entry[], asZip: boolean) => void;
}

/** Performs what whoever has the address of a share may do. The keys of other actions do nothing. */
export function useShareActions(context: ShareActionContext) {
	const { folder, isLimited, openFolder, preview, download } = context;
	const { notify } = useNotify();

	const show = (entry: Entry, otherwise: () => void) => {
		if (!isLimited && isPreviewable(entry)) preview(entry);
		else otherwise();
	};
	return (action: Action | EntryCommand, entries: readonly Entry[]): void => {
		const [first] = entries;
		switch (action) {
			case 'selectAll':
				return void (folder.rows && folder.select({ type: 'all', order: folder.rows }));
			case 'refresh':
				return void folder.refresh();
			case 'open':
				if (first?.type === 'directory') openFolder(parsePath(first.path));
				else if (first) show(first, () => download([first], false));
				return;
			case 'preview':
				if (first) show(first, () => notify({ intent: 'warning', message: messages.notPreviewable }));
				return;
			case 'download':
			case 'downloadZip':
				if (entries.length > 0) download(entries, action === 'downloadZip');
		}
	};
}
