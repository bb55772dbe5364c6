import { OfflineIcon } from '@blueprintjs/icons';
import {
	type Area,
	baseName,
	type Clipboard,
	type Entry,
	itemOf,
	parentPath,
	parsePath,
	refuseCreateFolder,
	refuseCut,
	refuseUpload,
	rootPath,
	type SortColumn,
	type StoragePath,
	toggleSort,
	type Viewer,
} from '@stowage/rules';
import { useMemo, useRef, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { ContextMenu } from '../features/files/ContextMenu.js';
import { DialogHost } from '../features/files/dialogs/DialogHost.js';
import { type FileDialog, nameItems } from '../features/files/dialogs/fileDialog.js';
import { FileList, type FileListHandle } from '../features/files/FileList.js';
import { EmptyList, LoadError } from '../features/files/FilesMessage.js';
import { type BrowserLocation, folderKey, homeHref, hrefOf, placeIn } from '../features/files/location.js';
import { type Action, menuFor, menuKind } from '../features/files/menu.js';
import { filesMessages as messages } from '../features/files/messages.js';
import { entryAt, keyOf, selectedEntries } from '../features/files/rows.js';
import type { Point } from '../features/files/rubberBand.js';
import { cursorIndex, type RowKey } from '../features/files/selection.js';
import { useIsOnline } from '../features/files/useConnection.js';
import { useEntryDrag } from '../features/files/useEntryDrag.js';
import { useFileActions } from '../features/files/useFileActions.js';
import { useFileOperations } from '../features/files/useFileOperations.js';
import { useFolder } from '../features/files/useFolder.js';
import { type DropTarget, useFolderDrops } from '../features/files/useFolderDrops.js';
import { useIsReturn } from '../features/files/useIsReturn.js';
import { useListing } from '../features/files/useListing.js';
import type { ListCommand } from '../features/files/useListKeys.js';
import { usePasteEvent } from '../features/files/usePasteEvent.js';
import { Toolbar } from '../features/toolbar/Toolbar.js';
import { droppedFiles } from '../features/uploadQueue/droppedFiles.js';
import { UploadQueueDialog } from '../features/uploadQueue/UploadQueueDialog.js';
import { useUploadQueue } from '../features/uploadQueue/useUploadQueue.js';
import { messages as appMessages } from '../messages.js';
import { useFrame } from '../ui/frame.js';
import { useNotify } from '../ui/notifications/useNotify.js';
import styles from './BrowserPage.module.css';

export interface BrowserPageFolderProps {
	location: BrowserLocation;
	viewer: Viewer;
	/** Whether it is known yet who looks at it. */
	isKnown: boolean;
	/** Every download asks first. */
	asksBeforeDownload: boolean;
}

interface OpenMenu {
	at: Point;
	/** What it is about; none for the folder itself. */
	entries: readonly Entry[];
	/** What had the focus before. */
	opener: Element | null;
}

/** One place of the file browser: the toolbar, the list, its menu and its dialogs. */
export function BrowserPageFolder({ location, viewer, isKnown, asksBeforeDownload }: BrowserPageFolderProps) {
	const { area, directory, search, sort } = location;
	const isSignedIn = viewer.kind === 'user';
	const frame = useFrame();
	const place = usePlaces(location);
	const folder = useFolder(folderKey(location), place.entry);
	const listing = useListing(location, folder.letter, isKnown ? isSignedIn : undefined);
	const { rows, error } = listing;
	const { selection, select } = folder;
	const selected = useMemo(() => (rows ? selectedEntries(rows, selection.selected) : []), [rows, selection.selected]);

	const list = useRef<FileListHandle>(null);
	const picker = useRef<HTMLInputElement>(null);
	const [dialog, setDialog] = useState<FileDialog>();
	const [menu, setMenu] = useState<OpenMenu>();
	const [clipboard, setClipboard] = useState<Clipboard>();
	const cutKeys = useMemo(() => keysToMove(clipboard, area), [clipboard, area]);

	const operations = useFileOperations({ viewer, area, directory, patch: listing.patch });
	const perform = useFileActions({
		viewer,
		area,
		directory,
		asksBeforeDownload,
		operations,
		clipboard,
		onClipboard: setClipboard,
		onDialog: setDialog,
		onOpenFolder: (entry) => place.go(parsePath(entry.path)),
		onUploadFiles: () => picker.current?.click(),
		onSelectAll: () => rows && select({ type: 'all', order: rows }),
		onRefresh: () => void listing.refresh(),
	});

	const addFiles = useUploads(viewer, location);
	const drag = useEntryDrag(viewer, area, directory);
	usePasteEvent({ onFiles: (files) => addFiles(files, [], directory), onPaste: () => perform('paste', []) });
	const isOverPage = useFolderDrops({
		folderSelector: '[data-index], [data-directory]',
		effectOf: (transfer, target) => {
			const isFiles = transfer.types.includes('Files');
			if (target.kind === 'page') return isFiles ? 'copy' : 'none';
			const folderPath = folderOf(target);
			if (folderPath === undefined) return 'none';
			if (isFiles) return 'copy';
			return drag.carriedTo(folderPath) ? 'move' : 'none';
		},
		onDrop: (transfer, target) => {
			const folderPath = folderOf(target) ?? directory;
			const carried = drag.carriedTo(folderPath);
			if (carried) return void operations.dropInto(carried, folderPath);
			const { files, folders } = droppedFiles(transfer);
			addFiles(files, folders, folderPath);
		},
	});

	/** The folder that an element stands for, if the viewer may put something into it. */
	function folderOf(target: DropTarget): StoragePath | undefined {
		if (target.kind === 'page') return directory;
		const { directory: step, index } = target.element.dataset;
		if (step !== undefined) return refuseUpload(viewer, { area, path: parsePath(step) }) ? undefined : parsePath(step);
		const entry = rows && entryAt(rows, Number(index));
		if (!entry) return parentPath(directory);
		if (entry.type === 'file') return undefined;
		const item = itemOf(area, entry);
		return refuseUpload(viewer, item) ? undefined : item.path;
	}

	function open(index: number) {
		const entry = rows && entryAt(rows, index);
		if (entry) perform('open', [entry]);
		else place.goUp(viewer);
	}

	function openMenu(at: Point, index: number | undefined) {
		const entry = rows && index !== undefined ? entryAt(rows, index) : undefined;
		const opener = document.activeElement;
		if (!entry || index === undefined) {
			select({ type: 'cleared' });
			return setMenu({ at, entries: [], opener });
		}
		const key = keyOf(entry);
		if (selection.selected.has(key)) return setMenu({ at, entries: selected, opener });
		select({ type: 'only', at: { key, index } });
		setMenu({ at, entries: [entry], opener });
	}

	function closeMenu() {
		// Before the menu goes, or the focus would fall to nobody and be read out as lost.
		if (menu?.opener instanceof HTMLElement && menu.opener !== document.body && menu.opener.isConnected) {
			menu.opener.focus({ preventScroll: true });
		} else list.current?.focusCursor();
		setMenu(undefined);
	}

	function obey(command: ListCommand) {
		if (command === 'goUp') return place.goUp(viewer);
		const index = rows && cursorIndex(selection.cursor, rows);
		const cursorEntry = rows && index !== undefined && selection.cursor ? entryAt(rows, index) : undefined;
		if (command === 'menu') {
			const at = list.current?.menuPoint() ?? { x: 0, y: 0 };
			if (selected.length === 0) return openMenu(at, cursorEntry ? index : undefined);
			return setMenu({ at, entries: selected, opener: document.activeElement });
		}
		perform(command, selected.length > 0 ? selected : cursorEntry ? [cursorEntry] : []);
	}

	function show(entry: Entry | undefined): boolean {
		if (!entry) return false;
		const key = keyOf(entry);
		folder.reveal(key);
		select({ type: 'only', at: { key, index: 0 } });
		return true;
	}

	const menuPlace = { viewer, area, directory, isSearch: search !== '', shown: rows?.entries.length ?? 0, clipboard };
	return (
		<div className={styles.page}>
			<Toolbar
				area={area}
				isSignedIn={isSignedIn}
				directory={directory}
				search={search}
				letter={folder.letter}
				results={rows?.entries.length}
				selected={selected.length}
				isMenuOpen={menu !== undefined}
				hrefOf={place.hrefOf}
				onArea={(chosen) => place.go(rootPath, chosen)}
				onSearch={place.search}
				hasList={!error}
				onHome={place.goHome}
				onSettings={frame.openSettings}
				onClearSelection={() => {
					select({ type: 'cleared' });
					list.current?.focusCursor();
				}}
				onActions={(button) => {
					const box = button.getBoundingClientRect();
					setMenu({ at: { x: box.left, y: box.bottom + 4 }, entries: selected, opener: button });
				}}
				onLetter={(letter) => {
					folder.filter(letter);
					list.current?.scrollToTop();
				}}
			/>
			<ConnectionNote isCutOff={listing.isCutOff} />
			{listing.isTruncated && <p className={styles.note}>{messages.truncated}</p>}
			<div className={styles.list}>
				{error ? (
					<LoadError error={error} onRetry={listing.refresh} onHome={place.goHome} />
				) : (
					<FileList
						ref={list}
						folderKey={folder.key}
						rows={rows}
						sort={sort}
						onSort={(column) => {
							place.sort(column);
							list.current?.scrollToTop();
						}}
						selection={selection}
						dispatch={select}
						cutKeys={cutKeys}
						showsFolder={search !== ''}
						mayDrag={(entry) => !isCoarse && refuseCut(viewer, itemOf(area, entry)) === undefined}
						scrollTop={folder.scrollTop}
						onScroll={folder.onScroll}
						revealed={folder.revealed}
						onRevealed={folder.onRevealed}
						onOpen={open}
						onMenu={openMenu}
						onCommand={obey}
						onDragStart={(event, entry) => {
							drag.start(event, selection.selected.has(keyOf(entry)) ? selected : [entry]);
						}}
						onDragEnd={drag.end}
					/>
				)}
				{rows?.entries.length === 0 && !error && (
					<div className={styles.empty}>
						<EmptyList
							search={search}
							letter={folder.letter}
							mayUpload={refuseUpload(viewer, { area, path: directory }) === undefined}
							onShowAll={() => folder.filter('ALL')}
						/>
					</div>
				)}
				{isOverPage && (
					<div className={styles.dropArea}>
						<span className={styles.dropLabel}>{messages.dropHere(folderName(area, directory))}</span>
					</div>
				)}
			</div>
			{menu && (
				<ContextMenu
					label={menuLabel(menu.entries, area, directory)}
					kind={menuKind(menu.entries)}
					groups={menuFor(menuPlace, menu.entries)}
					at={menu.at}
					onClose={closeMenu}
					onChoose={(action: Action) => {
						closeMenu();
						perform(action, menu.entries);
					}}
				/>
			)}
			<DialogHost
				dialog={dialog}
				onClose={() => setDialog(undefined)}
				onClosed={() => list.current?.takeFocus()}
				onCreateFolder={async (name) => show(await operations.createFolder(name))}
				onRename={async (entry, newName) => show(await operations.rename(entry, newName))}
				onDelete={operations.remove}
				onMove={operations.move}
				onDownload={operations.download}
			/>
			<UploadQueueDialog />
			<input
				ref={picker}
				type="file"
				multiple
				hidden
				onChange={(event) => {
					addFiles([...(event.currentTarget.files ?? [])], [], directory);
					// Choosing the same file again is a change too.
					event.currentTarget.value = '';
				}}
			/>
		</div>
	);
}

/** A finger that rests on a name would begin to drag it, where it means the menu. */
const isCoarse = window.matchMedia('(pointer: coarse)').matches;

/** Where one can go from here. */
function usePlaces(location: BrowserLocation) {
	const navigate = useNavigate();
	const isReturn = useIsReturn();
	const { state } = useLocation();
	const start: unknown = state?.start;
	return {
		entry: { isReturn, start: typeof start === 'string' ? start : undefined },
		hrefOf: (directory: StoragePath) => hrefOf(placeIn(location, directory)),
		go: (directory: StoragePath, area?: Area) => void navigate(hrefOf(placeIn(location, directory, area))),
		goHome: () => void navigate(homeHref(location)),
		search: (term: string) => {
			if (term !== location.search) void navigate(hrefOf({ ...location, search: term }));
		},
		sort: (column: SortColumn) =>
			void navigate(hrefOf({ ...location, sort: toggleSort(location.sort, column) }), { replace: true, state }),
		/** Begins above at the folder that one comes from. */
		goUp: (viewer: Viewer) => {
			const { area, directory } = location;
			if (directory === rootPath) return;
			const from = {
				path: directory,
				owner: area === 'public' && viewer.kind === 'user' ? viewer.username : undefined,
			};
			void navigate(hrefOf(placeIn(location, parentPath(directory))), { state: { start: keyOf(from) } });
		},
	};
}

/** Puts files into the upload queue, to go into a folder, and shows it. */
function useUploads(viewer: Viewer, { area }: BrowserLocation) {
	const queue = useUploadQueue();
	const { notify } = useNotify();
	return (files: readonly File[], folders: readonly string[], directory: StoragePath) => {
		const refusal =
			folders.length > 0
				? refuseCreateFolder(viewer, { area, path: directory })
				: refuseUpload(viewer, { area, path: directory });
		if (refusal) return void notify({ intent: 'danger', message: refusal.message });
		if (folders.length > 0) notify({ intent: 'warning', message: appMessages.foldersLeftOut(folders.join(', ')) });
		if (files.length === 0) return;
		queue.add(files, { area, directory });
		queue.openDialog();
	};
}

/** Says that what is on screen may be out of date. */
function ConnectionNote({ isCutOff }: { isCutOff: boolean }) {
	const isOnline = useIsOnline();
	const text = isOnline ? (isCutOff ? messages.unreachable : undefined) : messages.offline;
	return (
		// The region is there before its text, or it would not be read out.
		<div role="status">
			{text !== undefined && (
				<p className={styles.note}>
					<OfflineIcon aria-hidden />
					{text}
				</p>
			)}
		</div>
	);
}

function keysToMove(clipboard: Clipboard | undefined, area: Area): ReadonlySet<RowKey> {
	if (clipboard?.operation !== 'cut' || clipboard.sourceArea !== area) return nothing;
	return new Set(clipboard.items.map(keyOf));
}

const nothing: ReadonlySet<RowKey> = new Set();

function folderName(area: Area, directory: StoragePath): string {
	if (directory !== rootPath) return baseName(directory);
	return area === 'private' ? appMessages.privateFiles : appMessages.publicFiles;
}

function menuLabel(entries: readonly Entry[], area: Area, directory: StoragePath): string {
	return entries.length === 0 ? folderName(area, directory) : nameItems(entries);
}
