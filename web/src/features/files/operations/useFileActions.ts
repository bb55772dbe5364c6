import {
	type Area,
	type Clipboard,
	createFolderDenial,
	type Entry,
	type MemberRole,
	parsePath,
	type StoragePath,
	type Viewer,
} from '@stowage/rules';
import { useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { useLatest } from '../../../ui/useLatest.js';
import { useScopedState } from '../../../ui/useScopedState.js';
import type { FileDialog } from '../dialogs/fileDialog.js';
import type { FolderView } from '../folder/useFolderView.js';
import { keyOf } from '../list/rows.js';
import { type Action, isPreviewable, isVideo } from '../menu/menu.js';
import { filesMessages as messages, nameItems } from '../messages.js';
import type { RowKey } from '../selection/selection.js';
import { operationMessages } from './messages.js';
import { type GuardedAction, permittedFor } from './permitted.js';
import type { FileOperations } from './useFileOperations.js';

export interface ActionContext {
	viewer: Viewer;
	area: Area;
	directory: StoragePath;
	/** What the viewer may do in a shared folder. */
	role: MemberRole | undefined;
	folder: Pick<FolderView, 'key' | 'rows' | 'select' | 'refresh'>;
	operations: FileOperations;
	/** Every download asks first. */
	asksBeforeDownload: boolean;
	/** Opening a file shows its preview, if there is one. */
	enablesPreview: boolean;
	openFolder: (directory: StoragePath) => void;
	preview: (entry: Entry) => void;
	uploadFiles: () => void;
	uploadFolder: () => void;
	download: (entries: readonly Entry[], asZip: boolean) => void;
	copyLink: (entry: Entry) => void;
	/** Whether videos can be converted; a notice shows why not. */
	mayConvert: () => Promise<boolean>;
}

/** Performs an action of a menu or a key on these entries: at once, after a dialog, or not, with a notice that says why. */
export type Perform = (action: Action, entries: readonly Entry[]) => void;

export interface FileActions {
	/** Always the same function; it acts on the rows on screen when it is called. */
	perform: Perform;
	/** The open dialog. It is closed when its folder is left, unless it is kept. */
	dialog: FileDialog | undefined;
	/** Keeps the open one in all folders, or no longer. */
	keepDialog: (isKept: boolean) => void;
	/** Closes this one, if it is the open one. */
	closeDialog: (dialog: FileDialog) => void;
	clipboard: Clipboard | undefined;
	/** The rows of cut entries. */
	cutKeys: ReadonlySet<RowKey>;
}

export function useFileActions(context: ActionContext): FileActions {
	const { notify } = useNotify();
	const [folderDialog, setFolderDialog] = useScopedState<FileDialog>(context.folder.key);
	// Conversions that run are followed in any folder.
	const [keptDialog, setKeptDialog] = useState<FileDialog>();
	const dialog = keptDialog ?? folderDialog;
	const [clipboard, setClipboard] = useState<Clipboard>();
	const latest = useLatest({ ...context, clipboard, dialog, folderDialog, setFolderDialog });

	const perform = useMemo((): Perform => {
		let pasting: Clipboard | undefined;
		const setDialog = (opened: FileDialog) => latest.current.setFolderDialog(opened);
		/** The entries that the rules allow it for. A notice says which ones are skipped. */
		const permitted = (action: GuardedAction, entries: readonly Entry[]): Entry[] => {
			const { viewer, area } = latest.current;
			const { entries: allowed, message } = permittedFor(action, viewer, area, entries);
			if (message !== undefined) notify({ intent: allowed.length === 0 ? 'danger' : 'warning', message });
			return allowed;
		};
		const putOnClipboard = (operation: Clipboard['operation'], entries: readonly Entry[]) => {
			if (entries.length === 0) return void notify({ intent: 'warning', message: operationMessages.nothingToCut });
			const items = permitted(operation, entries);
			if (items.length === 0) return;
			const { area, directory } = latest.current;
			setClipboard({ operation, items, sourceArea: area, sourceDirectory: directory });
			notify({ message: (operation === 'cut' ? operationMessages.cut : operationMessages.copied)(nameItems(items)) });
		};
		const paste = () => {
			const { clipboard: pasted, operations, viewer, area, directory, role } = latest.current;
			if (!pasted) return void notify({ intent: 'warning', message: operationMessages.nothingToPaste });
			const refusal = area === 'shared' ? createFolderDenial(viewer, { area, path: directory, role }) : undefined;
			if (refusal)
				return void notify({ intent: 'danger', message: operationMessages.pasteFailed, detail: refusal.message });
			// The cut entries are being moved already.
			if (pasted.operation === 'cut' && pasting === pasted) return;
			pasting = pasted;
			void operations.paste(pasted, directory).then((left) => {
				pasting = undefined;
				// At once, or a key that comes before the next render would paste again. Something else may have been cut or copied meanwhile.
				flushSync(() => setClipboard((current) => (current === pasted ? left : current)));
			});
		};
		const startDownload = (entries: readonly Entry[], asZip: boolean) => {
			const { asksBeforeDownload, download } = latest.current;
			if (entries.length === 0) return void notify({ intent: 'warning', message: operationMessages.noFilesToDownload });
			if (asksBeforeDownload) setDialog({ kind: 'download', entries, asZip });
			else download(entries, asZip);
		};
		const convert = async (entries: readonly Entry[]) => {
			const videos = entries.filter(isVideo);
			if (videos.length === 0) {
				const message = entries.length === 1 ? operationMessages.notVideo : operationMessages.noVideosSelected;
				return void notify({ intent: 'warning', message });
			}
			const allowed = permitted('convert', videos);
			if (allowed.length === 0) return;
			const { area, folder } = latest.current;
			if (!(await latest.current.mayConvert())) return;
			// Something else may have been opened meanwhile, or another folder.
			if (latest.current.dialog || latest.current.folder.key !== folder.key) return;
			setDialog({ kind: 'convert', area, entries: allowed });
		};
		const openDialogFor = (
			action: GuardedAction,
			entries: readonly Entry[],
			dialogFor: (allowed: Entry[]) => FileDialog,
		) => {
			const allowed = permitted(action, entries);
			if (allowed.length > 0) setDialog(dialogFor(allowed));
		};

		return (action, entries) => {
			const { folder, openFolder, enablesPreview, preview, uploadFiles, uploadFolder, copyLink } = latest.current;
			const [first] = entries;
			// Of several the archive leaves it out.
			if (first?.unreadable && entries.length === 1 && readingActions.has(action)) {
				return void notify({ intent: 'danger', message: operationMessages.refused(first.name) });
			}
			switch (action) {
				case 'createFolder':
					return setDialog({ kind: 'create', what: 'folder' });
				case 'createFile':
					return setDialog({ kind: 'create', what: 'file' });
				case 'uploadFiles':
					return uploadFiles();
				case 'uploadFolder':
					return uploadFolder();
				case 'paste':
					return paste();
				case 'selectAll':
					return void (folder.rows && folder.select({ type: 'all', order: folder.rows }));
				case 'refresh':
					return void folder.refresh();
				case 'open':
					if (first?.type === 'directory') return openFolder(parsePath(first.path));
					if (first && enablesPreview && isPreviewable(first)) return preview(first);
					return startDownload(entries, false);
				case 'preview':
					if (!first) return;
					if (isPreviewable(first)) return preview(first);
					return void notify({ intent: 'warning', message: messages.notPreviewable });
				case 'download':
				case 'downloadZip':
					return startDownload(entries, action === 'downloadZip');
				case 'copyLink':
					return void (first && copyLink(first));
				case 'temporaryLink':
					return void (first && setDialog({ kind: 'temporaryLink', entry: first }));
				case 'share':
					return setDialog({ kind: 'share', entries });
				case 'members':
				case 'leave':
					return void (first && setDialog({ kind: action, entry: first }));
				case 'convert':
					return void convert(entries);
				case 'rename':
					return openDialogFor(action, entries.slice(0, 1), ([entry]) => ({ kind: 'rename', entry: entry as Entry }));
				case 'versions':
					return void (first && setDialog({ kind: 'versions', entry: first }));
				case 'cut':
				case 'copy':
					return putOnClipboard(action, entries);
				case 'moveToPublic':
					return openDialogFor(action, entries, (allowed) => ({
						kind: 'move',
						direction: 'toPublic',
						entries: allowed,
					}));
				case 'moveToPrivate':
					return openDialogFor(action, entries, (allowed) => ({
						kind: 'move',
						direction: 'toPrivate',
						entries: allowed,
					}));
				case 'delete':
				case 'deleteForever':
					return openDialogFor(action, entries, (allowed) => ({ kind: action, entries: allowed }));
				default:
					return action satisfies never;
			}
		};
	}, [notify]);

	const { area } = context;
	const cutKeys = useMemo(() => keysOfCut(clipboard, area), [clipboard, area]);
	const keepDialog = (isKept: boolean) => {
		const { dialog: open, folderDialog: ofFolder } = latest.current;
		if (isKept) setKeptDialog(open);
		// In another folder it stays all the same, since it says why nothing was done.
		else if (open === ofFolder) setKeptDialog(undefined);
	};
	const closeDialog = (closed: FileDialog) => {
		const unlessOther = (open: FileDialog | undefined) => (open === closed ? undefined : open);
		// Of the folder on screen, which may be another one than when what it waited for began.
		latest.current.setFolderDialog(unlessOther);
		setKeptDialog(unlessOther);
	};
	return { perform, dialog, keepDialog, closeDialog, clipboard, cutKeys };
}

function keysOfCut(clipboard: Clipboard | undefined, area: Area): ReadonlySet<RowKey> {
	if (clipboard?.operation !== 'cut' || clipboard.sourceArea !== area) return noKeys;
	return new Set(clipboard.items.map(keyOf));
}

const readingActions: ReadonlySet<Action> = new Set(['open', 'preview', 'download', 'downloadZip']);

const noKeys: ReadonlySet<RowKey> = new Set();
