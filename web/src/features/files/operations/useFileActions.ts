import type { Area, Clipboard, Entry, StoragePath, Viewer } from '@stowage/rules';
import { useEffect, useMemo, useRef } from 'react';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { type FileDialog, nameItems } from '../dialogs/fileDialog.js';
import type { Action } from '../menu/menu.js';
import { filesMessages as messages } from '../messages.js';
import { type GuardedAction, permittedFor } from './permitted.js';
import type { FileOperations } from './useFileOperations.js';

export interface ActionContext {
	viewer: Viewer;
	area: Area;
	directory: StoragePath;
	/** Every download asks first. */
	asksBeforeDownload: boolean;
	operations: FileOperations;
	clipboard: Clipboard | undefined;
	onClipboard: (clipboard: Clipboard | undefined) => void;
	onDialog: (dialog: FileDialog) => void;
	onOpenFolder: (entry: Entry) => void;
	onUploadFiles: () => void;
	onUploadFolder: () => void;
	onSelectAll: () => void;
	onRefresh: () => void;
	onDownload: (entries: readonly Entry[], asZip: boolean) => void;
	onCopyLink: (entry: Entry) => void;
}

/** Does an action of a menu or a key with these entries: at once, by a dialog, or not, with a sentence that says why. */
export type Perform = (action: Action, entries: readonly Entry[]) => void;

/** The answer stays the same function; it acts on what is on screen when it is called. */
export function useFileActions(context: ActionContext): Perform {
	const { notify } = useNotify();
	const latest = useRef(context);
	useEffect(() => {
		latest.current = context;
	});

	return useMemo(() => {
		/** Those the rules allow it for; the bar says what is skipped. */
		const permitted = (action: GuardedAction, entries: readonly Entry[]): Entry[] => {
			const { viewer, area } = latest.current;
			const { entries: allowed, message } = permittedFor(action, viewer, area, entries);
			if (message !== undefined) notify({ intent: allowed.length === 0 ? 'danger' : 'warning', message });
			return allowed;
		};
		const keep = (operation: Clipboard['operation'], entries: readonly Entry[]) => {
			if (entries.length === 0) return notify({ intent: 'warning', message: messages.nothingToCut });
			const items = permitted(operation, entries);
			if (items.length === 0) return;
			const { area, directory, onClipboard } = latest.current;
			onClipboard({ operation, items, sourceArea: area, sourceDirectory: directory });
			notify({ message: (operation === 'cut' ? messages.cut : messages.copied)(nameItems(items)) });
		};
		const download = (entries: readonly Entry[], asZip: boolean) => {
			const { asksBeforeDownload, onDialog, onDownload } = latest.current;
			if (entries.length === 0) return notify({ intent: 'warning', message: messages.noFilesToDownload });
			if (asksBeforeDownload) onDialog({ kind: 'download', entries, asZip });
			else onDownload(entries, asZip);
		};
		const ask = (action: GuardedAction, entries: readonly Entry[], dialog: (entries: Entry[]) => FileDialog) => {
			const allowed = permitted(action, entries);
			if (allowed.length > 0) latest.current.onDialog(dialog(allowed));
		};

		return (action, entries) => {
			const { operations, clipboard, onClipboard, onDialog, ...on } = latest.current;
			const [first] = entries;
			switch (action) {
				case 'createFolder':
					return onDialog({ kind: 'createFolder' });
				case 'uploadFiles':
					return on.onUploadFiles();
				case 'uploadFolder':
					return on.onUploadFolder();
				case 'paste':
					if (!clipboard) return void notify({ intent: 'warning', message: messages.nothingToPaste });
					return void operations.paste(clipboard, on.directory).then(onClipboard);
				case 'selectAll':
					return on.onSelectAll();
				case 'refresh':
					return on.onRefresh();
				case 'open':
					if (first?.type === 'directory') return on.onOpenFolder(first);
					return void download(entries, false);
				case 'download':
				case 'downloadZip':
					return void download(entries, action === 'downloadZip');
				case 'copyLink':
					return void (first && on.onCopyLink(first));
				case 'temporaryLink':
					return void (first && onDialog({ kind: 'temporaryLink', entry: first }));
				case 'rename':
					return ask('rename', entries.slice(0, 1), ([entry]) => ({ kind: 'rename', entry: entry as Entry }));
				case 'cut':
				case 'copy':
					return void keep(action, entries);
				case 'moveToPublic':
					return ask(action, entries, (allowed) => ({ kind: 'move', direction: 'toPublic', entries: allowed }));
				case 'moveToPrivate':
					return ask(action, entries, (allowed) => ({ kind: 'move', direction: 'toPrivate', entries: allowed }));
				case 'delete':
					return ask('delete', entries, (allowed) => ({ kind: 'delete', entries: allowed }));
				default:
					return action satisfies never;
			}
		};
	}, [notify]);
}
